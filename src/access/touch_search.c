/* SPDX-License-Identifier: MIT */
/* The historical search for the dearest working set. touch_search.h has the algorithm. */
#include "access/touch_search.h"

enum {
	SCOPE = 2,
	LEAST_BYTES = 64 << 10,
	ASSUMED_CACHE_BYTES = 5 << 20,
	PERCENT_BEYOND = 130, /* of the size of the maximum */
	PERCENT_FALLEN = 130, /* the maximum, of the cost */
};

static uint64_t at_least(uint64_t bytes)
{
	return bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
}

uint64_t touch_search_first(uint64_t cache_bytes)
{
	return at_least(cache_bytes / SCOPE);
}

uint64_t touch_search_last(uint64_t cache_bytes)
{
	return cache_bytes ? at_least(cache_bytes * SCOPE) : ASSUMED_CACHE_BYTES * SCOPE;
}

void touch_search_begin(struct touch_search *s, uint64_t cache_bytes)
{
	*s = (struct touch_search){
		.size = touch_search_first(cache_bytes),
		.max_bytes = touch_search_last(cache_bytes),
	};
}

/* The costs have fallen far enough below the maximum, far enough behind it. */
static bool is_past(const struct touch_search *s)
{
	int64_t now = s->cost_ns + s->fluctuation_ns;

	if (!s->found_bytes || s->size * 100 <= s->found_bytes * PERCENT_BEYOND)
		return false;
	return now <= 0 || s->max_cost_ns * 100 > now * PERCENT_FALLEN;
}

void touch_search_tell(struct touch_search *s, int64_t cost_ns)
{
	int64_t change = cost_ns > s->cost_ns ? cost_ns - s->cost_ns : s->cost_ns - cost_ns;

	if (s->ended)
		return;
	s->steps++;
	s->cost_ns = cost_ns;
	if (cost_ns > 0 && cost_ns > s->max_cost_ns) {
		s->max_cost_ns = cost_ns;
		s->found_bytes = s->size;
	}
	s->fluctuation_ns = (s->fluctuation_ns + change) / 2;
	s->early = is_past(s);
	if (!s->early)
		s->size = s->size * 10 / 9;
	s->ended = s->early || s->size > s->max_bytes;
}

int64_t touch_search_result_ns(const struct touch_search *s, unsigned factor_percent)
{
	return 2 * s->max_cost_ns * (int64_t)factor_percent / 100;
}
