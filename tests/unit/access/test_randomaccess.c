/* SPDX-License-Identifier: MIT */
/* The RandomAccess stream against numbers that were found another way, and against itself. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "access/randomaccess.h"
#include "golden_randomaccess.h"

static void numbers_at_published_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
		if (randomaccess_start(golden[i].step) != golden[i].number)
			fail_msg("step %jd: %jx instead of %jx", (intmax_t)golden[i].step,
				 (uintmax_t)randomaccess_start(golden[i].step),
				 (uintmax_t)golden[i].number);
}

static void stepping_and_jumping_agree(void **state)
{
	uint64_t a = 1;

	(void)state;
	for (int64_t n = 0; n <= 1 << 20; n++) {
		if (n % 4099 == 0 || n == 1 << 20)
			assert_true(randomaccess_start(n) == a);
		a = randomaccess_next(a);
	}
}

static void the_stream_is_a_cycle(void **state)
{
	uint64_t a = randomaccess_start(-1);

	(void)state;
	assert_true(randomaccess_next(a) == 1);
	assert_true(randomaccess_start(RANDOMACCESS_PERIOD) == 1);
	assert_true(randomaccess_start(RANDOMACCESS_PERIOD - 1) == a);
	/* no shorter cycle: by the prime factors of the period */
	assert_true(INT64_C(7) * 73 * 127 * 337 * 92737 * 649657 == RANDOMACCESS_PERIOD);
	static const int64_t primes[] = { 7, 73, 127, 337, 92737, 649657 };
	for (size_t i = 0; i < sizeof(primes) / sizeof(primes[0]); i++)
		assert_true(randomaccess_start(RANDOMACCESS_PERIOD / primes[i]) != 1);
}

/* All streams together are the steps one after the other, none twice, none left out. */
static void streams_cover_every_step_once(void **state)
{
	enum { PART = 5 };
	const uint64_t updates = (uint64_t)PART * RANDOMACCESS_STREAMS, first = 12345;
	uint64_t ran[RANDOMACCESS_STREAMS], a = randomaccess_start((int64_t)first);

	(void)state;
	randomaccess_streams(ran, first, updates);
	for (size_t j = 0; j < RANDOMACCESS_STREAMS; j++) {
		assert_true(ran[j] == a);
		for (int k = 0; k < PART; k++)
			a = randomaccess_next(a);
	}
	assert_true(a == randomaccess_start((int64_t)(first + updates)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_at_published_steps),
		cmocka_unit_test(stepping_and_jumping_agree),
		cmocka_unit_test(the_stream_is_a_cycle),
		cmocka_unit_test(streams_cover_every_step_once),
	};

	return cmocka_run_group_tests_name("randomaccess", tests, NULL, NULL);
}
