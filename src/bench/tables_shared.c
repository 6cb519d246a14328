/* SPDX-License-Identifier: MIT */
/*
 * tables.shared - what mapping one shared segment costs each process.
 *
 * Measures:  page tables of processes that map one segment, the time of their first touch of every
 *            page, and of their exit.
 * Excludes:  filling the segment, starting the processes, mapping it.
 * Trust:     VmPTE, resident size, huge entries and fault counts are each process's own, read by
 * the kernel's other interfaces; what geometry predicts stands beside what was measured. Source:
 * the case of page tables that take more memory than the data that they map: H. Dickins and D.
 * McCracken, shared page tables, 2002 to 2006; mshare(), 2022 on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "access/tables.h"
#include "bench/bench.h"
#include "bench/shared_huge.h"
#include "host/clock.h"
#include "host/counters.h"
#include "host/sysroot.h"
#include "mem/proof.h"
#include "mem/segment.h"

enum { VMPTE_LEVELS = 3 }; /* leaf, PMD and PUD tables are what the kernel counts */
/* Shares of the segment below which evidence is contrary. */
static const double MOSTLY = 0.95;

/* What a process tells of itself once it has touched every page. */
struct told {
	int64_t touch_ns;
	int64_t faults;
	int64_t table_bytes; /* growth of VmPTE; -1: unknown */
	struct proof_pages pages;
	int pages_error;
	int code; /* negative errno that ended it early, 0: none */
	char reason[200];
};

struct state {
	struct segment segment;
	bool write;
	/* of the point's last repetition, for check() */
	struct told last;
	int64_t table_bytes;  /* of all processes; -1: unknown */
	int64_t system_bytes; /* growth of the kernel's own total meanwhile; -1: unknown */
};

enum { M_TOUCH_PAGE_NS, M_TABLES, M_EXIT_NS, M_FAULTS, M_TOUCH_NS, M_PROCESS_TABLES, M_PREDICTED };
static const struct metric metrics[] = {
	[M_TOUCH_PAGE_NS] = { "touch_page_ns",
			      "first touch of a page that the segment has, per page", "ns",
			      BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_TABLES] = { "table_bytes", "page tables for the segment, all processes (VmPTE)", "bytes",
		       BETTER_LOWER, EST_MEDIAN, FORM_EXACT },
	[M_EXIT_NS] = { "exit_ns", "end of one process, from its wake-up until it is gone", "ns",
			BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_FAULTS] = { "faults", "page faults of the touches, per page", "faults", BETTER_LOWER,
		       EST_MEDIAN, FORM_COUNT },
	[M_TOUCH_NS] = { "touch_ns", "first touch of the whole segment by one process", "ns",
			 BETTER_NONE, EST_MIN, FORM_SAMPLES },
	[M_PROCESS_TABLES] = { "process_table_bytes", "page tables for the segment in one process",
			       "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	[M_PREDICTED] = { "predicted_table_bytes",
			  "page tables that geometry predicts, all processes", "bytes", BETTER_NONE,
			  EST_MEDIAN, FORM_EXACT },
	{ .name = NULL },
};

static const char *const access_words[] = { "read", "write", NULL };

static const struct param params[] = {
	{ .name = "processes",
	  .summary = "processes that map the segment at the same time",
	  .type = PARAM_COUNT,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 1,
	  .max = 32768 },
	{ .name = "segment",
	  .summary = "size of the segment",
	  .type = PARAM_BYTES,
	  .def = "256m",
	  .min = 4096,
	  .max = UINT64_C(1) << 46 },
	{ .name = "page", .summary = "pages of the segment", .type = PARAM_PAGE, .def = "base" },
	{ .name = "access",
	  .summary = "first touch of each page",
	  .type = PARAM_CHOICE,
	  .def = "read",
	  .choices = access_words },
	{ .name = NULL },
};

static const char description[] =
	"Processes map one shared segment (a memfd), touch every page of it one process after\n"
	"the other, and end. The segment is filled beforehand, so what is seen is the mapping:\n"
	"each process has page tables of its own for the same memory, about 1/512 of the\n"
	"segment with 4 KiB pages. A database with 500 connections on 8000 MiB of shared\n"
	"buffers spends 7.63 GiB on them; huge pages, or page tables that processes share,\n"
	"take that away.\n"
	"\n"
	"access=read maps several pages a fault (fault-around, 64 KiB by default);\n"
	"access=write takes a fault for each. page=thp needs shmem_enabled=advise or always\n"
	"(/sys/kernel/mm/transparent_hugepage). page=hugetlb: the kernel itself shares the\n"
	"tables of whole GiB between processes where the architecture has that; VmPTE counts\n"
	"a shared table in every process, the machine's own total (proof system_table_bytes)\n"
	"counts it once.\n"
	"\n"
	"predicted_table_bytes is geometry alone: leaf, PMD and PUD tables under the segment.\n"
	"Not shown: the tables of the processes' other mappings, and what filling costs.";

static const char *const examples[] = {
	"pagetoll run tables.shared",
	"pagetoll run tables.shared segment=256m,4g processes=1,8",
	"pagetoll run tables.shared page=base,hugetlb access=write",
	NULL,
};

/* --- parent side ------------------------------------------------------------------------------ */

static uint64_t setting_bytes(const struct bench_setting *s, const char *name)
{
	return (uint64_t)attrs_int(&s->given, name, 0);
}

/* Tables that the kernel counts in one process; the table above the highest it has already. */
static uint64_t predicted_bytes(uint64_t base, uint64_t page, uint64_t segment)
{
	struct table_count c = tables_under(base, VMPTE_LEVELS, page, 0, segment);

	c.pages[VMPTE_LEVELS - 1]--;
	return tables_bytes(&c, base, VMPTE_LEVELS);
}

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	int result = 0;

	(void)m;
	(void)s;
	(void)ret_note;
	(void)note_bytes;
	for (uint64_t n = 1; n <= 16 && result == 0; n *= 2)
		result = u64_array_add(ret_values, n);
	return result < 0 ? err_set(e, -result, "no memory for the grid") : 0;
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	const struct page_size *p = machine_page(m, attrs_text(&s->given, "page", ""));
	uint64_t segment = setting_bytes(s, "segment");
	char size[UNITS_TEXT_BYTES], page[UNITS_TEXT_BYTES];

	if (p && p->kind == PAGE_KIND_MTHP)
		return err_set(e, EINVAL,
			       "page=%s: a shared segment has base, thp or hugetlb pages", p->name);
	if (p && segment % p->bytes)
		return err_set(e, EINVAL,
			       "segment=%s is no whole number of pages of %s; take a multiple",
			       format_size(size, segment), format_size(page, p->bytes));
	*ret_cost = (struct bench_cost){
		.arena_bytes = segment,
		.table_bytes =
			(max_inner + 1) *
			predicted_bytes(m->page_bytes, p ? p->bytes : m->page_bytes, segment),
		.faults = segment / m->page_bytes,
		.processes = max_inner,
		/* touching and ending: some 0.2 us a page */
		.seconds = (double)max_inner * (2e-3 + (double)(segment / m->page_bytes) * 3e-7),
	};
	return 0;
}

/* --- one process ------------------------------------------------------------------------------ */

static void touch(char *base, uint64_t bytes, uint64_t step, bool write)
{
	/* volatile: each access must happen, though nobody uses its value */
	for (uint64_t at = 0; at < bytes; at += step) {
		if (write)
			*(volatile char *)(base + at) = 1;
		else
			(void)*(volatile const char *)(base + at);
	}
}

static void measure_self(const struct state *s, struct told *t)
{
	struct region as_region = { 0 };
	struct thread_counts before, after;
	struct segment_map map;
	struct err e = { 0 };
	int64_t tables = proof_table_bytes(), start;

	t->code = segment_map(&s->segment, &map, &e);
	if (t->code < 0) {
		snprintf(t->reason, sizeof(t->reason), "%.*s", (int)sizeof(t->reason) - 1, e.msg);
		return;
	}
	counters_thread(&before);
	start = clock_now_ns();
	touch(map.base, s->segment.bytes, s->segment.page_bytes, s->write);
	t->touch_ns = clock_now_ns() - start;
	counters_thread(&after);
	t->faults = after.minor_faults - before.minor_faults;
	t->table_bytes = proof_table_bytes();
	if (tables < 0 || t->table_bytes < 0)
		t->table_bytes = -1;
	else
		t->table_bytes -= tables;
	as_region.base = map.base;
	as_region.spec.span_bytes = s->segment.bytes;
	t->pages_error = proof_pages(&as_region, &t->pages, NULL);
}

/* Tells, then waits to be told to end. */
__attribute__((noreturn)) static void process(const struct state *s, int tell, int go)
{
	struct told t = { 0 };
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	measure_self(s, &t);
	if (write(tell, &t, sizeof(t)) == (ssize_t)sizeof(t))
		while (read(go, &c, 1) < 0 && errno == EINTR)
			;
	_exit(0);
}

struct child {
	pid_t pid; /* 0: none */
	int go;    /* end of a pipe that it reads */
};

static int start_child(struct bench_ctx *ctx, const struct state *s, struct child *c,
		       struct told *ret)
{
	int tell[2], go[2], code;
	ssize_t n;

	if (pipe(tell) < 0)
		return bench_fail(ctx, errno, "a pipe for a process");
	if (pipe(go) < 0) {
		code = errno;
		close(tell[0]);
		close(tell[1]);
		return bench_fail(ctx, code, "a pipe for a process (see ulimit -n)");
	}
	c->pid = fork();
	code = errno;
	if (c->pid == 0) {
		close(tell[0]);
		close(go[1]);
		process(s, tell[1], go[0]);
	}
	close(tell[1]);
	close(go[0]);
	c->go = go[1];
	if (c->pid < 0) {
		c->pid = 0;
		close(tell[0]);
		close(go[1]);
		return bench_fail(ctx, code,
				  "starting a process (see ulimit -u and pids.max of the control "
				  "group)");
	}
	do
		n = read(tell[0], ret, sizeof(*ret));
	while (n < 0 && errno == EINTR);
	close(tell[0]);
	if (n != (ssize_t)sizeof(*ret))
		return bench_fail(ctx, 0,
				  "a process ended while it touched the segment (memory "
				  "limit?)");
	if (ret->code < 0)
		return bench_fail(ctx, -ret->code, "%s", ret->reason);
	return 0;
}

/* Ends the process; returns the time until it was gone. */
static int64_t end_child(struct child *c)
{
	int64_t start = clock_now_ns(), ns;

	/* a byte, not the pipe's end: processes started later hold that open, too */
	if (write(c->go, "e", 1) != 1)
		kill(c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	ns = clock_now_ns() - start;
	close(c->go);
	c->pid = 0;
	return ns;
}

/* --- worker side ------------------------------------------------------------------------------ */

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	enum page_kind kind = bench_page_kind(ctx);
	struct err e = { 0 };

	s->segment = SEGMENT_NONE;
	s->write = strcmp(bench_text(ctx, "access"), "write") == 0;
	if (bench_skip_without_shared_huge(ctx) != 0)
		return 1;
	if (segment_create(kind, bench_u64(ctx, "page.bytes"), bench_u64(ctx, "segment"),
			   &s->segment, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	bench_proof_int(ctx, "segment_bytes", (int64_t)s->segment.bytes);
	return 0;
}

static int64_t system_table_bytes(void)
{
	struct sysroot sr;
	uint64_t bytes;

	if (sysroot_init(&sr, NULL, NULL) < 0 ||
	    sysroot_read_key(&sr, "proc/meminfo", "PageTables", &bytes, NULL) < 0)
		return -1;
	return (int64_t)bytes;
}

static void note_child(struct bench_ctx *ctx, struct state *s, const struct told *t)
{
	uint64_t pages = s->segment.bytes / s->segment.page_bytes;

	bench_value(ctx, M_TOUCH_NS, (double)t->touch_ns);
	bench_value(ctx, M_TOUCH_PAGE_NS, (double)t->touch_ns / (double)pages);
	bench_count(ctx, M_FAULTS, t->faults, (int64_t)pages);
	if (t->table_bytes < 0 || s->table_bytes < 0)
		s->table_bytes = -1;
	else
		s->table_bytes += t->table_bytes;
	s->last = *t;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	uint64_t n = bench_u64(ctx, "processes"), started = 0;
	struct child *children = calloc(n, sizeof(*children));
	int64_t before = system_table_bytes(), after;
	struct told told;
	int result = 0;

	if (!children)
		return bench_fail(ctx, ENOMEM, "no memory for %ju processes", (uintmax_t)n);
	s->table_bytes = 0;
	while (started < n && result == 0) {
		result = start_child(ctx, s, &children[started], &told);
		started += children[started].pid > 0;
		if (result == 0)
			note_child(ctx, s, &told);
	}
	after = system_table_bytes();
	s->system_bytes = before < 0 || after < 0 ? -1 : after - before;
	for (uint64_t i = 0; i < started; i++) {
		int64_t ns = end_child(&children[i]);

		if (result == 0)
			bench_value(ctx, M_EXIT_NS, (double)ns);
	}
	free(children);
	return result;
}

static void report_tables(struct bench_ctx *ctx, const struct state *s, uint64_t n)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t each = predicted_bytes(base, s->segment.page_bytes, s->segment.bytes);

	bench_exact(ctx, M_PREDICTED, (int64_t)(n * each));
	if (s->system_bytes >= 0)
		bench_proof_int(ctx, "system_table_bytes", s->system_bytes);
	if (s->table_bytes < 0) {
		bench_null(ctx, M_TABLES, "VmPTE cannot be read");
		bench_null(ctx, M_PROCESS_TABLES, "VmPTE cannot be read");
		return;
	}
	bench_exact(ctx, M_TABLES, s->table_bytes);
	bench_exact(ctx, M_PROCESS_TABLES, s->table_bytes / (int64_t)n);
}

static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	const struct proof_pages *p = &s->last.pages;
	double bytes = (double)s->segment.bytes;
	bool huge = s->segment.kind != PAGE_KIND_BASE;

	report_tables(ctx, s, bench_u64(ctx, "processes"));
	if (s->last.pages_error < 0) {
		bench_unproven(ctx, "what is mapped: smaps cannot be read (%s)",
			       strerror(-s->last.pages_error));
		return 0;
	}
	bench_proof_int(ctx, "rss_bytes", p->rss_bytes);
	bench_proof_int(ctx, "huge_bytes", p->huge_bytes);
	if (s->segment.kind != PAGE_KIND_HUGETLB && (double)p->rss_bytes < MOSTLY * bytes)
		return bench_invalid(ctx, "only %jd of %ju bytes are mapped after the touches",
				     (intmax_t)p->rss_bytes, (uintmax_t)s->segment.bytes);
	if (huge && (double)p->huge_bytes < MOSTLY * bytes)
		return bench_invalid(ctx, "only %jd of %ju bytes are mapped by huge entries",
				     (intmax_t)p->huge_bytes, (uintmax_t)s->segment.bytes);
	if (!huge && p->huge_bytes > 0)
		return bench_invalid(ctx,
				     "%jd bytes are mapped by huge entries, small ones were "
				     "asked for",
				     (intmax_t)p->huge_bytes);
	return 0;
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	(void)ctx;
	if (s->segment.bytes)
		segment_done(&s->segment);
}

const struct bench bench_tables_shared = {
	.schema = { .name = "tables.shared",
		    .summary = "page tables of processes that map one segment",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "segment=4m processes=1,2",
	.faults_are_measured = true,
	.state_size = sizeof(struct state),
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.sample = sample,
	.check = check,
	.teardown = teardown,
};
