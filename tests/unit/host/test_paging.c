/* SPDX-License-Identifier: MIT */
/* paging.c: kernels of every kind, as far as their answers to mmap() go. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/paging.h"
#include "tree_test.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A kernel that gives addresses below 2^bits, and ignores every other hint. */
struct kernel {
	unsigned bits;
	uint64_t occupied; /* hints below this are ignored too */
	int error;
	unsigned calls;
};

static int answer(void *user, uint64_t hint, uint64_t *ret_address)
{
	struct kernel *k = user;

	k->calls++;
	if (k->error)
		return -k->error;
	*ret_address =
		hint < UINT64_C(1) << k->bits && hint >= k->occupied ? hint : UINT64_C(0x10000000);
	return 0;
}

static void test_kernels(void **state)
{
	static const struct {
		const char *arch;
		uint64_t page;
		unsigned bits, levels;
	} rows[] = {
		{ "x86_64", 4096, 47, 4 },
		{ "x86_64", 4096, 56, 5 },
		{ "aarch64", 4096, 39, 3 },
		{ "aarch64", 4096, 48, 4 },
		{ "aarch64", 4096, 52, 5 },
		{ "aarch64", 16384, 36, 2 },
		{ "aarch64", 16384, 47, 3 },
		{ "aarch64", 16384, 48, 4 },
		{ "aarch64", 16384, 52, 4 },
		{ "aarch64", 65536, 42, 2 },
		{ "aarch64", 65536, 48, 3 },
		{ "aarch64", 65536, 52, 3 },
		{ "riscv64", 4096, 38, 3 },
		{ "riscv64", 4096, 47, 4 },
		{ "riscv64", 4096, 56, 5 },
		/* none, and no guess from what is nearest */
		{ "x86_64", 4096, 32, 0 },
		{ "x86_64", 65536, 47, 0 },
		{ "i686", 4096, 32, 0 },
		{ "ppc64le", 65536, 52, 0 },
		{ "s390x", 4096, 53, 0 },
		{ "", 4096, 47, 0 },
		{ "aarch64", 8192, 48, 0 },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct kernel k = { .bits = rows[i].bits };
		struct paging p;

		paging_probe(rows[i].arch, rows[i].page, answer, &k, &p);
		if (p.levels != rows[i].levels)
			fail_msg("%s with %ju: %u levels, not %u", rows[i].arch,
				 (uintmax_t)rows[i].page, p.levels, rows[i].levels);
		assert_int_equal(p.address_bits, rows[i].levels ? rows[i].bits : 0);
		assert_int_equal(p.reason[0] == '\0', rows[i].levels != 0);
	}
}

/* Something is mapped where the first hint points: the next one tells. */
static void test_occupied(void **state)
{
	struct kernel k = { .bits = 56, .occupied = (UINT64_C(1) << 55) + 1 };
	struct paging p;

	(void)state;
	paging_probe("x86_64", 4096, answer, &k, &p);
	assert_int_equal(p.levels, 5);
	assert_int_equal(k.calls, 2);
}

static void test_refused_mmap(void **state)
{
	struct kernel k = { .error = ENOMEM };
	struct paging p;

	(void)state;
	paging_probe("x86_64", 4096, answer, &k, &p);
	assert_int_equal(p.levels, 0);
	assert_non_null(strstr(p.reason, strerror(ENOMEM)));
	assert_int_equal(k.calls, 1);
}

static void test_live(void **state)
{
	struct tree_test t = { 0 };

	(void)state;
	assert_int_equal(sysroot_init(&t.sr, NULL, NULL), 0);
	assert_int_equal(machine_read(&t.sr, &t.m, NULL), 0);
	t.has_machine = true;
	/* Never both, never neither. */
	assert_int_equal(t.m.paging_levels == 0, t.m.paging_reason[0] != '\0');
#if defined(__x86_64__) && !defined(__ILP32__)
	char reason[96];
	unsigned could = paging_cpu_levels(&t.sr, t.m.arch, reason, sizeof(reason));

	assert_in_range(t.m.paging_levels, 4, 5);
	assert_in_range(could, t.m.paging_levels, 5);
	/* The stack lies at the upper end of the common width. */
	assert_true((uintptr_t)&t >> 46 == 1);
#endif
	tree_close(&t);
}

static void test_cpu_levels(void **state)
{
	struct tree_test t;
	char reason[96];

	(void)state;
	tree_machine(&t, "plain");
	/* The flag's absence says nothing: no5lvl takes it away. */
	assert_int_equal(paging_cpu_levels(&t.sr, "x86_64", reason, sizeof(reason)), 0);
	assert_non_null(strstr(reason, "no5lvl"));
	tree_write(&t, "proc/cpuinfo", "flags\t\t: fpu lm la57 hypervisor\n");
	assert_int_equal(paging_cpu_levels(&t.sr, "x86_64", reason, sizeof(reason)), 5);
	assert_string_equal(reason, "");
	tree_write(&t, "proc/cpuinfo", "flags\t\t: fpu lm la570 xla57\n");
	assert_int_equal(paging_cpu_levels(&t.sr, "x86_64", reason, sizeof(reason)), 0);
	assert_int_equal(paging_cpu_levels(&t.sr, "aarch64", reason, sizeof(reason)), 0);
	assert_non_null(strstr(reason, "architecture"));
	tree_close(&t);
}

static void test_boot_words(void **state)
{
	static const struct {
		const char *line, *words;
	} rows[] = {
		{ "root=/dev/sda1 no5lvl quiet\n", "no5lvl" },
		{ "no4lvl  no5lvl", "no4lvl no5lvl" },
		{ "arm64.nolva", "arm64.nolva" },
		{ "quiet\n", "none" },
		{ "no5lvl=1 xno5lvl no5lvlx\n", "none" },
		{ "quiet -- no5lvl\n", "none" }, /* for init */
		{ "", "none" },
	};
	struct tree_test t;
	char words[64];

	(void)state;
	tree_machine(&t, "plain");
	for (size_t i = 0; i < LENGTH(rows); i++) {
		tree_write(&t, "proc/cmdline", rows[i].line);
		assert_int_equal(paging_boot_words(&t.sr, words, sizeof(words)), 0);
		assert_string_equal(words, rows[i].words);
	}
	tree_close(&t);
	tree_machine(&t, "no-numa");
	if (!sysroot_exists(&t.sr, "proc/cmdline"))
		assert_int_equal(paging_boot_words(&t.sr, words, sizeof(words)), -ENOENT);
	tree_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),      cmocka_unit_test(test_occupied),
		cmocka_unit_test(test_refused_mmap), cmocka_unit_test(test_live),
		cmocka_unit_test(test_cpu_levels),   cmocka_unit_test(test_boot_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
