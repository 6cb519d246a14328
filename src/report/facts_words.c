// SPDX-License-Identifier: MIT
/*
 * Facts in words. A row of the table is a sentence with places for values; conditions that the
 * sentence does not name follow it in parentheses, so that none is lost. Leaves out reasons of
 * missing values: the table of facts has them.
 */
#include "report/facts_words.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/render.h"

enum { OF_A_KIND = 4 };

/*
 * {v} value with interval, {page} a page size in words, {ordinal} the level in words, {NAME} any
 * other condition. @negative: the sentence where the value is below zero, {v} then without sign;
 * @unclear: where the interval has both signs. NULL: as @text.
 */
static const struct {
	const char *id, *text, *negative, *unclear;
} words[] = {
	{ "toll.huge_page_saving", "Over {working-set}, huge pages save {v} of a random read.",
	  "Over {working-set}, huge pages make a random read dearer by {v}.",
	  "Over {working-set}, huge pages make no clear difference to a random read: {v} saved." },
	{ "toll.random_read_ns",
	  "A dependent random read over {working-set} with {page} takes {v}.", NULL, NULL },
	{ "tlb.hit_ns",
	  "A {ordinal}-level TLB hit costs {v} more than a first-level one, with {page}.", NULL,
	  NULL },
	{ "walk.cached_ns",
	  "A page walk with its tables in the caches adds {v} to a reference, with {page}.", NULL,
	  NULL },
	{ "walk.memory_ns",
	  "A page walk with its tables in memory adds {v} to a reference, with {page}.", NULL,
	  NULL },
	{ "tlb.effective_page", "In the TLB, {page} act like pages of {v}.", NULL, NULL },
	{ "tlb.entries", "The {ordinal}-level data TLB holds {v} of {page}.", NULL, NULL },
	{ "walk.level_ns", "A miss at level {level} of the page tables adds {v} to a walk.", NULL,
	  NULL },
	{ "walk.cold_ns",
	  "After the caches were wiped, a reference to level {level} of the page tables takes {v}.",
	  NULL, NULL },
	{ "walk.top_level_ns", "The topmost level of the page tables costs a walk {v}.", NULL,
	  NULL },
	{ "cache.latency_ns", "A load that hits the {ordinal}-level cache takes {v}.", NULL, NULL },
	{ "cache.capacity", "The {ordinal}-level cache serves working sets up to {v}.", NULL,
	  NULL },
	{ "memory.latency_ns", "A dependent load over {working-set} with {page} takes {v}.", NULL,
	  NULL },
	{ "gups.update_ns", "One random update of the largest table takes {v}.", NULL, NULL },
	{ "gups.page_saving", "Larger pages save {v} of a random update.",
	  "Larger pages make a random update dearer by {v}.",
	  "Larger pages make no clear difference to a random update: {v} saved." },
	{ "fault.break_even",
	  "Filling a whole mapping at once pays from {v} of its pages in use on.", NULL, NULL },
	{ "fault.fill_saving",
	  "Where every page of a mapping is used, filling it at once saves {v} of each page.",
	  "Where every page of a mapping is used, filling it at once costs {v} more a page.",
	  "Where every page of a mapping is used, filling it at once makes no clear difference: "
	  "{v} saved." },
	{ "migration.max_cost_ns",
	  "Moving a task off its warm cache costs up to {v} at a distance of {class}.", NULL,
	  NULL },
	{ "migration.cost_ns",
	  "Moving a task with {working-set} of warm memory costs {v} at a distance of {class}.",
	  NULL, NULL },
	{ "fork.pause_ns_gib", "fork() holds the parent for {v} per GiB of resident memory.", NULL,
	  NULL },
	{ "fork.cow_ns_gib", "Copying after a fork costs {v} per GiB written.", NULL, NULL },
	{ "fork.unmap_ns_gib", "Unmapping costs {v} per GiB of resident memory.", NULL, NULL },
	{ "tables.process_bytes", "The page tables of each process that maps the segment take {v}.",
	  NULL, NULL },
	{ "syscall.away_ns", "Away from the kernel's node, {test} takes {v} longer.",
	  "Away from the kernel's node, {test} takes {v} less.", NULL },
	{ "syscall.serial_misses",
	  "With cold caches, {test} takes as much longer as {v} from memory.", NULL, NULL },
	{ "curve.knee", "The curve bends a {ordinal} time at {v}.", NULL, NULL },
	{ "curve.step_ns", "Behind that {ordinal} bend, a reference takes {v} more.", NULL, NULL },
	{ "clock.core_hz", "The core ran at {v}.", NULL, NULL },
};
enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

static const char *ordinal(int64_t level)
{
	static const char *const names[] = { "first", "second", "third", "fourth" };
	return level >= 1 && level <= 4 ? names[level - 1] : "further";
}

static bool has_interval(const struct fact *f)
{
	return !isnan(f->low) && !isnan(f->high);
}

static void add_value(struct str *out, const struct fact *f, bool turned, bool says_none)
{
	const char *unit;
	double divisor = render_time_scale(f->value, f->unit, &unit);
	double scale = turned ? -divisor : divisor;
	render_value(out, f->value / scale, unit, 3, true);
	if (!has_interval(f)) {
		str_add(out, says_none ? " (no interval)" : "");
		return;
	}
	str_add(out, " ");
	render_interval(out, (turned ? f->high : f->low) / scale,
			(turned ? f->low : f->high) / scale, f->value / scale, unit, 3);
}

static void add_place(struct str *out, const struct report *rep, const struct fact *f,
		      const char *name, bool turned, bool says_none)
{
	if (strcmp(name, "v") == 0) {
		add_value(out, f, turned, says_none);
	} else if (strcmp(name, "ordinal") == 0) {
		str_add(out, ordinal(attrs_int(&f->where, "level", 0)));
	} else if (strcmp(name, "page") == 0) {
		render_page_words(out, rep, attrs_text(&f->where, "page", "unknown"));
	} else {
		const struct attr *a = attrs_find(&f->where, name);
		char buf[UNITS_TEXT_BYTES];
		uint64_t bytes = render_where_bytes(&f->where, name);
		if (strcmp(name, "working-set") == 0 && bytes)
			str_add(out, format_size_human(buf, (double)bytes));
		else if (a)
			attr_format(out, a);
		else
			str_addf(out, "an unknown %s", name);
	}
}

static bool is_named(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *wanted =
		strcmp(name, "level") == 0 && strstr(text, "{ordinal}") ? "ordinal" : name;
	n = strlen(wanted);
	for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{'))
		if (strncmp(p + 1, wanted, n) == 0 && p[1 + n] == '}')
			return true;
	return false;
}

/* What holds beside what the sentence says. */
static int add_rest(struct str *out, struct arena *a, const struct report *rep,
		    const struct fact *f, const char *text)
{
	struct attrs rest = { 0 };
	struct str where = { 0 };
	for (size_t i = 0; i < f->where.n; i++) {
		struct attrs one = { .v = &f->where.v[i], .n = 1 };
		if (!is_named(text, f->where.v[i].name) && attrs_copy(a, &rest, &one) < 0)
			return -ENOMEM;
	}
	render_where(&where, rep->run, &rest);
	if (where.len)
		str_addf(out, " (%s)", str_text(&where));
	out->failed = out->failed || where.failed;
	str_done(&where);
	return 0;
}

static int sentence(struct str *out, struct arena *a, const struct report *rep,
		    const struct fact *f, size_t row, bool says_none)
{
	bool unclear = has_interval(f) && f->low <= 0 && f->high >= 0 && words[row].unclear;
	bool turned = !unclear && f->value < 0 && words[row].negative;
	const char *text = unclear  ? words[row].unclear
			   : turned ? words[row].negative
				    : words[row].text;
	const char *end = text + strlen(text) - 1; /* the full stop follows the conditions */
	for (const char *p = text; p < end; p++) {
		char name[24];
		const char *close = *p == '{' ? strchr(p, '}') : NULL;
		size_t n = close ? (size_t)(close - p) - 1 : 0;
		if (!close || n >= sizeof(name)) {
			str_add_n(out, p, 1);
			continue;
		}
		memcpy(name, p + 1, n);
		name[n] = '\0';
		add_place(out, rep, f, name, turned, says_none);
		p = close;
	}
	int ret = add_rest(out, a, rep, f, text);
	if (strcmp(f->id, "tlb.entries") == 0 && !isnan(f->advertised)) {
		str_add(out, "; the processor says ");
		render_value(out, f->advertised, f->unit, 3, false);
	}
	str_add(out, ".");
	return ret;
}

/* Whether a fact that has words has an interval. */
static bool any_interval(const struct report *rep)
{
	for (size_t row = 0; row < N_WORDS; row++)
		for (size_t i = 0; i < rep->facts.n; i++)
			if (strcmp(rep->facts.v[i].id, words[row].id) == 0 &&
			    !isnan(rep->facts.v[i].value) && has_interval(&rep->facts.v[i]))
				return true;
	return false;
}

/* The latency of memory is the toll's random read again, where that was taken from the same point.
 */
static bool is_said_already(const struct report *rep, const struct fact *f)
{
	if (strcmp(f->id, "memory.latency_ns") != 0)
		return false;
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *other = &rep->facts.v[i];
		if (strcmp(other->id, "toll.random_read_ns") == 0 && other->value == f->value &&
		    strcmp(attrs_text(&other->where, "page", ""),
			   attrs_text(&f->where, "page", "")) == 0 &&
		    render_where_bytes(&other->where, "working-set") ==
			    render_where_bytes(&f->where, "working-set"))
			return true;
	}
	return false;
}

int facts_words(struct arena *a, const struct report *rep, struct fact_sentences *ret)
{
	*ret = (struct fact_sentences){ .any_interval = any_interval(rep) };
	for (size_t row = 0; row < N_WORDS; row++) {
		size_t n = 0;
		for (size_t i = 0; i < rep->facts.n; i++) {
			const struct fact *f = &rep->facts.v[i];
			struct str text = { 0 };
			if (strcmp(f->id, words[row].id) != 0 || isnan(f->value) ||
			    is_said_already(rep, f))
				continue;
			if (n++ >= OF_A_KIND) {
				ret->n_more++;
				continue;
			}
			int rc = sentence(&text, a, rep, f, row, ret->any_interval);
			const char *copy =
				rc || text.failed ? NULL : arena_strdup(a, str_text(&text));
			str_done(&text);
			if (!copy || arena_grow(a, &ret->v, ret->n, &ret->cap, sizeof(*ret->v)) < 0)
				return -ENOMEM;
			ret->v[ret->n++] = (struct fact_sentence){ .fact = f, .text = copy };
		}
	}
	return 0;
}
