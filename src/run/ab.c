// SPDX-License-Identifier: MIT
/*
 * Runs an experiment: block by block in the planned order, one fresh process at a time, leaving out
 * what the run has already. Stops for nothing that the results say, so that stopping cannot bend
 * them: after the last block, at the time budget (whole blocks only), or when interrupted.
 */
#include "run/ab.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "host/affinity.h"
#include "run/collect.h"
#include "run/spawn.h"

enum { BAD_INVOCATIONS = 2 /* of one arm in a row without one ok point: more will not help */ };

/* Populating may take minutes with tens of GiB; the expectation grows with it. */
const struct execute_limits ab_limits = { .silence_seconds = 60,
					  .silence_factor = 10,
					  .grace_seconds = 2 };

struct pair_state {
	unsigned bad[2]; /* in a row */
	unsigned n[2];
	const char *ended; /* why, NULL: goes on */
};

struct experiment {
	const struct ab_job *j;
	const struct ab_plan *plan;
	struct pair_state *pairs; /* owned */
	struct ab_step *steps;    /* owned; of one block */
	struct u32_list cpus;     /* owned */
	double start, block_seconds;
	unsigned block, blocks_done;
	unsigned boot_arm;     /* in mode BOOTS */
	unsigned arm_in_force; /* 2: none yet */
	const struct planned *now;
	size_t pair;
};

static int64_t unix_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int no_memory(struct err *e)
{
	return err_set(e, ENOMEM, "out of memory");
}

static bool is_stopped(const struct experiment *x)
{
	return x->j->stop && *x->j->stop;
}

int ab_enter_arm(struct settings *s, const struct ab_arm *arm, struct err *e)
{
	for (size_t i = 0; s && i < arm->n_settings; i++) {
		int rc = settings_set(s, arm->settings[i].kind, arm->settings[i].value, e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- hooks -------------------------------------------------------------------------------------
 */

static void tell(const struct experiment *x, uint64_t inner)
{
	const struct run_hooks *h = x->j->hooks;
	unsigned last = x->plan->mode == AB_MODE_BOOTS ? x->block + 1 : x->plan->blocks;
	double each = x->block_seconds > 0 ? x->block_seconds : ab_block_seconds(x->plan);
	struct run_status st = {
		.setting = x->pair + 1,
		.n_settings = x->plan->n_pairs,
		.invocation = x->block + 1,
		.planned = x->now,
		.inner = inner,
		.elapsed_seconds = spawn_now() - x->start,
		.left_seconds = last > x->block ? each * (last - x->block) : 0,
	};

	if (x->plan->budget_seconds > 0)
		st.left_seconds = fmin(st.left_seconds,
				       fmax(x->plan->budget_seconds - st.elapsed_seconds, 0));
	if (h && h->status)
		h->status(h->user, &st);
}

static void on_measure(void *user, const struct measure *m)
{
	const struct experiment *x = user;
	const char *inner = x->now->inner;

	tell(x, inner ? (uint64_t)attrs_int(&m->setting, inner, 0) : 0);
}

static void end_pair(struct experiment *x, size_t i, const char *why)
{
	const struct run_hooks *h = x->j->hooks;

	if (x->pairs[i].ended)
		return;
	x->pairs[i].ended = why;
	if (h && h->setting_done)
		h->setting_done(h->user, x->plan->pairs[i].p[0],
				x->pairs[i].n[0] + x->pairs[i].n[1], why);
}

/* --- one process -------------------------------------------------------------------------------
 */

static struct collect_job make_job(struct experiment *x, const struct ab_step *s,
				   const struct u64_array *inner)
{
	const struct planned *p = x->plan->pairs[s->pair].p[s->arm];
	const struct execute_limits *l = &x->j->limits;
	const struct plan *plan = &x->plan->plans[0];

	return (struct collect_job){
		.run = x->j->run,
		.file = x->j->file,
		.spec = {
			.bench = p->bench,
			.setting = p->setting,
			.inner = p->inner,
			.inner_values = inner->v,
			.n_inner = p->inner ? inner->n : 0,
			.invocation = s->invocation,
			.seed = plan->seed,
			.samples = p->samples,
			.point_seconds = plan->preset->point_seconds,
		},
		.arm = s->arm ? "B" : "A",
		.boot_id = x->j->boot_id,
		.kernel = x->j->kernel,
		.env = x->j->arms[s->arm].env,
		.silence_seconds = l->silence_seconds +
				   l->silence_factor * plan_invocation_seconds(plan, p),
		.grace_seconds = l->grace_seconds,
		.stop = x->j->stop,
		.measured = on_measure,
		.user = x,
	};
}

static void judge(struct experiment *x, const struct ab_step *s, const struct collect_result *res)
{
	struct pair_state *state = &x->pairs[s->pair];
	const char *text;

	state->n[s->arm]++;
	state->bad[s->arm] = res->n_ok ? 0 : state->bad[s->arm] + 1;
	if (!res->skipped && state->bad[s->arm] < BAD_INVOCATIONS)
		return;
	text = arena_printf(&x->j->run->arena, "arm %c %s: %s", "AB"[s->arm],
			    res -> skipped ? "cannot be measured here" : "failed again and again",
			    res->reason ? res->reason : "?");
	end_pair(x, s->pair, text ? text : "failed");
}

static const char *boot_now(const struct ab_job *j)
{
	return j->boot_id ? j->boot_id : j->run->boot_id;
}

/* Once an arm and boot, when something is about to be measured in it. */
static int note_environment(struct experiment *x, unsigned arm, struct err *e)
{
	const struct ab_job *j = x->j;
	const struct environment *now = j->environments[x->plan->mode == AB_MODE_BOOTS ? 0 : arm];
	const char *name = arm ? "B" : "A";
	struct environment *to;

	if (!now || run_environment(j->run, name, boot_now(j)))
		return 0;
	to = run_add_environment(j->run);
	if (!to)
		return no_memory(e);
	*to = *now;
	to->arm = name;
	to->boot_id = boot_now(j);
	to->start_unix_ns = unix_ns();
	return j->file ? runfile_append_environment(j->file, to, e) : 0;
}

static int run_step(struct experiment *x, const struct ab_step *s, bool *ret_interrupted,
		    struct err *e)
{
	struct u64_array inner = { 0 };
	struct collect_result res = { 0 };
	struct collect_job job;
	bool whole = false;
	int rc = ab_step_missing(x->j->run, x->plan, s, &inner, &whole);

	if (rc < 0)
		rc = no_memory(e);
	if (rc == 0 && !whole && x->arm_in_force != s->arm) {
		x->arm_in_force = 2;
		rc = ab_enter_arm(x->j->settings, &x->j->arms[s->arm], e);
		if (rc == 0)
			x->arm_in_force = s->arm;
	}
	if (rc == 0 && !whole)
		rc = note_environment(x, s->arm, e);
	if (rc == 0 && !whole) {
		x->now = x->plan->pairs[s->pair].p[s->arm];
		x->pair = s->pair;
		tell(x, 0);
		job = make_job(x, s, &inner);
		affinity_avoid(&x->cpus, spawn_cpu(&job.spec));
		rc = collect_invocation(&job, &res, e);
		*ret_interrupted = rc == 0 && res.interrupted;
		if (rc == 0 && !res.interrupted)
			judge(x, s, &res);
	}
	u64_array_done(&inner);
	return rc;
}

/* --- blocks ------------------------------------------------------------------------------------
 */

static bool all_ended(const struct experiment *x)
{
	for (size_t i = 0; i < x->plan->n_pairs; i++)
		if (!x->pairs[i].ended)
			return false;
	return true;
}

static int run_block(struct experiment *x, bool *ret_interrupted, struct err *e)
{
	double begin = spawn_now();
	int rc = ab_block_order(x->plan, x->block, x->boot_arm, x->steps);

	if (rc < 0)
		return no_memory(e);
	for (size_t i = 0; i < ab_steps_per_block(x->plan); i++) {
		if (x->pairs[x->steps[i].pair].ended)
			continue;
		if (is_stopped(x)) {
			*ret_interrupted = true;
			return 0;
		}
		rc = run_step(x, &x->steps[i], ret_interrupted, e);
		if (rc < 0 || *ret_interrupted)
			return rc;
	}
	x->block_seconds = fmax(x->block_seconds, spawn_now() - begin);
	x->blocks_done++;
	return 0;
}

static bool would_overrun(const struct experiment *x)
{
	if (x->blocks_done == 0 || !(x->plan->budget_seconds > 0))
		return false;
	return spawn_now() - x->start + x->block_seconds > x->plan->budget_seconds;
}

static void end_all(struct experiment *x, const char *why)
{
	for (size_t i = 0; i < x->plan->n_pairs; i++)
		end_pair(x, i, why);
}

static int run_blocks(struct experiment *x, bool *ret_interrupted, struct err *e)
{
	int rc = 0;

	while (rc == 0 && !*ret_interrupted && x->block < x->plan->blocks && !all_ended(x)) {
		if (would_overrun(x)) {
			end_all(x, "time budget");
			return 0;
		}
		rc = run_block(x, ret_interrupted, e);
		x->block += rc == 0 && !*ret_interrupted;
	}
	if (rc == 0 && !*ret_interrupted)
		end_all(x, "all blocks done");
	return rc;
}

/* One boot is one block; which, is told by what the run has. */
static int run_boot(struct experiment *x, bool *ret_interrupted, struct err *e)
{
	struct ab_boots b;
	unsigned arm = 0;
	int rc = ab_boots_look(x->j->run, x->plan, x->j->kernel, boot_now(x->j), &b, &arm, e);

	if (rc < 0)
		return rc;
	x->block = b.block;
	x->boot_arm = arm;
	rc = run_block(x, ret_interrupted, e);
	if (rc == 0 && !*ret_interrupted)
		end_all(x, "this boot's block is done");
	return rc;
}

/* --- begin and end -----------------------------------------------------------------------------
 */

static bool has_skip(const struct run *r, const struct planned *p, const char *arm)
{
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];

		if (m->verdict == VERDICT_SKIPPED && m->arm && strcmp(m->arm, arm) == 0 &&
		    strcmp(m->bench, p->bench->schema.name) == 0 &&
		    attrs_equal(&m->setting, &p->setting.given))
			return true;
	}
	return false;
}

/* What cannot run in one arm runs in neither; each is on record with the reason. */
static int skip_pairs(struct experiment *x, struct err *e)
{
	static const struct u64_array none = { 0 };

	for (size_t i = 0; i < x->plan->n_pairs; i++) {
		const struct ab_pair *pair = &x->plan->pairs[i];

		if (!pair->skip_reason)
			continue;
		for (unsigned arm = 0; arm < 2; arm++) {
			struct collect_job job = make_job(x, &(struct ab_step){ i, arm, 0 }, &none);
			int rc;

			if (has_skip(x->j->run, pair->p[arm], job.arm))
				continue;
			job.measured = NULL;
			rc = collect_skip(&job, pair->skip_reason, e);
			if (rc < 0)
				return rc;
		}
		end_pair(x, i, pair->skip_reason);
	}
	return 0;
}

static const char *first_skip(const struct ab_plan *p)
{
	for (size_t i = 0; i < p->n_pairs; i++)
		if (p->pairs[i].skip_reason)
			return p->pairs[i].skip_reason;
	return "there are no settings";
}

static const char *boots_reason(struct experiment *x)
{
	const struct ab_job *j = x->j;
	struct ab_boots b = { 0 };
	unsigned arm;
	const char *text;

	ab_boots_look(j->run, x->plan, j->kernel, boot_now(j), &b, &arm, NULL);
	j->run->complete = b.n[0] >= AB_BOOTS && b.n[1] >= AB_BOOTS;
	text = arena_printf(&j->run->arena, "%u boot%s of A, %u of B; %d of each give an interval",
			    b.n[0], b.n[0] == 1 ? "" : "s", b.n[1], AB_BOOTS);
	return text ? text : "this boot's block is done";
}

static const char *stop_reason(struct experiment *x)
{
	const char *text;

	if (x->plan->mode == AB_MODE_BOOTS)
		return boots_reason(x);
	if (x->block >= x->plan->blocks)
		return "all blocks done";
	text = arena_printf(&x->j->run->arena, "%s (%u of %u blocks)",
			    all_ended(x) && x->blocks_done && x->pairs[0].ended
				    ? x->pairs[0].ended
				    : "nothing more can be measured",
			    x->block, x->plan->blocks);
	return text ? text : "ended early";
}

static void finish(struct experiment *x, int rc, bool interrupted, const struct err *e)
{
	struct run *r = x->j->run;
	const char *text;

	r->end_unix_ns = unix_ns();
	r->complete = rc == 0 && !interrupted;
	/* A boot that was measured already takes nothing from what is there. */
	rc = rc == -EALREADY ? 0 : rc;
	if (interrupted) {
		r->stop_reason = "interrupted";
	} else if (rc < 0) {
		text = arena_strdup(&r->arena, e->msg);
		r->stop_reason = text ? text : "out of memory";
	} else {
		r->stop_reason = stop_reason(x);
	}
}

static int run_all(struct experiment *x, bool *ret_interrupted, struct err *e)
{
	int rc;

	x->pairs = calloc(x->plan->n_pairs + 1, sizeof(*x->pairs));
	x->steps = calloc(ab_steps_per_block(x->plan) + 1, sizeof(*x->steps));
	if (!x->pairs || !x->steps)
		return no_memory(e);
	affinity_allowed(&x->cpus, NULL);
	rc = skip_pairs(x, e);
	if (rc == 0 && all_ended(x))
		rc = err_set(e, ENODEV, "nothing of this can be measured here: %s",
			     first_skip(x->plan));
	if (rc < 0)
		return rc;
	return x->plan->mode == AB_MODE_BOOTS ? run_boot(x, ret_interrupted, e)
					      : run_blocks(x, ret_interrupted, e);
}

int ab_execute(const struct ab_job *j, struct err *e)
{
	struct experiment x = { .j = j, .plan = j->plan, .start = spawn_now(), .arm_in_force = 2 };
	struct err first = { 0 };
	bool interrupted = false;
	int subreaper = 0, rc;

	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	rc = run_all(&x, &interrupted, &first);
	finish(&x, rc, interrupted, &first);
	affinity_avoid(&x.cpus, -1);
	prctl(PR_SET_CHILD_SUBREAPER, subreaper);
	free(x.pairs);
	free(x.steps);
	u32_list_done(&x.cpus);
	return rc < 0 ? err_set(e, -rc, "%s", first.msg) : 0;
}
