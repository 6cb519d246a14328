/* SPDX-License-Identifier: MIT */
/*
 * Rounds over all settings, each in a new random order, so that slow changes of the machine hit all
 * settings alike; one worker at a time. Decides who runs next and when enough is known; schedule.c
 * has the numbers for it, collect.c the processes.
 */
#include "run/execute.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/rng.h"
#include "host/affinity.h"
#include "run/collect.h"
#include "run/run_settings.h"
#include "run/schedule.h"
#include "run/spawn.h"

enum {
	REFINED_ROUNDS = 2,  /* grids become denser after the first rounds only, so that the new
			      * points still get enough invocations for an interval */
	REFINED_VALUES = 8,  /* at most, each time */
	BAD_INVOCATIONS = 2, /* in a row without one ok point: more will not help */
};

struct execution {
	struct plan *plan;
	struct run *run;
	struct runfile *file;
	const struct run_hooks *hooks;
	const volatile sig_atomic_t *stop;
	const struct execute_limits *limits;
	struct slot *slots; /* owned */
	size_t n;           /* as many as the plan has settings; skipped ones are ended */
	struct slot *now;   /* in work */
	size_t n_lost;      /* invocations that did not end as planned */
	double start;
	unsigned round;
	struct rng rng;
	struct u32_list cpus; /* that this process may use; owned */
};

static int64_t unix_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static bool is_stopped(const struct execution *x)
{
	return x->stop && *x->stop;
}

static double elapsed(const struct execution *x)
{
	return spawn_now() - x->start;
}

/* --- hooks --- */

/* What is still to do at least: every setting up to its minimum, within the budget. */
static double left_seconds(const struct execution *x)
{
	double sum = 0, budget = x->plan->budget_seconds;

	for (size_t i = 0; i < x->n; i++) {
		const struct slot *s = &x->slots[i];
		unsigned min = slot_min(s, x->plan);

		if (!s->ended)
			sum += slot_seconds(s, x->plan) * (s->n < min ? min - s->n : 1);
	}
	if (budget > 0)
		sum = fmin(sum, fmax(budget - elapsed(x), 0));
	return sum;
}

static void tell(const struct execution *x, uint64_t inner)
{
	struct run_status st = {
		.setting = x->now->index + 1,
		.n_settings = x->plan->n,
		.invocation = x->round,
		.planned = x->now->p,
		.inner = inner,
		.elapsed_seconds = elapsed(x),
		.left_seconds = left_seconds(x),
	};

	if (x->hooks && x->hooks->status)
		x->hooks->status(x->hooks->user, &st);
}

static void on_measure(void *user, const struct measure *m)
{
	const struct execution *x = user;
	const char *inner = x->now->p->inner;

	tell(x, inner ? (uint64_t)attrs_int(&m->setting, inner, 0) : 0);
}

static void end_slot(const struct execution *x, struct slot *s, const char *why)
{
	s->ended = true;
	s->why = why;
	if (x->hooks && x->hooks->setting_done)
		x->hooks->setting_done(x->hooks->user, s->p, s->n, why);
}

/* --- one invocation --- */

/*
 * Every setting is promised one invocation, and a plan may err; but when the budget is exceeded by
 * so much, the invocation under way is cut short, and settings that were not reached say so.
 */
static double hard_end(const struct execution *x)
{
	double budget = x->plan->budget_seconds;

	return budget > 0 ? x->start + budget + fmax(5, 0.15 * budget) : 0;
}

static struct collect_job make_job(struct execution *x, struct slot *s)
{
	struct planned *p = s->p;
	double silence =
		x->limits->silence_seconds + x->limits->silence_factor * slot_seconds(s, x->plan);

	return (struct collect_job){
		.run = x->run,
		.file = x->file,
		.spec = {
			.bench = p->bench,
			.setting = p->setting,
			.inner = p->inner,
			.inner_values = p->grid.v,
			.n_inner = p->inner ? p->grid.n : 0,
			.invocation = s->n,
			.seed = x->plan->seed,
			.samples = p->samples,
			.point_seconds = x->plan->preset->point_seconds,
		},
		.silence_seconds = silence,
		.grace_seconds = x->limits->grace_seconds,
		.stop = x->stop,
		.end = hard_end(x),
		.measured = on_measure,
		.user = x,
	};
}

static const char *describe(struct execution *x, const char *what, const char *reason)
{
	const char *text = arena_printf(&x->run->arena, "%s: %s", what, reason ? reason : "?");

	return text ? text : what;
}

/* After an invocation: whether this setting is at its end, and why. */
static void judge(struct execution *x, struct slot *s, const struct collect_result *res)
{
	if (res->skipped)
		end_slot(x, s, describe(x, "cannot be measured here", res->reason));
	else if (s->bad_streak >= BAD_INVOCATIONS)
		end_slot(x, s, describe(x, "failed again and again", res->reason));
	else if (s->n >= slot_min(s, x->plan) && s->n < s->p->max_invocations &&
		 slot_width(s, x->run) <= x->plan->preset->interval_target)
		end_slot(x, s, "interval target met");
	else if (s->n >= s->p->max_invocations)
		end_slot(x, s,
			 slot_width(s, x->run) <= x->plan->preset->interval_target
				 ? "interval target met"
				 : "invocation limit");
}

/* Whether the worker of these measures ended before its time, or failed at a point. */
static bool any_lost(const struct run *r, size_t first)
{
	for (size_t i = first; i < r->n_measures; i++)
		if (r->measures[i].verdict == VERDICT_KILLED ||
		    r->measures[i].verdict == VERDICT_TIMEOUT ||
		    r->measures[i].verdict == VERDICT_FAILED)
			return true;
	return false;
}

/* Kernel settings of this setting's parameters; where they cannot be had it is skipped. */
static int enter_settings(struct execution *x, struct slot *s, bool *ret_entered, struct err *e)
{
	struct collect_job job = make_job(x, s);
	struct err why = { 0 };
	int r = run_settings_enter(x->hooks ? x->hooks->settings : NULL,
				   x->hooks ? x->hooks->no_settings : NULL, s->p, &why);

	*ret_entered = r == 0;
	if (r == 0)
		return 0;
	job.measured = NULL;
	r = collect_skip(&job, why.msg, e);
	if (r < 0)
		return r;
	end_slot(x, s, describe(x, "cannot be measured here", why.msg));
	return 0;
}

static int run_one(struct execution *x, struct slot *s, bool *ret_interrupted, struct err *e)
{
	struct collect_job job = make_job(x, s);
	struct collect_result res = { 0 };
	size_t first = x->run->n_measures;
	bool entered;
	int r;

	x->now = s;
	tell(x, 0);
	r = enter_settings(x, s, &entered, e);
	if (r < 0 || !entered)
		return r;
	affinity_avoid(&x->cpus, spawn_cpu(&job.spec));
	r = collect_invocation(&job, &res, e);
	if (r < 0)
		return r;
	*ret_interrupted = res.interrupted;
	if (res.interrupted)
		return 0;
	if (slot_add(s, first, x->run->n_measures, res.seconds, res.n_ok > 0) < 0)
		return err_set(e, ENOMEM, "out of memory");
	x->n_lost += res.out_of_time || any_lost(x->run, first);
	if (res.out_of_time)
		end_slot(x, s, "time budget");
	else
		judge(x, s, &res);
	return 0;
}

/* --- rounds --- */

static bool would_overrun(const struct execution *x, const struct slot *s)
{
	if (s->n == 0 || !(x->plan->budget_seconds > 0))
		return false;
	return elapsed(x) + slot_seconds(s, x->plan) > x->plan->budget_seconds;
}

/* What the settings that the run is for still need for their fewest invocations. */
static double reserved_seconds(const struct execution *x)
{
	double seconds = 0;

	for (size_t i = 0; i < x->n; i++) {
		const struct slot *s = &x->slots[i];

		if (s->p->first && !s->ended && s->n < slot_min(s, x->plan))
			seconds += (slot_min(s, x->plan) - s->n) * slot_seconds(s, x->plan);
	}
	return seconds;
}

/* Others wait in this round where they would take time that the first settings still need. */
static bool must_wait(const struct execution *x, const struct slot *s)
{
	if (s->p->first || s->n == 0 || !(x->plan->budget_seconds > 0))
		return false;
	return elapsed(x) + slot_seconds(s, x->plan) + reserved_seconds(x) >
	       x->plan->budget_seconds;
}

static int never_reached(struct execution *x, struct slot *s, struct err *e)
{
	struct collect_job job = make_job(x, s);
	int r;

	job.measured = NULL;
	r = collect_skip(&job, "the time budget ended before this setting was reached", e);
	if (r < 0)
		return r;
	x->n_lost++;
	end_slot(x, s, "time budget");
	return 0;
}

static int run_round(struct execution *x, uint64_t *order, bool *ret_interrupted, struct err *e)
{
	for (size_t i = 0; i < x->n; i++)
		order[i] = i;
	rng_shuffle_u64(&x->rng, order, x->n);
	for (size_t i = 0; i < x->n; i++) {
		struct slot *s = &x->slots[order[i]];
		int r;

		if (s->ended)
			continue;
		if (is_stopped(x)) {
			*ret_interrupted = true;
			return 0;
		}
		if (s->n == 0 && hard_end(x) > 0 && spawn_now() > hard_end(x)) {
			r = never_reached(x, s, e);
			if (r < 0)
				return r;
			continue;
		}
		if (would_overrun(x, s)) {
			end_slot(x, s, "time budget");
			continue;
		}
		if (must_wait(x, s))
			continue;
		r = run_one(x, s, ret_interrupted, e);
		if (r < 0 || *ret_interrupted)
			return r;
	}
	return 0;
}

static int refine(struct execution *x, struct err *e)
{
	for (size_t i = 0; i < x->n; i++)
		if (!x->slots[i].ended && slot_refine(&x->slots[i], x->run, REFINED_VALUES) < 0)
			return err_set(e, ENOMEM, "out of memory");
	return 0;
}

static bool all_ended(const struct execution *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (!x->slots[i].ended)
			return false;
	return true;
}

static int run_rounds(struct execution *x, bool *ret_interrupted, struct err *e)
{
	uint64_t *order = calloc(x->n + 1, sizeof(*order));
	int r = order ? 0 : err_set(e, ENOMEM, "out of memory");

	while (r == 0 && !*ret_interrupted && !all_ended(x)) {
		x->round++;
		r = run_round(x, order, ret_interrupted, e);
		if (r == 0 && !*ret_interrupted && x->round <= REFINED_ROUNDS)
			r = refine(x, e);
	}
	free(order);
	return r;
}

/* --- begin and end --- */

static int skip_settings(struct execution *x, struct err *e)
{
	for (size_t i = 0; i < x->n; i++) {
		struct slot *s = &x->slots[i];
		struct collect_job job;
		int r;

		if (!s->p->skip_reason)
			continue;
		job = make_job(x, s);
		job.measured = NULL;
		r = collect_skip(&job, s->p->skip_reason, e);
		if (r < 0)
			return r;
		end_slot(x, s, s->p->skip_reason);
	}
	return 0;
}

/* The first reasons, each once. */
static int nothing_runs(const struct execution *x, struct err *e)
{
	char text[400] = "";
	size_t used = 0;

	for (size_t i = 0; i < x->n; i++) {
		const char *why = x->slots[i].p->skip_reason;
		int n;

		if (strstr(text, why))
			continue;
		n = snprintf(text + used, sizeof(text) - used, "%s%s", used ? "; " : "", why);
		if (n < 0 || (size_t)n >= sizeof(text) - used)
			break;
		used += (size_t)n;
	}
	return err_set(e, ENODEV, "nothing of this can be measured here: %s", text);
}

/* Why the run ended, from why its settings did. */
static const char *stop_reason(struct execution *x)
{
	size_t met = 0, budget = 0, limit = 0, ran = 0;
	const char *main, *text;

	for (size_t i = 0; i < x->n; i++) {
		const char *why = x->slots[i].why;

		ran += x->slots[i].n > 0;
		met += x->slots[i].n > 0 && strcmp(why, "interval target met") == 0;
		budget += strcmp(why, "time budget") == 0;
		limit += strcmp(why, "invocation limit") == 0;
	}
	if (met == ran)
		return "interval target met";
	main = budget ? "time budget" : limit ? "invocation limit" : "nothing more can be measured";
	text = arena_printf(&x->run->arena, "%s (interval target met for %zu of %zu settings)",
			    main, met, ran);
	return text ? text : main;
}

static void finish(struct execution *x, int r, bool interrupted, const struct err *e)
{
	struct run *run = x->run;
	const char *text;

	run->end_unix_ns = unix_ns();
	run->complete = r == 0 && !interrupted && x->n_lost == 0;
	if (interrupted) {
		run->stop_reason = "interrupted";
	} else if (r < 0) {
		text = arena_strdup(&run->arena, e->msg);
		run->stop_reason = text ? text : "out of memory";
	} else {
		run->stop_reason = stop_reason(x);
		if (x->n_lost > 0) {
			text = arena_printf(&run->arena, "%s; %zu invocations not finished",
					    run->stop_reason, x->n_lost);
			run->stop_reason = text ? text : run->stop_reason;
		}
	}
}

static int init(struct execution *x, struct err *e)
{
	x->n = x->plan->n;
	x->slots = calloc(x->n + 1, sizeof(*x->slots));
	if (!x->slots)
		return err_set(e, ENOMEM, "out of memory");
	for (size_t i = 0; i < x->n; i++)
		x->slots[i] = (struct slot){ .p = &x->plan->v[i], .index = i };
	rng_seed(&x->rng, rng_mix64(x->plan->seed));
	return 0;
}

int execute_plan(struct plan *p, struct run *r, struct runfile *file, const struct run_hooks *hooks,
		 const volatile sig_atomic_t *stop, const struct execute_limits *limits,
		 struct err *e)
{
	struct execution x = { .plan = p,
			       .run = r,
			       .file = file,
			       .hooks = hooks,
			       .stop = stop,
			       .limits = limits,
			       .start = spawn_now() };
	struct err first = { 0 };
	bool interrupted = false;
	int subreaper = 0, rc;

	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	affinity_allowed(&x.cpus, NULL);
	rc = init(&x, &first);
	if (rc == 0)
		rc = skip_settings(&x, &first);
	if (rc == 0 && plan_count_runnable(p) == 0)
		rc = nothing_runs(&x, &first);
	if (rc == 0)
		rc = run_rounds(&x, &interrupted, &first);
	finish(&x, rc, interrupted, &first);
	affinity_avoid(&x.cpus, -1);
	prctl(PR_SET_CHILD_SUBREAPER, subreaper);
	for (size_t i = 0; x.slots && i < x.n; i++)
		slot_done(&x.slots[i]);
	free(x.slots);
	u32_list_done(&x.cpus);
	return rc < 0 ? err_set(e, -rc, "%s", first.msg) : 0;
}

int run_execute(struct plan *p, struct run *r, struct runfile *file, const struct run_hooks *hooks,
		const volatile sig_atomic_t *stop, struct err *e)
{
	/* Populating may take minutes with tens of GiB; the expectation grows with it. */
	static const struct execute_limits limits = { .silence_seconds = 60,
						      .silence_factor = 10,
						      .grace_seconds = 2 };

	return execute_plan(p, r, file, hooks, stop, &limits, e);
}
