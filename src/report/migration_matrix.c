// SPDX-License-Identifier: MIT
/*
 * The historical forms alone. Sources: kernel/sched.c of Linux 2.6.18 (the line), its -mm version
 * of June 2005 (the matrix).
 */
#include "report/migration_matrix.h"

#include <math.h>

enum { COLUMNS = 8, CELL = 8 };

static void head(struct str *out, uint32_t cpu)
{
	if (cpu < 100)
		str_addf(out, "    [%02u]", cpu);
	else if (cpu < 1000)
		str_addf(out, "   [%u]", cpu);
	else
		str_addf(out, "  [%u]", cpu);
}

static void cell(struct str *out, const struct migration_matrix *m, size_t row, size_t column)
{
	double ns = m->cost_ns[row * m->n + column];
	long tenths;

	if (row == column) {
		str_add(out, "    -   ");
		return;
	}
	if (isnan(ns)) {
		str_addf(out, "%*s", CELL, "");
		return;
	}
	/* truncated, as the kernel's division did */
	tenths = ns > 0 ? (long)(ns / 1e5) : 0;
	str_addf(out, " %2ld.%ld(%d)", tenths / 10, tenths % 10, m->distance[row * m->n + column]);
}

void migration_matrix_render(struct str *out, const struct migration_matrix *m)
{
	for (size_t first = 0; first < m->n; first += COLUMNS) {
		size_t end = first + COLUMNS < m->n ? first + COLUMNS : m->n;

		str_addf(out, "%s%*s", first ? "\n" : "", CELL, "");
		for (size_t c = first; c < end; c++)
			head(out, m->cpus[c]);
		str_add(out, "\n");
		for (size_t r = 0; r < m->n; r++) {
			size_t start = out->len;

			str_addf(out, "[%02u]: ", m->cpus[r]);
			str_pad(out, start, CELL);
			for (size_t c = first; c < end; c++)
				cell(out, m, r, c);
			while (out->len && out->data && out->data[out->len - 1] == ' ')
				out->data[--out->len] = '\0';
			str_add(out, "\n");
		}
	}
}

void migration_line_render(struct str *out, const double *cost_ns, size_t n)
{
	str_add(out, "migration_cost=");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%ld", i ? "," : "",
			 cost_ns[i] > 0 ? (long)(cost_ns[i] / 1000) : 0);
	str_add(out, "\n");
}
