// SPDX-License-Identifier: MIT
/*
 * Symbolising. A frame above the innermost is the address behind a call, which can be that of the
 * next function when the call never returns: callers are looked up one byte before it.
 * Source of the columns: readprofile(8) of util-linux: the load is ticks / length in bytes, that of
 * the total ticks / (end - start of the kernel's text).
 */
#include "profile/ticks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char UNKNOWN[] = "[unknown]";

/* Rows under way: one a function, or one a pair; in both cases few thousands. */
struct tally {
	const struct symbols *sy;
	uint64_t *ticks;    /* one a symbol, the last one for unknown places */
	const char **names; /* unique names, made when first needed */
	struct arena *a;
};

static size_t index_of(const struct symbols *sy, uint64_t address)
{
	const struct symbol *s = symbols_find(sy, address);

	return s ? (size_t)(s - sy->v) : sy->n;
}

static size_t frame_index(const struct symbols *sy, const uint64_t *frames, size_t i)
{
	return index_of(sy, i > 0 && frames[i] > 0 ? frames[i] - 1 : frames[i]);
}

static const char *name_of(struct tally *t, size_t index)
{
	if (index == t->sy->n)
		return UNKNOWN;
	if (!t->names[index])
		t->names[index] = symbols_unique_name(t->sy, &t->sy->v[index], t->a);
	return t->names[index];
}

static int tally_init(struct tally *t, const struct symbols *sy, struct arena *a)
{
	*t = (struct tally){ .sy = sy, .a = a };
	t->ticks = calloc(sy->n + 1, sizeof(*t->ticks));
	t->names = calloc(sy->n + 1, sizeof(*t->names));
	return t->ticks && t->names ? 0 : -ENOMEM;
}

static void tally_done(struct tally *t)
{
	free(t->ticks);
	free(t->names);
}

static double load_of(const struct symbols *sy, size_t index, uint64_t ticks)
{
	if (index == sy->n || !sy->v[index].has_size)
		return NAN;
	return (double)ticks / (double)(sy->v[index].end - sy->v[index].address);
}

static int compare_rows(const void *a, const void *b)
{
	const struct tick_row *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void set_total(struct tick_table *t, const struct symbols *sy, uint64_t total)
{
	t->total = total;
	t->total_load = sy->text_start && sy->text_end > sy->text_start
				? (double)total / (double)(sy->text_end - sy->text_start)
				: NAN;
}

int ticks_by_function(const struct stacks *st, const struct symbols *sy, struct arena *a,
		      struct tick_table *ret)
{
	struct tick_table table = { 0 };
	struct tally t;
	size_t rows = 0;
	int rc = tally_init(&t, sy, a);

	for (size_t i = 0; rc == 0 && i < st->cap; i++) {
		if (st->slots[i].ticks)
			t.ticks[frame_index(sy, st->frames + st->slots[i].at, 0)] +=
				st->slots[i].ticks;
	}
	for (size_t i = 0; rc == 0 && i <= sy->n; i++)
		rows += t.ticks[i] > 0;
	table.v = arena_alloc(a, (rows + 1) * sizeof(*table.v));
	if (!table.v)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i <= sy->n; i++) {
		struct tick_row *r = &table.v[table.n];

		if (!t.ticks[i])
			continue;
		*r = (struct tick_row){ .name = name_of(&t, i),
					.address = i < sy->n ? sy->v[i].address : 0,
					.ticks = t.ticks[i],
					.load = load_of(sy, i, t.ticks[i]) };
		rc = r->name ? 0 : -ENOMEM;
		table.n++;
	}
	tally_done(&t);
	if (rc)
		return rc;
	if (table.n)
		qsort(table.v, table.n, sizeof(*table.v), compare_rows);
	set_total(&table, sy, st->ticks);
	*ret = table;
	return 0;
}

/* --- pairs --- */

struct pair {
	size_t function, caller;
	uint64_t ticks;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

/* One for each pair, in order. */
static size_t merge_pairs(struct pair *v, size_t n)
{
	size_t k = 0;

	if (n)
		qsort(v, n, sizeof(*v), compare_pairs);
	for (size_t i = 0; i < n; i++) {
		if (k > 0 && compare_pairs(&v[k - 1], &v[i]) == 0)
			v[k - 1].ticks += v[i].ticks;
		else
			v[k++] = v[i];
	}
	return k;
}

static int pair_rows(struct tally *t, const struct pair *v, size_t n, struct tick_table *table)
{
	table->v = arena_alloc(t->a, (n + 1) * sizeof(*table->v));
	if (!table->v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *function = name_of(t, v[i].function), *caller = name_of(t, v[i].caller);
		struct tick_row *r = &table->v[table->n++];

		if (!function || !caller)
			return -ENOMEM;
		r->name = arena_printf(t->a, "%s < %s", function, caller);
		r->address = v[i].function < t->sy->n ? t->sy->v[v[i].function].address : 0;
		r->ticks = v[i].ticks;
		r->load = NAN;
		table->total += v[i].ticks;
		if (!r->name)
			return -ENOMEM;
	}
	if (table->n)
		qsort(table->v, table->n, sizeof(*table->v), compare_rows);
	return 0;
}

int ticks_by_caller(const struct stacks *st, const struct symbols *sy, struct arena *a,
		    struct tick_table *ret)
{
	struct tick_table table = { 0 };
	struct pair *v = calloc(st->n + 1, sizeof(*v));
	struct tally t;
	size_t n = 0;
	int rc = tally_init(&t, sy, a);

	if (!v)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < st->cap; i++) {
		const struct stack *s = &st->slots[i];

		if (!s->ticks || s->n < 2)
			continue;
		v[n++] = (struct pair){ .function = frame_index(sy, st->frames + s->at, 0),
					.caller = frame_index(sy, st->frames + s->at, 1),
					.ticks = s->ticks };
	}
	if (rc == 0)
		rc = pair_rows(&t, v, merge_pairs(v, n), &table);
	free(v);
	tally_done(&t);
	if (rc)
		return rc;
	set_total(&table, sy, table.total);
	*ret = table;
	return 0;
}

/* --- folded --- */

static void add_root(struct str *out, const char *root)
{
	const char *slash = strrchr(root, '/');

	for (const char *p = slash && slash[1] ? slash + 1 : root; *p; p++)
		str_add_n(out, *p <= ' ' || *p > '~' || *p == ';' ? "_" : p, 1);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int fold_stack(struct tally *t, const struct stacks *st, const struct stack *s,
		      const char *root, char **ret_line)
{
	struct str line = { 0 };

	add_root(&line, root);
	for (size_t k = s->n; k-- > 0;) {
		const char *name = name_of(t, frame_index(t->sy, st->frames + s->at, k));

		if (!name)
			line.failed = true;
		else
			str_addf(&line, ";%s", name);
	}
	if (line.failed) {
		str_done(&line);
		return -ENOMEM;
	}
	*ret_line = line.data;
	return 0;
}

struct folded {
	char *line; /* owned; first: compare_lines() reads it */
	uint64_t ticks;
};

/* Several addresses give the same names: one line for all of them. */
static void print_folded(struct str *out, struct folded *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), compare_lines);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && strcmp(v[i].line, v[i + 1].line) == 0)
			v[i + 1].ticks += v[i].ticks;
		else
			str_addf(out, "%s %llu\n", v[i].line, (unsigned long long)v[i].ticks);
	}
}

int ticks_folded(const struct stacks *st, const struct symbols *sy, const char *root,
		 struct str *out)
{
	struct folded *v = calloc(st->n + 1, sizeof(*v));
	struct arena a = { 0 };
	struct tally t;
	size_t n = 0;
	int rc = tally_init(&t, sy, &a);

	if (!v)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < st->cap; i++) {
		if (!st->slots[i].ticks)
			continue;
		v[n].ticks = st->slots[i].ticks;
		rc = fold_stack(&t, st, &st->slots[i], root, &v[n].line);
		n += rc == 0;
	}
	if (rc == 0)
		print_folded(out, v, n);
	for (size_t i = 0; i < n; i++)
		free(v[i].line);
	free(v);
	tally_done(&t);
	arena_done(&a);
	return rc ? rc : out->failed ? -ENOMEM : 0;
}
