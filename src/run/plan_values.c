/* SPDX-License-Identifier: MIT */
/*
 * Expanding VALUE by parameter type: lists, ranges, sizes, stride symbols, page words, choices.
 * Leaves out what needs a whole setting (local, remote, the bytes of stride=page): plan_resolve.c.
 */
#include "run/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { VALUES_MAX = 100000, OUTER_VALUES_MAX = 2000 };

static int append_value(struct arena *a, struct plan_values *out, struct plan_value v,
			struct err *e)
{
	if (out->n >= VALUES_MAX)
		return err_set(e, ERANGE, "more than %d values", VALUES_MAX);
	if (arena_grow(a, &out->v, out->n, &out->cap, sizeof(*out->v)) < 0)
		return err_set(e, ENOMEM, "out of memory");
	out->v[out->n++] = v;
	return 0;
}

/* Outer lists are short; long inner ones are sorted later and use append_value(). */
static int add_value(struct arena *a, struct plan_values *out, struct plan_value v, struct err *e)
{
	for (size_t i = 0; i < out->n; i++) {
		const struct plan_value *o = &out->v[i];

		if (v.text ? (o->text && strcmp(o->text, v.text) == 0)
			   : (!o->text && o->number == v.number))
			return 0;
	}
	if (out->n >= OUTER_VALUES_MAX)
		return err_set(e, EINVAL, "more than %d values, each of which is a setting",
			       OUTER_VALUES_MAX);
	return append_value(a, out, v, e);
}

static int add_text(struct arena *a, struct plan_values *out, const char *text, struct err *e)
{
	char *copy = arena_strdup(a, text);

	if (!copy)
		return err_set(e, ENOMEM, "out of memory");
	return add_value(a, out, (struct plan_value){ .text = copy }, e);
}

static const char *number_text(char buf[UNITS_TEXT_BYTES], const struct param *p, uint64_t v)
{
	if (p->type == PARAM_BYTES || p->type == PARAM_STRIDE)
		return format_size(buf, v);
	snprintf(buf, UNITS_TEXT_BYTES, "%llu", (unsigned long long)v);
	return buf;
}

static int check_range(const struct param *p, uint64_t v, struct err *e)
{
	char text[UNITS_TEXT_BYTES], low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES];
	uint64_t max = p->max ? p->max : INT64_MAX;

	if (v >= p->min && v <= max && v <= INT64_MAX)
		return 0;
	return err_set(e, ERANGE, "%s=%s is out of range; accepted: %s to %s", p->name,
		       number_text(text, p, v), number_text(low, p, p->min),
		       number_text(high, p, max));
}

static int expand_numbers(struct arena *a, const struct param *p, const char *item,
			  struct plan_values *out, struct err *e)
{
	struct u64_array v = { 0 };
	int r = parse_item(item, p->type == PARAM_BYTES, &v, e);

	if (r < 0)
		err_prefix(e, "%s: ", p->name);
	for (size_t i = 0; r == 0 && i < v.n; i++) {
		struct plan_value one = { .number = v.v[i] };

		r = check_range(p, v.v[i], e);
		if (r == 0)
			r = p->role == ROLE_INNER ? append_value(a, out, one, e)
						  : add_value(a, out, one, e);
	}
	u64_array_done(&v);
	return r;
}

static const char *const stride_symbols[] = { "page",      "base-page", "leaf-table", "pmd-table",
					      "pud-table", "p4d-table", NULL };

static int stride_part(const struct machine *m, uint64_t page_bytes, const char *word,
		       uint64_t *ret_bytes, bool *ret_is_symbol, struct err *e)
{
	const uint64_t bytes[] = { page_bytes,        m->page_bytes,     m->leaf_table_span,
				   m->pmd_table_span, m->pud_table_span, m->p4d_table_span };
	char near[96], all[96];
	uint64_t v;

	for (size_t i = 0; stride_symbols[i]; i++) {
		if (strcmp(word, stride_symbols[i]) != 0)
			continue;
		if (bytes[i] == 0)
			return err_set(e, EINVAL, "\"%s\" is not known on this machine (%s)", word,
				       m->arch);
		*ret_bytes = bytes[i];
		*ret_is_symbol = true;
		return 0;
	}
	if (word[0] >= '0' && word[0] <= '9') {
		int r = parse_size(word, &v, e);

		if (r < 0)
			return r;
		*ret_bytes = v;
		*ret_is_symbol = false;
		return 0;
	}
	return err_set(e, EINVAL, "\"%s\" is no stride%s; accepted: a size (4k, 32m) or one of %s",
		       word,
		       plan_suggest(near, sizeof(near), word, plan_name_of_text, stride_symbols),
		       plan_list(all, sizeof(all), plan_name_of_text, stride_symbols));
}

int plan_stride_parse(struct arena *a, const struct machine *m, uint64_t page_bytes,
		      const char *text, struct plan_stride *ret, struct err *e)
{
	char words[2][64], size[2][UNITS_TEXT_BYTES];
	const char *plus = strchr(text, '+'), *canonical[2];
	size_t n_first = plus ? (size_t)(plus - text) : strlen(text);
	uint64_t bytes[2] = { 0, 0 };
	struct plan_stride s = { 0 };
	bool symbol = false;
	int n = plus ? 2 : 1;

	if (n_first >= sizeof(words[0]) || (plus && strlen(plus + 1) >= sizeof(words[1])))
		return err_set(e, EINVAL, "\"%.80s...\" is too long for a stride", text);
	snprintf(words[0], sizeof(words[0]), "%.*s", (int)n_first, text);
	snprintf(words[1], sizeof(words[1]), "%s", plus ? plus + 1 : "");
	for (int i = 0; i < n; i++) {
		int r = stride_part(m, page_bytes, words[i], &bytes[i], &symbol, e);

		if (r < 0)
			return r;
		canonical[i] = symbol ? words[i] : format_size(size[i], bytes[i]);
	}
	if (__builtin_add_overflow(bytes[0], bytes[1], &s.bytes) || s.bytes > INT64_MAX)
		return err_set(e, ERANGE, "stride \"%s\" is larger than the address space", text);
	if (s.bytes == 0)
		return err_set(e, EINVAL, "stride \"%s\" is zero; accepted: 1 byte or more", text);
	s.base_bytes = bytes[0];
	s.text = plus ? arena_printf(a, "%s+%s", canonical[0], canonical[1])
		      : arena_strdup(a, canonical[0]);
	if (!s.text)
		return err_set(e, ENOMEM, "out of memory");
	*ret = s;
	return 0;
}

static int expand_stride(struct arena *a, const struct machine *m, const struct param *p,
			 const char *item, struct plan_values *out, struct err *e)
{
	char text[UNITS_TEXT_BYTES];
	struct u64_array v = { 0 };
	struct plan_stride s;
	int r;

	if (!strstr(item, "..")) {
		r = plan_stride_parse(a, m, m->page_bytes, item, &s, e);
		if (r < 0)
			err_prefix(e, "%s: ", p->name);
		return r < 0 ? r : add_value(a, out, (struct plan_value){ .text = s.text }, e);
	}
	r = parse_item(item, 1, &v, e);
	if (r < 0)
		err_prefix(e, "%s: ", p->name);
	for (size_t i = 0; r == 0 && i < v.n; i++) {
		if (v.v[i] == 0)
			r = err_set(e, EINVAL, "%s: stride 0; accepted: 1 byte or more", p->name);
		else
			r = add_text(a, out, format_size(text, v.v[i]), e);
	}
	u64_array_done(&v);
	return r;
}

static const char *page_name(const void *list, size_t i)
{
	const struct machine *m = list;

	if (i < m->n_pages)
		return m->pages[i].name;
	return i == m->n_pages ? "base" : i == m->n_pages + 1 ? "auto" : NULL;
}

/* A page size by its bytes: "4096", "64K", "hugetlb-2M"; never ambiguous between kinds. */
static const struct page_size *page_by_size(const struct machine *m, const char *word)
{
	bool hugetlb = strncasecmp(word, "hugetlb-", 8) == 0;
	uint64_t bytes;

	if (parse_size(hugetlb ? word + 8 : word, &bytes, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < m->n_pages; i++) {
		const struct page_size *p = &m->pages[i];
		bool same_kind = hugetlb ? p->kind == PAGE_KIND_HUGETLB
					 : p->kind == PAGE_KIND_BASE || p->kind == PAGE_KIND_MTHP;

		if (same_kind && p->bytes == bytes)
			return p;
	}
	return NULL;
}

/* "2m" is the size of thp and of hugetlb-2m, but names neither. */
static const char *suggest_by_size(char *buf, size_t bytes, const struct machine *m,
				   const char *word)
{
	uint64_t size;
	size_t used = 0;

	buf[0] = '\0';
	if (parse_size(word, &size, NULL) < 0)
		return buf;
	for (size_t i = 0; i < m->n_pages; i++) {
		int n = 0;

		if (m->pages[i].bytes == size && used < bytes)
			n = snprintf(buf + used, bytes - used, "%s%s",
				     used ? " or " : " (did you mean ", m->pages[i].name);
		used += n > 0 ? (size_t)n : 0;
	}
	if (used > 0 && used + 3 < bytes)
		memcpy(buf + used, "?)", 3);
	return buf;
}

const struct page_size *plan_page(const struct machine *m, const char *word, struct err *e)
{
	const struct page_size *found = machine_page(m, word);
	char near[96], all[200];

	if (!found)
		found = page_by_size(m, word);
	if (!found)
		err_set(e, EINVAL, "there are no \"%s\" pages here%s; accepted: %s", word,
			suggest_by_size(near, sizeof(near), m, word)[0]
				? near
				: plan_suggest(near, sizeof(near), word, page_name, m),
			plan_list(all, sizeof(all), page_name, m));
	return found;
}

static int expand_page(struct arena *a, const struct machine *m, const struct param *p,
		       const char *item, struct plan_values *out, struct err *e)
{
	const struct page_size *page = plan_page(m, item, e);

	if (!page) {
		err_prefix(e, "%s: ", p->name);
		return -EINVAL;
	}
	return add_text(a, out, page->name, e);
}

static int expand_choice(struct arena *a, const struct param *p, const char *item,
			 struct plan_values *out, struct err *e)
{
	char near[96], all[200];

	for (size_t i = 0; p->choices && p->choices[i]; i++)
		if (strcmp(p->choices[i], item) == 0)
			return add_text(a, out, item, e);
	return err_set(e, EINVAL, "%s=%s is not known%s; accepted: %s", p->name, item,
		       plan_suggest(near, sizeof(near), item, plan_name_of_text, p->choices),
		       plan_list(all, sizeof(all), plan_name_of_text, p->choices));
}

/* CPU and node ids: words stay, numbers become canonical, ranges such as 0..3 are allowed. */
static int expand_id(struct arena *a, const struct machine *m, const struct param *p,
		     const char *item, struct plan_values *out, struct err *e)
{
	bool is_place = p->type == PARAM_NODE && strcmp(p->name, "node") == 0;
	static const char *const cpu_words[] = { "auto", NULL };
	static const char *const node_words[] = { "local", "remote", NULL };
	const char *const *words = p->type == PARAM_CPU ? cpu_words : node_words;
	struct u64_array v = { 0 };
	char all[200], text[UNITS_TEXT_BYTES];
	int r;

	if (is_place && strcmp(item, "each") == 0)
		return plan_place_each(a, m, out, add_text, e);
	for (size_t i = 0; words[i]; i++)
		if (strcmp(words[i], item) == 0)
			return add_text(a, out, item, e);
	for (size_t i = 0; p->choices && p->choices[i]; i++)
		if (strcmp(p->choices[i], item) == 0)
			return add_text(a, out, item, e);
	if (item[0] < '0' || item[0] > '9' || parse_item(item, 0, &v, NULL) < 0) {
		u64_array_done(&v);
		plan_list(all, sizeof(all), plan_name_of_text, p->choices);
		return err_set(e, EINVAL, "%s=%s is not known; accepted: an id (0, 1, ...), %s%s%s",
			       p->name, item,
			       p->type == PARAM_CPU ? "auto"
			       : is_place           ? "local, remote, each"
						    : "local, remote",
			       all[0] ? ", " : "", all);
	}
	r = 0;
	for (size_t i = 0; r == 0 && i < v.n; i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)v.v[i]);
		r = add_text(a, out, text, e);
	}
	u64_array_done(&v);
	return r;
}

static int expand_item(struct arena *a, const struct machine *m, const struct param *p,
		       const char *item, struct plan_values *out, struct err *e)
{
	switch (p->type) {
	case PARAM_COUNT:
	case PARAM_BYTES:
		return expand_numbers(a, p, item, out, e);
	case PARAM_STRIDE:
		return expand_stride(a, m, p, item, out, e);
	case PARAM_PAGE:
		return expand_page(a, m, p, item, out, e);
	case PARAM_CHOICE:
		return expand_choice(a, p, item, out, e);
	case PARAM_CPU:
	case PARAM_NODE:
		return expand_id(a, m, p, item, out, e);
	}
	return err_set(e, EINVAL, "%s: unknown parameter type", p->name);
}

static bool is_auto_number(const struct param *p, const char *value)
{
	return (p->type == PARAM_COUNT || p->type == PARAM_BYTES) && strcmp(value, "auto") == 0;
}

int plan_expand(struct arena *a, const struct machine *m, const struct param *p, const char *value,
		struct plan_values *ret, struct err *e)
{
	struct plan_values out = { 0 };
	char *copy, *item, *rest;

	if (is_auto_number(p, value) && p->role == ROLE_INNER) {
		*ret = out;
		return 0;
	}
	copy = arena_strdup(a, value);
	if (!copy)
		return err_set(e, ENOMEM, "out of memory");
	for (rest = copy; (item = strsep(&rest, ",")) != NULL;) {
		int r;

		if (*item == '\0')
			return err_set(e, EINVAL,
				       "%s=%s has an empty item; accepted: items separated by one "
				       "comma",
				       p->name, value);
		if (is_auto_number(p, item) && p->role == ROLE_INNER)
			return err_set(e, EINVAL, "%s=%s: \"auto\" stands alone", p->name, value);
		if (is_auto_number(p, item) && p->def && strcmp(p->def, "auto") == 0)
			r = add_text(a, &out, item, e);
		else
			r = expand_item(a, m, p, item, &out, e);
		if (r < 0)
			return r;
	}
	*ret = out;
	return 0;
}
