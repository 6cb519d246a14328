/* SPDX-License-Identifier: MIT */
/*
 * The harness: points in shuffled order, repetitions with a calibrated clock, taints, verdicts.
 * Leaves out process handling and the pipe (run/worker.c).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/rng.h"
#include "bench/ctx_state.h"
#include "host/clock.h"
#include "mem/chase_loops.h"

enum { CALIBRATION_ADDS = 32768 }; /* about 10 us */
enum { MIN_SAMPLES = 3 };
/*
 * Repetitions and calibrations take from 10 us on: a clock with longer steps tells nothing. Kernels
 * without a usable counter have one that moves with the timer interrupt (clock source jiffies).
 */
static const double MAX_STEP_NS = 1000;
/* No counter that a processor has of its own is coarser. */
static const double COARSE_STEP_NS = 100;
/* Repetitions this uneven (lower quartile over minimum) get as much time again. */
static const double UNEVEN = 1.3;

/* --- one point --- */

static void reset_point(struct bench_ctx *ctx)
{
	arena_done(&ctx->arena);
	memset(&ctx->proof, 0, sizeof(ctx->proof));
	memset(&ctx->taints, 0, sizeof(ctx->taints));
	for (size_t i = 0; i < ctx->n_metrics; i++) {
		ctx->values[i].n = 0;
		ctx->values[i].has_exact = false;
		ctx->values[i].has_count = false;
		ctx->values[i].events = ctx->values[i].exposure = 0;
		ctx->values[i].null_reason = NULL;
	}
	ctx->n_timed = 0;
	ctx->enough = false;
	ctx->ran_on = ctx->wanted_cpu;
	ctx->verdict = VERDICT_OK;
	ctx->reason[0] = '\0';
	memcpy(ctx->unproven, ctx->setup_unproven, sizeof(ctx->unproven));
	if (attrs_copy(&ctx->arena, &ctx->proof, &ctx->setup_proof) < 0)
		ctx->out_of_memory = true;
}

static void count_disturbances(struct bench_ctx *ctx, const struct thread_counts *before)
{
	struct thread_counts after;

	counters_thread(&after);
	bench_taint(ctx, "involuntary_switches",
		    after.involuntary_switches - before->involuntary_switches);
	if (!ctx->spec->bench->faults_are_measured)
		bench_taint(ctx, "page_faults_in_timed_region",
			    after.minor_faults - before->minor_faults + after.major_faults -
				    before->major_faults);
	bench_taint(ctx, "cpu_changes", after.cpu != before->cpu);
	if (ctx->wanted_cpu >= 0 && before->cpu != ctx->wanted_cpu)
		ctx->ran_on = before->cpu;
	if (ctx->wanted_cpu >= 0 && after.cpu != ctx->wanted_cpu)
		ctx->ran_on = after.cpu;
}

/* One repetition between two calibrations of the core clock. */
static int one_sample(struct bench_ctx *ctx, void *state)
{
	const struct bench *b = ctx->spec->bench;
	size_t first_timed = ctx->n_timed;
	struct thread_counts before;
	double first = clock_add_ns(loop_adds, CALIBRATION_ADDS), second;
	int result;

	ctx_reserve(ctx);
	counters_thread(&before);
	result = b->sample(ctx, state);
	count_disturbances(ctx, &before);
	if (result != 0)
		return result;
	second = clock_add_ns(loop_adds, CALIBRATION_ADDS);
	second = first < second ? first : second;
	if (ctx->add_metric >= 0)
		bench_value(ctx, ctx->add_metric, second);
	for (size_t i = first_timed; i < ctx->n_timed; i++)
		ctx->timed[i].add_ns = second;
	return ctx->out_of_memory ? bench_fail(ctx, ENOMEM, "no memory for samples") : 0;
}

/*
 * Cycles of the point's repetitions, all by the point's fastest calibration. A calibration that
 * something interrupted makes an addition too long and cycles too few; and the clock does not
 * change much within the second that a point takes, but if it does, the fastest repetition and the
 * fastest calibration belong together.
 */
static void add_cycles(struct bench_ctx *ctx)
{
	double fastest = INFINITY;

	for (size_t i = 0; i < ctx->n_timed; i++)
		fastest = fmin(fastest, ctx->timed[i].add_ns);
	for (size_t i = 0; i < ctx->n_timed; i++)
		bench_value(ctx, ctx->timed[i].metric, ctx->timed[i].ns / fastest);
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The headline metric's lower quartile lies far above its minimum: most repetitions were disturbed.
 */
static bool is_uneven(const struct bench_ctx *ctx)
{
	const struct metric_values *v = &ctx->values[0];
	double *sorted;
	bool uneven = false;

	if (v->n < MIN_SAMPLES)
		return false;
	sorted = malloc(v->n * sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, v->samples, v->n * sizeof(*sorted));
	qsort(sorted, v->n, sizeof(*sorted), compare_double);
	uneven = sorted[v->n / 4] > UNEVEN * sorted[0];
	free(sorted);
	return uneven;
}

static int sample_point(struct bench_ctx *ctx, void *state)
{
	const struct invocation_spec *s = ctx->spec;
	const int64_t start = clock_now_ns();
	const double cap_ns = s->point_seconds * 1e9;
	unsigned wanted = s->samples, done = 0;
	double limit = cap_ns;

	while (done < wanted) {
		int result = one_sample(ctx, state);
		double spent = (double)(clock_now_ns() - start);

		if (result != 0)
			return result;
		done++;
		if (ctx->enough || (spent > limit && done >= MIN_SAMPLES))
			break;
		if (done == s->samples && is_uneven(ctx)) {
			wanted = 2 * s->samples;
			limit = 2 * cap_ns;
		}
	}
	return 0;
}

static void host_taints(struct bench_ctx *ctx, const struct host_counts *before)
{
	struct host_counts after;

	counters_host(&ctx->counters, &after);
	if (before->steal_ticks >= 0 && after.steal_ticks > before->steal_ticks)
		bench_taint(ctx, "steal_ticks", after.steal_ticks - before->steal_ticks);
	if (before->throttled >= 0 && after.throttled > before->throttled)
		bench_taint(ctx, "throttled_periods", after.throttled - before->throttled);
	if (before->numa_pages_migrated >= 0 &&
	    after.numa_pages_migrated > before->numa_pages_migrated)
		bench_taint(ctx, "numa_pages_migrated",
			    after.numa_pages_migrated - before->numa_pages_migrated);
}

/* Memory beside what is measured must stay small: the largest resident size of this process so far.
 */
static void prove_worker_size(struct bench_ctx *ctx)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) == 0)
		bench_proof_int(ctx, "worker_peak_bytes", (int64_t)u.ru_maxrss * 1024);
}

/* Where it ran, by the CPU's own word around every repetition. */
static int prove_cpu(struct bench_ctx *ctx)
{
	if (ctx->wanted_cpu < 0)
		return 0;
	bench_proof_int(ctx, "cpu", ctx->ran_on);
	if (ctx->ran_on != ctx->wanted_cpu)
		return bench_invalid(ctx, "ran on CPU %jd, CPU %jd was asked for",
				     (intmax_t)ctx->ran_on, (intmax_t)ctx->wanted_cpu);
	return 0;
}

/*
 * Where the clock's steps are longer than what was timed, a time of nothing or less is no time: the
 * metric is missing when such times decide what it says, and the point ends when it is the
 * headline.
 */
static void drop_below_step(struct bench_ctx *ctx)
{
	const struct metric *m = ctx->spec->bench->schema.metrics;

	if (ctx->clock_step_ns < COARSE_STEP_NS)
		return;
	snprintf(ctx->below_step, sizeof(ctx->below_step),
		 "shorter than the clock's steps of %.0f ns", ctx->clock_step_ns);
	for (size_t i = 0; i < ctx->n_metrics; i++) {
		struct metric_values *v = &ctx->values[i];
		size_t n_below = 0;

		for (size_t k = 0; k < v->n && !strcmp(m[i].unit, "ns"); k++)
			n_below += v->samples[k] <= 0;
		if (m[i].estimator == EST_MIN ? !n_below : 2 * n_below <= v->n)
			continue;
		v->n = 0;
		bench_null(ctx, (int)i, ctx->below_step);
		if (i == 0)
			bench_skip(ctx, "%s is %s", m[i].name, ctx->below_step);
	}
}

static void measure_point(struct bench_ctx *ctx, void *state)
{
	const struct bench *b = ctx->spec->bench;
	struct host_counts before;

	if (b->prepare && b->prepare(ctx, state) != 0)
		return;
	counters_host(&ctx->counters, &before);
	if (sample_point(ctx, state) != 0)
		return;
	add_cycles(ctx);
	host_taints(ctx, &before);
	prove_worker_size(ctx);
	if (b->check)
		b->check(ctx, state);
	drop_below_step(ctx);
	prove_cpu(ctx);
}

static int emit_point(struct bench_ctx *ctx, bool has_inner, int64_t start_unix_ns,
		      int64_t duration_ns, int (*emit)(void *, const struct bench_result *),
		      void *user)
{
	struct bench_result r = {
		.inner_value = ctx->inner_value,
		.has_inner = has_inner,
		.verdict = (int)ctx->verdict,
		.reason = ctx->verdict == VERDICT_OK ? NULL : ctx->reason,
		.unproven = ctx->unproven[0] ? ctx->unproven : NULL,
		.proof = ctx->proof,
		.taints = ctx->taints,
		.metrics = ctx->spec->bench->schema.metrics,
		.values = ctx->values,
		.n_metrics = ctx->n_metrics,
		.start_unix_ns = start_unix_ns,
		.duration_ns = duration_ns,
	};

	return emit(user, &r);
}

/* --- one invocation --- */

static int run_points(struct bench_ctx *ctx, void *state, const uint64_t *order,
		      int (*emit)(void *, const struct bench_result *), void *user)
{
	const struct invocation_spec *s = ctx->spec;
	size_t n = s->inner ? s->n_inner : 1;

	for (size_t i = 0; i < n; i++) {
		int64_t unix_ns = clock_unix_ns(), start = clock_now_ns();
		int result;

		ctx->inner_value = s->inner ? order[i] : 0;
		ctx->seed = rng_mix64(
			s->seed ^ rng_mix64(ctx->inner_value + ((uint64_t)s->invocation << 48)));
		reset_point(ctx);
		measure_point(ctx, state);
		result = emit_point(ctx, s->inner != NULL, unix_ns, clock_now_ns() - start, emit,
				    user);
		if (result < 0)
			return result;
	}
	return 0;
}

static int start_ctx(struct bench_ctx *ctx, const struct invocation_spec *spec)
{
	const struct metric *m = spec->bench->schema.metrics;
	struct sysroot live;

	memset(ctx, 0, sizeof(*ctx));
	ctx->spec = spec;
	ctx->add_metric = -1;
	ctx->wanted_cpu = attrs_int(&spec->setting.resolved, "cpu.id", -1);
	for (; m[ctx->n_metrics].name; ctx->n_metrics++)
		if (strcmp(m[ctx->n_metrics].name, "add_ns") == 0)
			ctx->add_metric = (int)ctx->n_metrics;
	ctx->values = calloc(ctx->n_metrics, sizeof(*ctx->values));
	if (!ctx->values)
		return -ENOMEM;
	for (size_t i = 0; i < spec->n_inner; i++)
		if (spec->inner_values[i] > ctx->max_inner)
			ctx->max_inner = spec->inner_values[i];
	ctx->seed = rng_mix64(spec->seed ^ rng_mix64((uint64_t)spec->invocation << 48));
	if (sysroot_init(&live, NULL, NULL) < 0)
		return -ENOENT;
	counters_init(&ctx->counters, &live);
	return 0;
}

static void end_ctx(struct bench_ctx *ctx)
{
	for (size_t i = 0; ctx->values && i < ctx->n_metrics; i++)
		free(ctx->values[i].samples);
	free(ctx->values);
	free(ctx->timed);
	arena_done(&ctx->arena);
	arena_done(&ctx->setup_arena);
}

/* Nonzero: ended the invocation, for nothing can be timed here. */
static int check_clock(struct bench_ctx *ctx)
{
	double step = clock_step_ns();

	ctx->clock_step_ns = step;
	if (step <= MAX_STEP_NS)
		return 0;
	if (isinf(step))
		return bench_skip(ctx, "the clock stands still: nothing can be timed");
	return bench_skip(ctx,
			  "the clock moves in steps of %.0f us, too coarse for anything here: "
			  "choose another clock source (/sys/devices/system/clocksource/"
			  "clocksource0)",
			  step / 1000);
}

int bench_run_invocation(const struct invocation_spec *spec,
			 int (*emit)(void *user, const struct bench_result *r), void *user,
			 struct err *e)
{
	struct bench_ctx ctx;
	void *state = calloc(1, spec->bench->state_size ? spec->bench->state_size : 1);
	uint64_t *order = calloc(spec->n_inner ? spec->n_inner : 1, sizeof(*order));
	int result = start_ctx(&ctx, spec);
	struct rng shuffle;

	if (!state || !order || result < 0) {
		result = err_set(e, ENOMEM, "no memory to start %s", spec->bench->schema.name);
		goto out;
	}
	if (spec->n_inner)
		memcpy(order, spec->inner_values, spec->n_inner * sizeof(*order));
	rng_seed(&shuffle, ctx.seed);
	rng_shuffle_u64(&shuffle, order, spec->n_inner);

	int64_t unix_ns = clock_unix_ns(), start = clock_now_ns();

	ctx.in_setup = true;
	if (check_clock(&ctx) != 0 ||
	    (spec->bench->setup && spec->bench->setup(&ctx, state) != 0)) {
		ctx.in_setup = false;
		ctx.proof = ctx.setup_proof;
		memcpy(ctx.unproven, ctx.setup_unproven, sizeof(ctx.unproven));
		result = emit_point(&ctx, false, unix_ns, clock_now_ns() - start, emit, user);
	} else {
		ctx.in_setup = false;
		result = run_points(&ctx, state, order, emit, user);
	}
	if (spec->bench->teardown)
		spec->bench->teardown(&ctx, state);
out:
	end_ctx(&ctx);
	free(state);
	free(order);
	return result;
}
