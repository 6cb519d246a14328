// SPDX-License-Identifier: MIT
/*
 * Facts of a run: the list, and the words in settings. The facts themselves are in the other
 * facts_*.c files. docs/methodology.md defines each.
 */
#include "infer/infer.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/facts.h"

uint64_t base_page_bytes(const struct run *r)
{
	int64_t bytes = attrs_int(&r->fingerprint, "page_bytes", 0);

	return bytes > 0 ? (uint64_t)bytes : 0;
}

uint64_t page_word_bytes(const struct run *r, const char *page)
{
	uint64_t base = base_page_bytes(r);
	uint64_t bytes;

	if (strcmp(page, "base") == 0)
		return base;
	if (strcmp(page, "thp") == 0) {
		int64_t told = attrs_int(&r->fingerprint, "thp_bytes", 0);

		/* What one leaf table of 8-byte entries maps. */
		return told > 0 ? (uint64_t)told : base * (base / 8);
	}
	if (strncmp(page, "hugetlb-", 8) == 0)
		page += 8;
	return parse_size(page, &bytes, NULL) == 0 ? bytes : 0;
}

bool page_word_is_base(const struct run *r, const char *page)
{
	uint64_t base = base_page_bytes(r);

	return strcmp(page, "base") == 0 || (base && page_word_bytes(r, page) == base);
}

/* One summand of a stride: a size or a symbol. */
static uint64_t stride_part(const struct run *r, const char *part, const char *page)
{
	uint64_t base = base_page_bytes(r);
	uint64_t entries = base / 8;
	uint64_t bytes;

	if (strcmp(part, "page") == 0)
		return page_word_bytes(r, page);
	if (strcmp(part, "base-page") == 0)
		return base;
	if (strcmp(part, "leaf-table") == 0)
		return base * entries;
	if (strcmp(part, "pmd-table") == 0)
		return base * entries * entries;
	if (strcmp(part, "pud-table") == 0)
		return base * entries * entries * entries;
	if (strcmp(part, "p4d-table") == 0)
		return __builtin_mul_overflow(base * entries * entries * entries, entries, &bytes)
			       ? 0
			       : bytes;
	return parse_size(part, &bytes, NULL) == 0 ? bytes : 0;
}

uint64_t stride_word_bytes(const struct run *r, const char *stride, const char *page)
{
	const char *plus = strchr(stride, '+');
	char first[64];
	size_t length = plus ? (size_t)(plus - stride) : strlen(stride);
	uint64_t a, b = 0;

	if (length >= sizeof(first))
		return 0;
	memcpy(first, stride, length);
	first[length] = '\0';
	a = stride_part(r, first, page);
	if (plus) {
		b = stride_part(r, plus + 1, page);
		if (b == 0)
			return 0;
	}
	return a ? a + b : 0;
}

struct fact *fact_new(struct work *w, const char *id, const char *unit, const char *method)
{
	struct fact *f = facts_add(w->arena, w->facts);

	if (!f)
		return NULL;
	*f = (struct fact){ .id = id, .unit = unit, .method = method };
	f->method_revision = FACTS_REVISION;
	f->value = f->low = f->high = f->nominal = f->advertised = NAN;
	f->knee = f->knee_low = f->knee_high = NAN;
	return f;
}

int fact_where_text(struct work *w, struct fact *f, const char *name, const char *value)
{
	return attrs_set_text(w->arena, &f->where, name, value);
}

int fact_where_int(struct work *w, struct fact *f, const char *name, int64_t value)
{
	return attrs_set_int(w->arena, &f->where, name, value);
}

void fact_set_cost(struct fact *f, const struct cost *c)
{
	f->value = c->value;
	f->low = c->low;
	f->high = c->high;
	f->reason = c->reason;
	f->interval_reason = c->interval_reason;
}

const char *knee_method(const struct knee *k)
{
	return k->is_step ? "knee of the curve, step model" : "knee of the curve, physical model";
}

void fact_set_knee(struct fact *f, const struct knee *k, double factor)
{
	f->value = k->capacity * factor;
	f->low = k->low * factor;
	f->high = k->high * factor;
	if (isnan(k->low))
		f->interval_reason = "fewer than 6 invocations; an interval needs 6";
	f->nominal = k->nominal * factor;
	f->method = knee_method(k);
}

void fact_on_curve(struct fact *f, const struct curve_points *c, const struct knee *k)
{
	f->curve = c;
	f->knee = k->capacity;
	f->knee_low = k->low;
	f->knee_high = k->high;
}

bool outer_is(const struct curve_points *c, const char *name, const char *value)
{
	const struct attr *a = attrs_find(&c->outer, name);

	return !a || (a->kind == ATTR_TEXT && strcmp(a->text, value) == 0);
}

int64_t outer_int(const struct curve_points *c, const char *name, int64_t otherwise)
{
	return attrs_int(&c->outer, name, otherwise);
}

/* Nothing beside the curve's own setting is unusual: order, placement, load. */
static bool is_plain(const struct curve_points *c)
{
	return outer_is(c, "order", "random") && outer_is(c, "data", "local") &&
	       outer_is(c, "page-tables", "local") && outer_is(c, "load", "none");
}

static enum curve_role tlb_role(const struct run *r, const struct curve_points *c)
{
	const char *page = attrs_text(&c->outer, "page", "");
	const char *backing = attrs_text(&c->outer, "backing", "");
	uint64_t base = base_page_bytes(r);
	uint64_t bytes = page_word_bytes(r, page);
	uint64_t stride = stride_word_bytes(r, attrs_text(&c->outer, "stride", ""), page);
	bool zero = strcmp(backing, "zero") == 0;

	if (!base || !bytes || !stride || !is_plain(c) || !outer_is(c, "line", "auto"))
		return CURVE_OTHER;
	if (bytes == base) {
		if (!zero)
			return CURVE_OTHER;
		if (!outer_is(c, "alias", "plain"))
			return CURVE_BASE_HITS;
		if (stride == base)
			return CURVE_BASE_WALK;
		return stride == base * (base / 8) + base ? CURVE_BASE_FAR : CURVE_OTHER;
	}
	if (stride == base && strcmp(backing, "distinct") == 0 && strcmp(page, "thp") == 0)
		return CURVE_INSIDE;
	if (stride == bytes && (zero || strcmp(page, "thp") != 0))
		return CURVE_LARGE;
	return CURVE_OTHER;
}

static enum curve_role cache_role(const struct curve_points *c)
{
	if (!is_plain(c))
		return CURVE_OTHER;
	if (outer_int(c, "pair", 0) > 0)
		return CURVE_LINE;
	return outer_int(c, "spacing", 64) == 64 ? CURVE_CACHE : CURVE_OTHER;
}

enum curve_role curve_role(const struct run *r, const struct curve_points *c)
{
	if (strcmp(c->bench, "tlb.chase") == 0)
		return tlb_role(r, c);
	if (strcmp(c->bench, "cache.chase") == 0)
		return cache_role(c);
	return CURVE_OTHER;
}

const struct curve_points *curve_of_role(struct work *w, enum curve_role role)
{
	const struct curve_points *found = NULL;

	/* A curve that ran is better than one that was skipped. */
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i];

		if (curve_role(w->run, c) == role && (!found || (found->n == 0 && c->n > 0)))
			found = c;
	}
	return found;
}

int infer_facts(struct arena *a, const struct run *r, const struct curves *c,
		struct facts *ret_facts, struct err *e)
{
	static int (*const fields[])(struct work *) = {
		facts_clock,  facts_tlb,   facts_ways,      facts_cache,   facts_toll,
		facts_tables, facts_fork,  facts_migration, facts_syscall, facts_walk,
		facts_gups,   facts_fault, facts_curves,
	};
	struct facts facts = { 0 };
	struct work w = { .arena = a, .run = r, .curves = c, .facts = &facts, .err = e };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		int rc = fields[i](&w);

		if (rc)
			return err_set(e, -rc, "facts: out of memory");
	}
	*ret_facts = facts;
	return 0;
}

const struct fact *facts_find(const struct facts *f, const char *id, const char *where_name,
			      const char *where_value)
{
	for (size_t i = 0; i < f->n; i++) {
		struct str text = { 0 };
		const struct attr *at;
		bool same;

		if (strcmp(f->v[i].id, id) != 0)
			continue;
		if (!where_name)
			return &f->v[i];
		at = attrs_find(&f->v[i].where, where_name);
		if (!at)
			continue;
		attr_format(&text, at);
		same = strcmp(str_text(&text), where_value) == 0;
		str_done(&text);
		if (same)
			return &f->v[i];
	}
	return NULL;
}
