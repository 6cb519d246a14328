// SPDX-License-Identifier: MIT
/* Which block and row a system call belongs to, and their order. See call_table.h. */
#include "report/call_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/render.h"

static const char FAMILY[] = "syscall.";

/* The published order; others follow by the alphabet. */
static const char *const order[] = { "null", "forkexit",     "openclose", "pid",
				     "time", "gettimeofday", "fault" };

bool call_table_is_call(const char *bench)
{
	return bench && strncmp(bench, FAMILY, sizeof(FAMILY) - 1) == 0;
}

static bool listed(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

int call_row_make(struct arena *a, const struct bench_schema *s, const char *bench,
		  const struct attrs *where, const char *const *skip, struct call_row *ret)
{
	const char *via = attrs_text(where, "via", NULL);
	struct str block = { 0 };

	str_add(&block, attrs_text(where, "cache", ""));
	ret->node = NULL;
	for (size_t i = 0; i < where->n; i++) {
		const struct attr *at = &where->v[i];

		if (strcmp(at->name, "node") == 0 && at->kind == ATTR_TEXT && !listed(skip, "node"))
			ret->node = at->text;
		if (strcmp(at->name, "cache") == 0 || strcmp(at->name, "via") == 0 ||
		    strcmp(at->name, "node") == 0 || listed(skip, at->name))
			continue;
		str_addf(&block, "%s%s=", block.len ? ", " : "", at->name);
		render_param(&block, s, at);
	}
	bench += sizeof(FAMILY) - 1;
	ret->block = block.failed ? NULL : arena_strdup(a, str_text(&block));
	ret->test = via ? arena_printf(a, "%s (%s)", bench, via) : arena_strdup(a, bench);
	str_done(&block);
	return ret->block && ret->test ? 0 : -ENOMEM;
}

static size_t place(const char *test)
{
	size_t n = strcspn(test, " "), i = 0;

	while (i < sizeof(order) / sizeof(order[0]) &&
	       (strlen(order[i]) != n || strncmp(order[i], test, n) != 0))
		i++;
	return i;
}

static int by_block(const void *x, const void *y)
{
	const struct call_row *a = x, *b = y;
	size_t pa = place(a->test), pb = place(b->test);
	int words = strcmp(a->block, b->block); /* "cold" before "hot" */

	if (words)
		return words;
	if (pa != pb)
		return pa < pb ? -1 : 1;
	words = strcmp(a->test, b->test);
	if (!words && a->node && b->node)
		words = strverscmp(a->node, b->node);
	return words ? words : (a->from > b->from) - (a->from < b->from);
}

void call_rows_sort(struct call_row *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), by_block);
}

size_t call_rows_block_end(const struct call_row *v, size_t n, size_t from)
{
	size_t end = from;

	while (end < n && strcmp(v[end].block, v[from].block) == 0)
		end++;
	return end;
}

void call_us(struct str *out, double ns)
{
	if (isnan(ns))
		str_add(out, "-");
	else
		str_addf(out, fabs(ns) < 10 ? "%.4f" : "%.3f", ns / 1000);
}

void call_us_short(struct str *out, double ns)
{
	double us = ns / 1000, size = fabs(us);

	if (isnan(ns))
		str_add(out, "-");
	else
		str_addf(out, "%.*f", size < 0.01 ? 4 : size < 10 ? 3 : size < 100 ? 2 : 1, us);
}
