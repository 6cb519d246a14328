/* SPDX-License-Identifier: MIT */
/*
 * fork.cow - the storm of copy-on-write faults after a fork.
 *
 * Measures:  the parent's writes to memory that it shares with a living child, one to each page.
 * Excludes:  the fork itself (fork.call).
 * Trust:     as many faults as pages; resident size and huge entries by smaps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/perm.h"
#include "bench/fork_memory.h"
#include "host/clock.h"
#include "host/counters.h"

/* Faults per page below which evidence is contrary. */
static const double MOSTLY = 0.95;

static const char *const order_words[] = { "random", "sequential", NULL };

struct state {
	struct fork_memory memory;
	bool random;
	uint64_t step; /* between two writes */
	float *each;   /* owned: ns of each write */
	size_t cap;
	int64_t faults, writes; /* of all repetitions of the point */
};

enum { M_WRITE_NS, M_P99_NS, M_STORM_NS, M_FAULTS };
static const struct metric metrics[] = {
	[M_WRITE_NS] = { "write_ns", "median write to a shared page", "ns", BETTER_LOWER, EST_MIN,
			 FORM_SAMPLES },
	[M_P99_NS] = { "p99_ns", "99th percentile of the writes", "ns", BETTER_LOWER, EST_MEDIAN,
		       FORM_SAMPLES },
	[M_STORM_NS] = { "storm_ns", "all writes", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_FAULTS] = { "faults", "page faults, per write", "faults", BETTER_LOWER, EST_MEDIAN,
		       FORM_COUNT },
	{ .name = NULL },
};

static const struct param params[] = {
	FORK_PARAMS("memory that parent and child share"),
	{ .name = "order",
	  .summary = "order of the writes",
	  .type = PARAM_CHOICE,
	  .def = "random",
	  .choices = order_words },
	{ .name = NULL },
};

static const char description[] =
	"After a fork, parent and child share all anonymous pages, write-protected. The first\n"
	"write to each faults and copies it, as long as the other process lives: a database\n"
	"that takes a snapshot by fork pays this on its write path. The child does nothing; the\n"
	"parent writes once to every base page. write_ns is the median of these writes, p99_ns\n"
	"what one in a hundred exceeds, storm_ns all of them.\n"
	"\n"
	"page=thp: the first write to a shared huge page splits its mapping into small ones;\n"
	"each write then copies a small page, so the storm has as many faults, and the writer\n"
	"has lost the huge page. page=hugetlb: a write copies the whole huge page; one write\n"
	"goes to each.\n"
	"Each write is timed by itself: some 20 to 50 ns of it are the clock.";

static const char *const examples[] = {
	"pagetoll run fork.cow",
	"pagetoll run fork.cow page=base,thp resident=256m",
	NULL,
};

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	(void)m;
	(void)s;
	(void)ret_note;
	(void)note_bytes;
	return fork_memory_grid(ret_values, UINT64_C(256) << 20, e);
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	int result = fork_memory_cost(m, s, max_inner, 2, ret_cost, e);

	if (result == 0)
		ret_cost->seconds = 3 * 2e-6 * (double)(max_inner / m->page_bytes);
	return result;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	fork_memory_init(&s->memory, ctx);
	s->random = strcmp(bench_text(ctx, "order"), "random") == 0;
	s->step = bench_page_kind(ctx) == PAGE_KIND_HUGETLB ? s->memory.page_bytes
							    : (uint64_t)sysconf(_SC_PAGESIZE);
	s->cap = bench_max_inner(ctx) / s->step + s->memory.page_bytes / s->step + 1;
	s->each = malloc(s->cap * sizeof(*s->each));
	if (!s->each)
		return bench_fail(ctx, ENOMEM, "no memory for %zu times", s->cap);
	memset(s->each, 0, s->cap * sizeof(*s->each)); /* its faults belong to nobody's write */
	return 0;
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	s->faults = s->writes = 0;
	return fork_memory_make(ctx, &s->memory, bench_u64(ctx, "resident"));
}

static int compare_float(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

static void storm(struct bench_ctx *ctx, struct state *s, size_t n)
{
	struct thread_counts before, after;
	int64_t start, last;
	struct perm order;

	perm_init(&order, n, bench_seed(ctx));
	counters_thread(&before);
	start = last = clock_now_ns();
	for (size_t i = 0; i < n; i++) {
		uint64_t page = s->random ? perm_at(&order, i) : i;
		int64_t now;

		*(volatile char *)(s->memory.base + page * s->step) = 1;
		now = clock_now_ns();
		s->each[i] = (float)(now - last);
		last = now;
	}
	counters_thread(&after);
	s->faults += after.minor_faults - before.minor_faults;
	s->writes += (int64_t)n;
	qsort(s->each, n, sizeof(*s->each), compare_float);
	bench_value(ctx, M_STORM_NS, (double)(last - start));
	bench_value(ctx, M_WRITE_NS, (double)s->each[n / 2]);
	bench_value(ctx, M_P99_NS, (double)s->each[n - 1 - n / 100]);
	bench_count(ctx, M_FAULTS, after.minor_faults - before.minor_faults, (int64_t)n);
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	struct fork_child c;
	int64_t unused;
	int ends[2];

	if (fork_child_pipes(ctx, &c, ends) != 0)
		return 1;
	c.pid = fork();
	if (c.pid == 0)
		fork_child_wait(ends, 0);
	if (fork_child_greet(ctx, &c, ends, &unused) != 0)
		return 1;
	storm(ctx, s, s->memory.bytes / s->step);
	fork_child_end(&c);
	return 0;
}

static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	bench_proof_int(ctx, "faults", s->faults);
	bench_proof_int(ctx, "writes", s->writes);
	if ((double)s->faults < MOSTLY * (double)s->writes)
		return bench_invalid(ctx,
				     "%jd faults for %jd writes: pages were copied together, or "
				     "not shared",
				     (intmax_t)s->faults, (intmax_t)s->writes);
	/* The storm itself splits huge pages, so what they were is asked of memory made anew. */
	if (fork_memory_make(ctx, &s->memory, s->memory.bytes) != 0)
		return 1;
	return fork_memory_prove(ctx, &s->memory);
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	(void)ctx;
	fork_memory_done(&s->memory);
	free(s->each);
}

const struct bench bench_fork_cow = {
	.schema = { .name = "fork.cow",
		    .summary = "copy-on-write faults after a fork",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "resident=1m",
	.faults_are_measured = true,
	.state_size = sizeof(struct state),
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.prepare = prepare,
	.sample = sample,
	.check = check,
	.teardown = teardown,
};
