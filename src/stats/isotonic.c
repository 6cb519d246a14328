// SPDX-License-Identifier: MIT
/*
 * Isotonic regression by pooling adjacent violators, in one pass with a stack of blocks.
 * Leaves out: decreasing fits (negate y), other losses than least squares.
 * Source: R. E. Barlow, D. J. Bartholomew, J. M. Bremner, H. D. Brunk, "Statistical Inference
 * under Order Restrictions", 1972, chapter 1.
 */
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>

struct block {
	double mean, weight;
	size_t end; /* first index behind the block */
};

int stats_isotonic(const double *y, const double *w, size_t n, double *ret_fit)
{
	struct block *blocks;
	size_t n_blocks = 0;
	size_t i = 0;

	if (n == 0)
		return 0;
	blocks = calloc(n, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		struct block b = { .mean = y[k], .weight = w ? w[k] : 1, .end = k + 1 };

		while (n_blocks > 0 && blocks[n_blocks - 1].mean >= b.mean) {
			const struct block *prev = &blocks[--n_blocks];
			double sum = prev->weight + b.weight;

			if (sum > 0)
				b.mean = (prev->mean * prev->weight + b.mean * b.weight) / sum;
			b.weight = sum;
		}
		blocks[n_blocks++] = b;
	}
	for (size_t k = 0; k < n_blocks; k++) {
		for (; i < blocks[k].end; i++)
			ret_fit[i] = blocks[k].mean;
	}
	free(blocks);
	return 0;
}
