/* SPDX-License-Identifier: MIT */
/* The node of the kernel's text: rows of /proc/iomem, and machines with one node and with several.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "data/tree.h"
#include "host/kernel_home.h"

static void rows(void **state)
{
	static const struct {
		const char *iomem;
		int rc;
		uint64_t first, last;
	} cases[] = {
		{ "00001000-0009fbff : System RAM\n"
		  "00100000-bffd9fff : System RAM\n"
		  "  01000000-01e01fb7 : Kernel code\n"
		  "  02000000-02859fff : Kernel rodata\n",
		  0, 0x1000000, 0x1e01fb7 },
		/* far above 4 GiB, last line without its end */
		{ "100000000-63fffffff : System RAM\n  5d8000000-5d9001fff : Kernel code", 0,
		  0x5d8000000, 0x5d9001fff },
		/* what is hidden is zeros */
		{ "00000000-00000000 : System RAM\n  00000000-00000000 : Kernel code\n", -EACCES, 0,
		  0 },
		{ "00100000-bffd9fff : System RAM\n", -ENODATA, 0, 0 },
		{ "", -ENODATA, 0, 0 },
		{ "  01000000-01e01fb7 : Kernel code segment\n", -ENODATA, 0, 0 },
		{ "  01000000-01e01fb7 :Kernel code\n", -ENODATA, 0, 0 },
		{ "  0100000g-01e01fb7 : Kernel code\n", -ENODATA, 0, 0 },
		{ "  12345678123456789-1 : Kernel code\n", -ENODATA, 0, 0 },
		{ "  02000000-01e01fb7 : Kernel code\n", -EINVAL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t first = 0, last = 0;

		assert_int_equal(kernel_home_parse(cases[i].iomem, &first, &last), cases[i].rc);
		assert_int_equal(first, cases[i].first);
		assert_int_equal(last, cases[i].last);
	}
}

/* Reads the machine of @text; the code of the error, with its message in @msg. */
static int read_tree(const char *text, struct kernel_home *ret, char msg[512])
{
	char dir[] = "/tmp/kernel-home-XXXXXX";
	struct err e = { 0 };
	struct sysroot sr;
	int rc;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(tree_unpack_text("text", text, dir, msg, 512), 0);
	assert_int_equal(sysroot_init(&sr, dir, &e), 0);
	rc = kernel_home_read(&sr, ret, &e);
	snprintf(msg, 512, "%s", e.msg);
	tree_remove(dir);
	return rc;
}

#define TWO_NODES                                    \
	"-- sys/devices/system/node/node0\n"         \
	"-- sys/devices/system/node/node0/memory0\n" \
	"-- sys/devices/system/node/node0/memory1\n" \
	"-- sys/devices/system/node/node3/memory2\n" \
	"-- sys/devices/system/node/node3/memory3\n"

static void the_only_node_needs_no_rights(void **state)
{
	struct kernel_home h = { .node = -1 };
	char msg[512];

	(void)state;
	assert_int_equal(read_tree("-- sys/devices/system/node/node2\n", &h, msg), 0);
	assert_int_equal(h.node, 2);
	/* a kernel without NUMA */
	assert_int_equal(read_tree("= proc/version | Linux\n", &h, msg), 0);
	assert_int_equal(h.node, 0);
}

static void memory_blocks_name_the_node(void **state)
{
	struct kernel_home h = { .node = -1 };
	char msg[512];

	(void)state;
	assert_int_equal(read_tree(TWO_NODES
				   "= sys/devices/system/memory/block_size_bytes | 8000000\n"
				   "== proc/iomem\n"
				   "00100000-1fffffff : System RAM\n"
				   "  01000000-01e01fb7 : Kernel code\n",
				   &h, msg),
			 0);
	assert_int_equal(h.node, 0);
	assert_int_equal(read_tree(TWO_NODES
				   "= sys/devices/system/memory/block_size_bytes | 8000000\n"
				   "== proc/iomem\n"
				   "00100000-1fffffff : System RAM\n"
				   "  1b000000-1be01fb7 : Kernel code\n",
				   &h, msg),
			 0);
	assert_int_equal(h.node, 3);
	assert_string_equal(h.source, "/proc/iomem and memory blocks");
}

static void what_is_missing_is_said(void **state)
{
	static const struct {
		const char *tree;
		int rc;
		const char *says;
	} cases[] = {
		{ TWO_NODES "== proc/iomem\n00000000-00000000 : System RAM\n"
			    "  00000000-00000000 : Kernel code\n",
		  -EACCES, "needs root" },
		{ TWO_NODES, -ENOENT, "proc/iomem" },
		{ TWO_NODES "== proc/iomem\n  01000000-01e01fb7 : Kernel code\n", -ENODATA,
		  "no memory blocks" },
		{ TWO_NODES "= sys/devices/system/memory/block_size_bytes | 0\n"
			    "== proc/iomem\n  01000000-01e01fb7 : Kernel code\n",
		  -ENODATA, "no memory blocks" },
		{ TWO_NODES "= sys/devices/system/memory/block_size_bytes | 8000000\n"
			    "== proc/iomem\n  81000000-81e01fb7 : Kernel code\n",
		  -ENODATA, "no node has memory block 16" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel_home h = { .node = -7 };
		char msg[512];

		assert_int_equal(read_tree(cases[i].tree, &h, msg), cases[i].rc);
		if (!strstr(msg, cases[i].says))
			fail_msg("row %zu: %s", i, msg);
		assert_int_equal(h.node, -7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(the_only_node_needs_no_rights),
		cmocka_unit_test(memory_blocks_name_the_node),
		cmocka_unit_test(what_is_missing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
