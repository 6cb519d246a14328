/* SPDX-License-Identifier: MIT */
/* Looking a benchmark up by its exact name; apart from the table, which tests replace by their own.
 */
#include <string.h>

#include "bench/bench.h"

const struct bench *bench_find(const char *name)
{
	for (size_t i = 0; bench_table[i]; i++)
		if (strcmp(bench_table[i]->schema.name, name) == 0)
			return bench_table[i];
	return NULL;
}
