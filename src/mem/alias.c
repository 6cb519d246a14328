/* SPDX-License-Identifier: MIT */
/* The probe: pairs of addresses of the zero page, which bits between them cost, which pairs cancel.
 */
#include "mem/alias.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "host/clock.h"
#include "mem/chase_loops.h"

enum { WINDOW_SHIFT = ALIAS_LAST_BIT + 1, LIST = 256, REPEATS = 7, ROUNDS = 16 };

/* Time per load when the zero page is read through two addresses in turn. */
static double two_addresses_ns(const char *window, uint64_t flip)
{
	uintptr_t list[LIST];
	int64_t best = INT64_MAX;

	for (size_t i = 0; i < LIST; i++)
		list[i] = (uintptr_t)window ^ (i % 2 ? flip : 0);
	chase_list(list, LIST, 2);
	for (int i = 0; i < REPEATS; i++) {
		int64_t start = clock_now_ns();

		chase_list(list, LIST, ROUNDS);
		int64_t took = clock_now_ns() - start;

		if (took < best)
			best = took;
	}
	return (double)best / (LIST * ROUNDS);
}

static void classify(const char *window, unsigned first, struct alias_hash *h)
{
	bool aliases[ALIAS_LAST_BIT + 1] = { false }, paired[ALIAS_LAST_BIT + 1] = { false };
	double limit;

	h->plain_ns = two_addresses_ns(window, 0);
	limit = 2 * h->plain_ns;
	for (unsigned b = first; b <= ALIAS_LAST_BIT; b++) {
		double ns = two_addresses_ns(window, UINT64_C(1) << b);

		aliases[b] = ns > limit;
		if (aliases[b] && (h->alias_ns == 0 || ns < h->alias_ns))
			h->alias_ns = ns;
	}
	for (unsigned b = first; b <= ALIAS_LAST_BIT; b++) {
		uint64_t flip = UINT64_C(1) << b;

		if (paired[b])
			continue;
		for (unsigned c = b + 1; aliases[b] && !paired[b] && c <= ALIAS_LAST_BIT; c++) {
			if (!aliases[c] || paired[c] ||
			    two_addresses_ns(window, flip | UINT64_C(1) << c) > limit)
				continue;
			paired[b] = paired[c] = true;
			flip |= UINT64_C(1) << c;
			h->n_pairs++;
		}
		if (aliases[b] && !paired[b])
			h->n_single++;
		else
			h->free[h->n_free++] = flip;
	}
}

int alias_probe(unsigned page_shift, struct alias_hash *ret, struct err *e)
{
	const size_t window = (size_t)1 << WINDOW_SHIFT;
	struct alias_hash h;
	char *map, *base;

	map = mmap(NULL, 2 * window, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return err_set(e, errno, "mapping %zu bytes of address space: %s", 2 * window,
			       strerror(errno));
	madvise(map, 2 * window, MADV_NOHUGEPAGE);
	base = (char *)(((uintptr_t)map + window - 1) & ~(uintptr_t)(window - 1));
	memset(&h, 0, sizeof(h));
	classify(base, page_shift > ALIAS_FIRST_BIT ? page_shift : ALIAS_FIRST_BIT, &h);
	munmap(map, 2 * window);
	*ret = h;
	return 0;
}

uint64_t alias_offset(const struct alias_hash *h, uint64_t i)
{
	uint64_t offset = 0;

	for (unsigned k = 0; k < h->n_free; k++)
		if (i >> k & 1)
			offset ^= h->free[k];
	return offset | (i >> h->n_free) << WINDOW_SHIFT;
}
