/* SPDX-License-Identifier: MIT */
/* Sizes follow the machine, every kind can be mapped and run, and the probe keeps its order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arch_code.h"
#include "mem/chase_loops.h"
#include "mem/evict.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static const struct evict_sizes small = { .data_bytes = 2 * MIB,
					  .code_bytes = 1 * MIB,
					  .tlb_pages = 512 };

static void sizes_cover_all_caches_twice(void **state)
{
	static uint32_t cpu0 = 0;
	struct cache caches[] = {
		{ .level = 1, .size_bytes = 32 * KIB, .cpus = { &cpu0, 1 } },
		{ .level = 2, .size_bytes = 512 * KIB, .cpus = { &cpu0, 1 } },
		{ .level = 3, .size_bytes = 32 * MIB, .cpus = { &cpu0, 1 } },
	};
	struct machine m = { .caches = caches, .n_caches = 3 };
	struct evict_sizes s;

	(void)state;
	evict_sizes_of(&m, 0, &s);
	assert_int_equal(s.llc_bytes, 32 * MIB);
	assert_int_equal(s.private_bytes, 544 * KIB);
	assert_int_equal(s.data_bytes, 2 * (32 * MIB + 544 * KIB));
	assert_int_equal(s.code_bytes, 8 * MIB);
	assert_true(s.tlb_pages >= 64);
	/* larger private caches need more code */
	caches[1].size_bytes = 4 * MIB;
	evict_sizes_of(&m, 0, &s);
	assert_true(s.code_bytes >= 4 * (4 * (uint64_t)MIB + 32 * KIB));
}

static void a_machine_that_tells_nothing_gets_guesses(void **state)
{
	struct machine m = { 0 };
	struct sysroot nowhere = { .dir = "/nonexistent-machine" };
	struct evict_sizes s, t;

	(void)state;
	evict_sizes_of(&m, 0, &s);
	assert_int_equal(s.llc_bytes, 0);
	assert_true(s.data_bytes >= 64 * (uint64_t)MIB);
	evict_sizes_read(&nowhere, 0, &t);
	assert_memory_equal(&s, &t, sizeof(s));
}

static void bytes_are_those_of_the_kinds(void **state)
{
	uint64_t probe = EVICT_PROBE_LINES * (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_int_equal(evict_bytes(&small, EVICT_TLB), probe);
	assert_int_equal(evict_bytes(&small, EVICT_DATA), probe + 2 * MIB);
	assert_int_equal(evict_bytes(&small, EVICT_DATA | EVICT_CODE), probe + 3 * MIB);
}

static void every_kind_runs(void **state)
{
	unsigned kinds = EVICT_DATA | EVICT_TLB | (arch_has_code() ? EVICT_CODE : 0);
	struct evict v = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(evict_map(&small, kinds, &v, &e), 0);
	for (int i = 0; i < 3; i++)
		evict_now(&v);
	assert_true(evict_probe_ns(&v) > 0);
	if (arch_has_flush())
		assert_true(evict_memory_ns(&v) > 0);
	else
		assert_true(isnan(evict_memory_ns(&v)));
	/* the probe's links are one cycle over all of its lines */
	for (unsigned n = 1; n < EVICT_PROBE_LINES; n++) {
		void *at = v.probe_first;

		for (unsigned i = 0; i < n; i++)
			at = *(void **)at;
		assert_ptr_not_equal(at, v.probe_first);
	}
	assert_ptr_equal(chase_links(v.probe_first, EVICT_PROBE_LINES), v.probe_first);
	evict_done(&v);
	assert_null(v.data);
	evict_done(&v);
}

static void kinds_that_were_not_mapped_do_nothing(void **state)
{
	struct evict v = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(evict_map(&small, EVICT_TLB, &v, &e), 0);
	assert_null(v.data);
	assert_null(v.code);
	evict_data(&v);
	evict_code(&v);
	evict_now(&v);
	evict_done(&v);
}

static void too_little_memory_is_told_with_the_size(void **state)
{
	struct evict_sizes s = { .data_bytes = UINT64_C(1) << 50, .tlb_pages = 16 };
	struct evict v = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(evict_map(&s, EVICT_DATA, &v, &e), -ENOMEM);
	assert_non_null(strstr(e.msg, "1 PiB"));
	assert_null(v.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_cover_all_caches_twice),
		cmocka_unit_test(a_machine_that_tells_nothing_gets_guesses),
		cmocka_unit_test(bytes_are_those_of_the_kinds),
		cmocka_unit_test(every_kind_runs),
		cmocka_unit_test(kinds_that_were_not_mapped_do_nothing),
		cmocka_unit_test(too_little_memory_is_told_with_the_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
