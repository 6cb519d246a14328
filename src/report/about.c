// SPDX-License-Identifier: MIT
/*
 * What a run is and what disturbed it: the machine in one line, state, invocations, the names of
 * page sizes, taints. Works from names in the run only, so that files of other versions and
 * published runs read as well.
 */
#include "report/render.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

/* --- machine --- */

static const struct attr *machine_attr(const struct run *r, const char *const *names)
{
	for (; *names; names++) {
		const struct attr *a = attrs_find(&r->fingerprint, *names);
		if (!a)
			a = attrs_find(&r->context, *names);
		if (a && a->kind != ATTR_NULL)
			return a;
	}
	return NULL;
}

enum machine_form { AS_TEXT, AS_COUNT, AS_BYTES };

struct machine_part {
	const char *const *names; /* the first that the run has */
	enum machine_form form;
	const char *before;
	const char *one, *many; /* behind a count */
};

static void machine_value(struct str *out, const struct machine_part *p, const struct attr *a)
{
	char buf[UNITS_TEXT_BYTES];
	str_add(out, p->before);
	if (p->form == AS_BYTES && a->kind == ATTR_INT)
		str_add(out, format_size_human(buf, (double)a->integer));
	else
		attr_format(out, a);
	if (p->form == AS_COUNT && a->kind == ATTR_INT)
		str_add(out, a->integer == 1 ? p->one : p->many);
}

void render_machine(struct str *out, const struct run *r)
{
	static const char *const model[] = { "cpu", "model", "machine", NULL };
	static const char *const cpus[] = { "cpus", "cpus_online", NULL };
	static const char *const nodes[] = { "nodes", "memory_nodes", NULL };
	static const char *const memory[] = { "memory_bytes", NULL };
	static const char *const hyper[] = { "hypervisor", NULL };
	static const char *const kernel[] = { "kernel", NULL };
	static const char *const arch[] = { "arch", NULL };
	static const struct machine_part parts[] = {
		{ model, AS_TEXT, "", NULL, NULL },
		{ arch, AS_TEXT, "", NULL, NULL },
		{ cpus, AS_COUNT, "", " CPU", " CPUs" },
		{ nodes, AS_COUNT, "", " node", " nodes" },
		{ memory, AS_BYTES, "", NULL, NULL },
		{ hyper, AS_TEXT, "hypervisor ", NULL, NULL },
		{ kernel, AS_TEXT, "Linux ", NULL, NULL },
	};
	bool first = true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct attr *a = machine_attr(r, parts[i].names);
		if (!a || (a->kind == ATTR_TEXT && !*a->text))
			continue;
		if (parts[i].names == hyper &&
		    strcmp(attrs_text(&r->fingerprint, "hypervisor", ""), "none") == 0)
			continue; /* nothing between us and the machine is not worth a word */
		if (!first)
			str_add(out, ", ");
		first = false;
		machine_value(out, &parts[i], a);
	}
}

/* --- state --- */

void render_state(struct str *out, const struct run *r, const struct report_options *o)
{
	if (r->has_footer && r->complete) {
		str_add(out, "complete");
	} else {
		render_paint(out, o, PAINT_RED, "INCOMPLETE");
		if (!r->has_footer && !r->stop_reason)
			str_add(out, ": the file ends without a footer (killed, or still running)");
	}
	if (r->stop_reason)
		str_addf(out, ": %s", r->stop_reason);
}

void report_count_invocations(const struct report *rep, size_t *ret_low, size_t *ret_high)
{
	*ret_low = *ret_high = 0;
	for (size_t i = 0; i < rep->points.n; i++) {
		size_t n = 0;
		const struct point *p = &rep->points.v[i];
		for (size_t k = 0; k < p->n_measures; k++)
			n += p->measures[k]->verdict == VERDICT_OK;
		if (!n)
			continue;
		*ret_low = !*ret_low || n < *ret_low ? n : *ret_low;
		*ret_high = n > *ret_high ? n : *ret_high;
	}
}

void render_invocations(struct str *out, const struct report *rep)
{
	size_t low, high;
	report_count_invocations(rep, &low, &high);
	if (!high)
		return;
	if (low == high)
		str_addf(out, "%zu", high);
	else
		str_addf(out, "%zu to %zu", low, high);
	str_add(out, high == 1 ? " invocation" : " invocations");
}

/* --- page sizes --- */

static bool is_page(const struct fact *f, const char *id, const char *page)
{
	return strcmp(f->id, id) == 0 && strcmp(attrs_text(&f->where, "page", ""), page) == 0;
}

/* The size that the measures of a curve with this page word prove. */
static uint64_t page_bytes_of_proof(const struct run *r, const char *page)
{
	static const char *const names[] = { "page_bytes", "page.bytes", "thp_bytes", NULL };
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		if (strcmp(attrs_text(&m->setting, "page", ""), page) != 0)
			continue;
		for (const char *const *n = names; *n; n++) {
			int64_t bytes = attrs_int(&m->proof, *n, 0);
			if (bytes > 0)
				return (uint64_t)bytes;
		}
	}
	return 0;
}

uint64_t render_where_bytes(const struct attrs *where, const char *name)
{
	const struct attr *a = attrs_find(where, name);
	uint64_t bytes = 0;
	if (a && a->kind == ATTR_INT && a->integer > 0)
		return (uint64_t)a->integer;
	if (a && a->kind == ATTR_TEXT && parse_size(a->text, &bytes, NULL) == 0)
		return bytes;
	return 0;
}

uint64_t render_page_bytes(const struct report *rep, const char *page)
{
	uint64_t bytes = 0;
	struct err e = { 0 };
	const char *size = page;
	if (strncmp(page, "hugetlb-", 8) == 0)
		size = page + 8;
	if (parse_size(size, &bytes, &e) == 0)
		return bytes;
	if (strcmp(page, "thp") == 0) {
		int64_t told = attrs_int(&rep->run->fingerprint, "thp_bytes", 0);
		if (told > 0)
			return (uint64_t)told;
	}
	bytes = page_bytes_of_proof(rep->run, page);
	if (bytes)
		return bytes;
	/* reach = entries x size */
	double entries = NAN, reach = NAN;
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		if (attrs_int(&f->where, "level", 0) != 1)
			continue;
		if (is_page(f, "tlb.entries", page))
			entries = f->value;
		if (is_page(f, "tlb.reach", page))
			reach = f->value;
	}
	return entries > 0 && reach > 0 ? (uint64_t)(reach / entries + 0.5) : 0;
}

void render_page_words(struct str *out, const struct report *rep, const char *page)
{
	char buf[UNITS_TEXT_BYTES];
	uint64_t bytes = render_page_bytes(rep, page);
	bool plain = page[0] >= '0' && page[0] <= '9';
	if (!bytes) {
		str_addf(out, "%s pages", page);
		return;
	}
	str_addf(out, "%s pages", format_size_human(buf, (double)bytes));
	if (!plain)
		str_addf(out, " (%s)", strncmp(page, "hugetlb", 7) == 0 ? "hugetlb" : page);
}

/* --- taints --- */

static const struct attr *point_taint(const struct point *p, const char *name)
{
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct attr *a = attrs_find(&p->measures[i]->taints, name);
		if (a)
			return a;
	}
	return NULL;
}

static bool seen(const struct attrs *names, const char *name)
{
	return attrs_find(names, name) != NULL;
}

static void taint_line(struct str *out, const struct report *rep, const char *name)
{
	char buf[UNITS_TEXT_BYTES];
	size_t n = 0;
	int64_t sum = 0;
	for (size_t i = 0; i < rep->points.n; i++) {
		const struct point *p = &rep->points.v[i];
		n += point_taint(p, name) != NULL;
		for (size_t k = 0; k < p->n_measures; k++)
			sum += attrs_int(&p->measures[k]->taints, name, 0);
	}
	str_addf(out, "%s in %zu of %zu points", name, n, rep->points.n);
	size_t end = strlen(name);
	if (sum > 0 && end > 3 && strcmp(name + end - 3, "_ns") == 0)
		str_addf(out, ", %s in all", format_time_human(buf, (double)sum));
	else if (sum > 0)
		str_addf(out, ", %lld in all", (long long)sum);
}

int render_taints(struct str *out, const struct report *rep, const struct report_options *o,
		  size_t indent)
{
	struct arena a = { 0 };
	struct attrs names = { 0 };
	int ret = 0;
	for (size_t i = 0; i < rep->run->n_measures && ret == 0; i++) {
		const struct attrs *t = &rep->run->measures[i].taints;
		for (size_t k = 0; k < t->n && ret == 0; k++)
			if (!seen(&names, t->v[k].name))
				ret = attrs_set_int(&a, &names, t->v[k].name, 1);
	}
	for (size_t i = 0; i < names.n && ret == 0; i++) {
		struct str line = { 0 };
		taint_line(&line, rep, names.v[i].name);
		const char *clean = render_clean(&a, str_text(&line), o->utf8, 200);
		if (clean)
			render_paragraph(out, indent, "disturbed: ", clean);
		else
			ret = -ENOMEM;
		str_done(&line);
	}
	arena_done(&a);
	return ret;
}

bool render_disturbed(struct str *out, const struct report *rep)
{
	const struct run *r = rep->run;
	size_t stolen = 0, before = out->len;
	for (size_t i = 0; i < r->n_findings; i++)
		if (r->findings[i].id && strcmp(r->findings[i].id, "load") == 0 &&
		    r->findings[i].severity >= SEVERITY_WARNING)
			str_addf(out, "%s%s", out->len > before ? "; " : "",
				 r->findings[i].what ? r->findings[i].what : "other programs run");
	for (size_t i = 0; i < rep->points.n; i++)
		stolen += point_taint(&rep->points.v[i], "steal_ticks") != NULL;
	if (stolen * 10 > rep->points.n)
		str_addf(out, "%sthe hypervisor took CPU time in %zu of %zu points",
			 out->len > before ? "; " : "", stolen, rep->points.n);
	return out->len > before || out->failed;
}
