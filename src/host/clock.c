/* SPDX-License-Identifier: MIT */
/* Clock readings and their quality. */
#include "host/clock.h"

#include <math.h>
#include <stdbool.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_unix_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

void clock_measure(struct clock_quality *ret)
{
	enum { ROUNDS = 20, READINGS = 500 };
	int64_t best = INT64_MAX, step = INT64_MAX;

	for (int r = 0; r < ROUNDS; r++) {
		int64_t start = clock_now_ns(), last = start, now = start;

		for (int i = 0; i < READINGS; i++) {
			now = clock_now_ns();
			if (now > last && now - last < step)
				step = now - last;
			last = now;
		}
		if (now - start < best)
			best = now - start;
	}
	ret->cost_ns = (double)best / READINGS;
	ret->resolution_ns = step == INT64_MAX ? 0 : (double)step;
}

double clock_step_ns(void)
{
	enum { STEPS = 5, ALL_MOVED = 100, READINGS = 1000000 };
	int64_t last = clock_now_ns(), least = INT64_MAX;
	int steps = 0, moved = 0;
	bool still = false;

	for (int i = 0; i < READINGS && steps < STEPS && moved < ALL_MOVED; i++) {
		int64_t now = clock_now_ns();

		if (now == last) {
			still = true;
			continue;
		}
		moved = still ? 0 : moved + 1;
		/* The first may begin anywhere within a step. */
		if (still && steps++ && now - last < least)
			least = now - last;
		still = false;
		last = now;
	}
	if (moved >= ALL_MOVED)
		return 0;
	return least == INT64_MAX ? INFINITY : (double)least;
}

double clock_add_ns(uint64_t (*adds)(uint64_t), uint64_t count)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < 3; i++) {
		int64_t start = clock_now_ns();

		adds(count);
		int64_t took = clock_now_ns() - start;

		if (took < best)
			best = took;
	}
	return (double)best / (double)count;
}
