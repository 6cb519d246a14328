/* SPDX-License-Identifier: MIT */
/* Passes over mappings, by one thread or several, and their values. Proof is in fault_proof.c. */
#include "bench/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "access/perm.h"
#include "host/clock.h"

const char *const fault_access_words[] = { "read", "write", "read-write", NULL };
const char *const fault_fill_words[] = { "demand",         "map-populate", "populate-read",
					 "populate-write", "willneed",     NULL };
const char *const fault_spread_words[] = { "prefix", "scattered", NULL };
const char *const fault_mapping_words[] = { "one", "each", NULL };

const struct metric fault_metrics[] = {
	[M_PAGE_NS] = { "page_ns", "mapping, filling, touching and unmapping, per base page mapped",
			"ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_FAULT_NS] = { "fault_ns", "touching, per page fault that it took", "ns", BETTER_LOWER,
			 EST_MIN, FORM_SAMPLES },
	[M_FAULTS] = { "faults", "page faults of filling and touching, per base page mapped",
		       "faults", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	[M_RSS] = { "rss_bytes", "resident after the touches", "bytes", BETTER_LOWER, EST_MEDIAN,
		    FORM_EXACT },
	[M_FIRST_PAGE_NS] = { "first_page_ns",
			      "page_ns of the first pass of the process, all pages used", "ns",
			      BETTER_NONE, EST_MIN, FORM_SAMPLES },
	[M_TOTAL_NS] = { "total_ns", "mapping, filling, touching and unmapping", "ns", BETTER_NONE,
			 EST_MIN, FORM_SAMPLES },
	[M_MAP_NS] = { "map_ns", "mmap, with what it fills", "ns", BETTER_NONE, EST_MIN,
		       FORM_SAMPLES },
	[M_FILL_NS] = { "fill_ns", "the call that fills", "ns", BETTER_NONE, EST_MIN,
			FORM_SAMPLES },
	[M_TOUCH_NS] = { "touch_ns", "touching", "ns", BETTER_NONE, EST_MIN, FORM_SAMPLES },
	[M_UNMAP_NS] = { "unmap_ns", "munmap", "ns", BETTER_NONE, EST_MIN, FORM_SAMPLES },
	[M_MAJOR_FAULTS] = { "major_faults", "page faults that waited for a disk, per page",
			     "faults", BETTER_NONE, EST_MEDIAN, FORM_COUNT },
	{ .name = NULL },
};

/* --- parent side ------------------------------------------------------------------------------ */

int fault_grid(const struct machine *m, const struct bench_setting *s, struct u64_array *ret_values,
	       char *ret_note, size_t note_bytes, struct err *e)
{
	static const uint64_t percents[] = { 0, 1, 2, 5, 10, 20, 35, 50, 75, 100 };
	int result = 0;

	(void)m;
	(void)s;
	(void)ret_note;
	(void)note_bytes;
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]) && result == 0; i++)
		result = u64_array_add(ret_values, percents[i]);
	return result < 0 ? err_set(e, -result, "no memory for the grid") : 0;
}

static bool is(const struct bench_setting *s, const char *name, const char *word)
{
	return strcmp(attrs_text(&s->given, name, ""), word) == 0;
}

static int check_words(enum fault_kind kind, const struct bench_setting *s, struct err *e)
{
	if (is(s, "fill", "populate-write") && is(s, "access", "read"))
		return err_set(e, EINVAL,
			       "fill=populate-write access=read: a mapping that is only read "
			       "cannot be written to; use fill=populate-read");
	if (is(s, "fill", "willneed") && kind != FAULT_FILE)
		return err_set(e, EINVAL,
			       "fill=willneed reads a file ahead: there is no file; use "
			       "fault.file, or fill=populate-read");
	return 0;
}

static int check_page(enum fault_kind kind, const struct bench_setting *s,
		      const struct page_size *p, struct err *e)
{
	if (kind == FAULT_FILE && p->kind != PAGE_KIND_BASE)
		return err_set(e, EINVAL,
			       "page=%s: the file system chooses the pages of a file; use "
			       "page=base",
			       p->name);
	if (kind == FAULT_SHM && p->kind == PAGE_KIND_MTHP)
		return err_set(e, EINVAL, "page=%s: shared memory has base, thp or hugetlb pages",
			       p->name);
	if (is(s, "fill", "map-populate") &&
	    (p->kind == PAGE_KIND_THP || p->kind == PAGE_KIND_MTHP))
		return err_set(e, EINVAL,
			       "page=%s fill=map-populate: mmap fills before huge pages can be "
			       "asked for (madvise); use fill=populate-write",
			       p->name);
	return 0;
}

static uint64_t allowed_cpus(const struct machine *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->n_cpus; i++)
		n += m->cpus[i].online && m->cpus[i].allowed;
	return n;
}

int fault_cost(enum fault_kind kind, const struct machine *m, const struct bench_setting *s,
	       struct bench_cost *ret_cost, struct err *e)
{
	const struct page_size *p = machine_page(m, attrs_text(&s->given, "page", ""));
	uint64_t size = (uint64_t)attrs_int(&s->given, "size", 0);
	uint64_t threads = (uint64_t)attrs_int(&s->given, "threads", 1), all = allowed_cpus(m);
	uint64_t copies = is(s, "mapping", "each") ? threads : 1;
	char text[UNITS_TEXT_BYTES], page[UNITS_TEXT_BYTES];
	int result = check_words(kind, s, e);

	if (result == 0 && p)
		result = check_page(kind, s, p, e);
	if (result < 0)
		return result;
	if (p && size % p->bytes)
		return err_set(e, EINVAL, "size=%s is no whole number of pages of %s",
			       format_size(text, size), format_size(page, p->bytes));
	if (threads > all)
		return err_set(e, EINVAL, "threads=%ju: %ju CPUs may be used here",
			       (uintmax_t)threads, (uintmax_t)all);
	if (size / m->page_bytes / threads == 0)
		return err_set(e, EINVAL, "size=%s has no page for each of %ju threads",
			       format_size(text, size), (uintmax_t)threads);
	*ret_cost = (struct bench_cost){
		.arena_bytes = copies * size,
		.table_bytes = copies * (size / m->leaf_table_span + 3) * m->page_bytes,
		.faults = copies * size / m->page_bytes,
		.processes = threads - 1, /* threads count as such */
		/* passes of all points, at some 1 us a page */
		.seconds = 5e-6 * (double)(copies * size / m->page_bytes),
	};
	return 0;
}

/* --- worker side ------------------------------------------------------------------------------ */

static int word_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return 0;
}

static int start_team(struct bench_ctx *ctx, struct fault_state *s)
{
	uint32_t own = (uint32_t)bench_u64(ctx, "cpu.id"), *cpus;
	struct u32_list allowed = { 0 };
	struct err e = { 0 };
	size_t n = 0;
	int rc = 0;

	if (s->threads < 2)
		return 0;
	if (parse_u32_list(bench_text(ctx, "cpu.allowed"), &allowed, &e) < 0)
		return bench_fail(ctx, e.code, "CPUs that may be used: %s", e.msg);
	cpus = calloc(s->threads, sizeof(*cpus));
	for (size_t i = 0; cpus && i < allowed.n && n + 1 < s->threads; i++)
		if (allowed.v[i] != own)
			cpus[n++] = allowed.v[i];
	u32_list_done(&allowed);
	if (!cpus)
		return bench_fail(ctx, ENOMEM, "no memory for %zu threads", s->threads);
	/* in ascending order, as a team wants them */
	size_t at = n;

	for (; at > 0 && cpus[at - 1] > own; at--)
		cpus[at] = cpus[at - 1];
	cpus[at] = own;
	if (n + 1 < s->threads)
		rc = bench_skip(ctx, "threads=%zu: only %zu CPUs may be used", s->threads, n + 1);
	else if (team_start(cpus, s->threads, &s->team, &e) < 0)
		rc = bench_fail(ctx, e.code, "%s", e.msg);
	free(cpus);
	return rc;
}

/* The order of the touches; a point takes so many from its front. */
static int make_list(struct bench_ctx *ctx, struct fault_state *s)
{
	bool scattered = strcmp(bench_text(ctx, "spread"), "scattered") == 0;
	struct perm order;

	s->list = malloc(s->pages * sizeof(*s->list));
	if (!s->list || s->pages > UINT32_MAX)
		return bench_fail(ctx, ENOMEM, "no memory for a list of %ju pages",
				  (uintmax_t)s->pages);
	perm_init(&order, s->pages, bench_seed(ctx));
	for (uint64_t i = 0; i < s->pages; i++)
		s->list[i] = (uint32_t)(scattered ? perm_at(&order, i) : i);
	return 0;
}

static int part_failed(struct bench_ctx *ctx, const struct fault_state *s,
		       const struct fault_part *p)
{
	int code = -p->code;

	if (s->spec.page_kind == PAGE_KIND_HUGETLB && (code == ENOMEM || code == EFAULT))
		return bench_skip(ctx, "%s: the pool of huge pages does not suffice", p->failed);
	if (code == EINVAL && s->spec.fill != FILL_DEMAND && s->spec.fill != FILL_MAP_POPULATE)
		return bench_skip(ctx, "%s: this kernel does not have it (Linux 5.14 does)",
				  p->failed);
	return bench_fail(ctx, code, "%s", p->failed);
}

/* A segment is new for each pass: its pages are what the faults make. */
static int new_segment(struct bench_ctx *ctx, struct fault_state *s)
{
	struct segment segment = SEGMENT_NONE;
	struct err e = { 0 };

	if (s->spec.kind != FAULT_SHM)
		return 0;
	if (s->spec.fd >= 0)
		close(s->spec.fd);
	s->spec.fd = -1;
	if (segment_create_empty(s->spec.page_kind, s->spec.page_bytes, s->spec.bytes, &segment,
				 &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	s->spec.fd = segment.fd;
	return 0;
}

/* What one thread touches of the current list. */
static void touch_share(struct fault_state *s, size_t thread)
{
	size_t from = s->used * thread / s->threads, to = s->used * (thread + 1) / s->threads;
	struct fault_part *p = &s->parts[thread];

	if (!s->each)
		p->base = s->parts[0].base;
	fault_touch(&s->spec, p, s->list + from, to - from);
}

static void touch_work(void *user, size_t thread)
{
	touch_share(user, thread);
}

static void whole_pass(struct fault_state *s, struct fault_part *p)
{
	if (fault_map(&s->spec, p) == 0 && fault_fill(&s->spec, p) == 0)
		fault_touch(&s->spec, p, s->list, s->used);
	fault_unmap(&s->spec, p);
}

static void whole_work(void *user, size_t thread)
{
	struct fault_state *s = user;

	whole_pass(s, &s->parts[thread]);
}

static double wall_ns(struct fault_state *s, const struct team_span *spans)
{
	int64_t first = spans[0].start_ns, last = spans[0].end_ns;

	for (size_t i = 0; i < s->threads; i++) {
		first = spans[i].start_ns < first ? spans[i].start_ns : first;
		last = spans[i].end_ns > last ? spans[i].end_ns : last;
		if (spans[i].strayed_to >= 0)
			s->strayed_to = spans[i].strayed_to;
	}
	return (double)(last - first);
}

/* One mapping that all threads touch: mapping, filling and unmapping are the first one's. */
static double pass_one(struct fault_state *s)
{
	struct fault_part *p = &s->parts[0];
	double touch = 0;

	if (fault_map(&s->spec, p) == 0 && fault_fill(&s->spec, p) == 0) {
		if (s->team) {
			for (size_t i = 1; i < s->threads; i++)
				s->parts[i].took = (struct fault_took){ 0 };
			touch = wall_ns(s, team_run(s->team, touch_work, s));
		} else {
			touch_share(s, 0);
			touch = (double)p->took.touch_ns;
		}
	}
	for (size_t i = 1; i < s->threads; i++)
		s->parts[i].base = NULL;
	fault_unmap(&s->spec, p);
	return (double)(p->took.map_ns + p->took.fill_ns + p->took.unmap_ns) + touch;
}

/* One pass of all threads; the time of all of it, ns. Nonzero as bench_fail(). */
static int pass(struct bench_ctx *ctx, struct fault_state *s, double *ret_ns)
{
	if (new_segment(ctx, s) != 0)
		return 1;
	if (!s->each || !s->team) {
		*ret_ns = pass_one(s);
	} else {
		*ret_ns = wall_ns(s, team_run(s->team, whole_work, s));
	}
	for (size_t i = 0; i < s->threads; i++)
		if (s->parts[i].code < 0)
			return part_failed(ctx, s, &s->parts[i]);
	return 0;
}

static int prepare_backing(struct bench_ctx *ctx, struct fault_state *s)
{
	struct err e = { 0 };

	if (s->spec.kind == FAULT_FILE) {
		bool small = strcmp(bench_text(ctx, "folios"), "small") == 0;

		if (tempfile_create(s->spec.bytes,
				    small ? s->spec.base_bytes : TEMPFILE_PIECE_BYTES, &s->file,
				    &e) < 0)
			return bench_fail(ctx, e.code, "%s", e.msg);
		s->spec.fd = s->file.fd;
		bench_proof_text(ctx, "filesystem", s->file.filesystem);
		bench_proof_text(ctx, "folder", s->file.folder);
	}
	/* The process is a fresh one for these settings: nothing else needs huge pages in it. */
	if (s->spec.page_kind == PAGE_KIND_BASE)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (fault_reserve(&s->spec, s->parts, s->threads) < 0)
		return part_failed(ctx, s, &s->parts[0]);
	return 0;
}

int fault_setup(struct bench_ctx *ctx, struct fault_state *s, enum fault_kind kind)
{
	double ns;

	s->file = TEMPFILE_NONE;
	s->strayed_to = -1;
	s->each = strcmp(bench_text(ctx, "mapping"), "each") == 0;
	s->threads = bench_u64(ctx, "threads");
	s->spec = (struct fault_spec){
		.kind = kind,
		.access = (enum fault_access)word_index(fault_access_words,
							bench_text(ctx, "access")),
		.fill = (enum fault_fill)word_index(fault_fill_words, bench_text(ctx, "fill")),
		.page_kind = bench_page_kind(ctx),
		.page_bytes = bench_u64(ctx, "page.bytes"),
		.base_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.bytes = bench_u64(ctx, "size"),
		.fd = -1,
	};
	s->pages = s->spec.bytes / s->spec.base_bytes;
	s->parts = calloc(s->threads, sizeof(*s->parts));
	if (!s->parts)
		return bench_fail(ctx, ENOMEM, "no memory for %zu threads", s->threads);
	if (make_list(ctx, s) != 0 || prepare_backing(ctx, s) != 0 || start_team(ctx, s) != 0)
		return 1;
	s->used = s->pages;
	if (pass(ctx, s, &ns) != 0)
		return 1;
	s->first_page_ns = ns / (double)s->pages;
	return 0;
}

int fault_prepare(struct bench_ctx *ctx, void *state)
{
	struct fault_state *s = state;

	s->used = s->pages * bench_u64(ctx, "used") / 100;
	s->touches = s->faults_on_touch = s->faults_on_fill = 0;
	bench_value(ctx, M_FIRST_PAGE_NS, s->first_page_ns);
	return 0;
}

/* Means over the threads that have a mapping; sums of faults. */
static void note(struct bench_ctx *ctx, struct fault_state *s, double ns)
{
	double copies = s->each ? (double)s->threads : 1, touch = 0;
	struct fault_took sum = { 0 };

	for (size_t i = 0; i < s->threads; i++) {
		const struct fault_took *t = &s->parts[i].took;

		sum.map_ns += t->map_ns;
		sum.fill_ns += t->fill_ns;
		sum.unmap_ns += t->unmap_ns;
		sum.fill_faults += t->fill_faults;
		sum.touch_faults += t->touch_faults;
		sum.major_faults += t->major_faults;
		touch += (double)t->touch_ns;
	}
	bench_value(ctx, M_PAGE_NS, ns / (double)s->pages);
	bench_value(ctx, M_TOTAL_NS, ns);
	bench_value(ctx, M_MAP_NS, (double)sum.map_ns / copies);
	bench_value(ctx, M_FILL_NS, (double)sum.fill_ns / copies);
	bench_value(ctx, M_TOUCH_NS, touch / (double)s->threads);
	bench_value(ctx, M_UNMAP_NS, (double)sum.unmap_ns / copies);
	if (sum.touch_faults > 0)
		bench_value(ctx, M_FAULT_NS, touch / (double)sum.touch_faults);
	bench_count(ctx, M_FAULTS, sum.fill_faults + sum.touch_faults,
		    (int64_t)(s->pages * (uint64_t)copies));
	bench_count(ctx, M_MAJOR_FAULTS, sum.major_faults, (int64_t)(s->pages * (uint64_t)copies));
	s->touches += (int64_t)(s->used * (uint64_t)copies);
	s->faults_on_touch += sum.touch_faults;
	s->faults_on_fill += sum.fill_faults;
}

int fault_sample(struct bench_ctx *ctx, void *state)
{
	struct fault_state *s = state;
	double ns;

	if (pass(ctx, s, &ns) != 0)
		return 1;
	note(ctx, s, ns);
	return 0;
}

int fault_check(struct bench_ctx *ctx, void *state)
{
	struct fault_state *s = state;

	if (s->faults_on_touch == 0)
		bench_null(ctx, M_FAULT_NS, "the touches took no fault");
	if (s->strayed_to >= 0)
		return bench_invalid(ctx, "a thread ran on CPU %jd, which is not its own",
				     (intmax_t)s->strayed_to);
	return new_segment(ctx, s) != 0 ? 1 : fault_prove(ctx, s);
}

void fault_teardown(struct bench_ctx *ctx, void *state)
{
	struct fault_state *s = state;

	(void)ctx;
	team_end(s->team);
	if (s->spec.kind == FAULT_SHM && s->spec.bytes && s->spec.fd >= 0)
		close(s->spec.fd);
	if (s->spec.bytes)
		tempfile_done(&s->file);
	free(s->parts);
	free(s->list);
}
