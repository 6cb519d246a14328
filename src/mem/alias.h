/* SPDX-License-Identifier: MIT */
/*
 * Address bits that a first-level data cache mixes into its way prediction. AMD's L1D tags each
 * line with a hash of the *virtual* address (the "utag"); one physical line seen through two
 * addresses with different hashes costs a misprediction each time (Lipp et al., "Take A Way",
 * AsiaCCS 2020). A zero page read through many addresses is exactly that, so a chase that wants to
 * see translation alone must use addresses of equal hash. The hash is found by probing, not
 * assumed; where nothing is found every address will do.
 */
#ifndef PAGETOLL_MEM_ALIAS_H
#define PAGETOLL_MEM_ALIAS_H

#include <stdint.h>

#include "base/err.h"

enum { ALIAS_FIRST_BIT = 12, ALIAS_LAST_BIT = 27 };

struct alias_hash {
	/*
	 * free[k]: what to flip to change one free address bit without changing the hash: that bit,
	 * and the partner that cancels it. Ascending by the lower bit; n_free of them.
	 */
	uint64_t free[ALIAS_LAST_BIT - ALIAS_FIRST_BIT + 1];
	unsigned n_free;
	unsigned n_pairs;  /* bits that cancel each other; 0: no aliasing found */
	unsigned n_single; /* bits that alias and have no partner: never flipped */
	double plain_ns,
		alias_ns; /* per load: same address, and two addresses of unequal hash (0: none) */
};

/* Takes some 10 ms. Never fails for what the CPU does; -ENOMEM if no window can be mapped. */
int alias_probe(unsigned page_shift, struct alias_hash *ret, struct err *e);

/* Byte offset of the @i-th page-aligned address of equal hash (offsets are distinct, 0 for i = 0).
 */
uint64_t alias_offset(const struct alias_hash *h, uint64_t i);

#endif
