/* SPDX-License-Identifier: MIT */
/*
 * One invocation, seen from the parent: starts a worker, sends the plan, turns what comes back into
 * measures of the run and lines of its file, and says how it ended. Decides nothing about what runs
 * next (execute.c).
 */
#ifndef PAGETOLL_RUN_COLLECT_H
#define PAGETOLL_RUN_COLLECT_H

#include <signal.h>

#include "base/err.h"
#include "bench/ctx.h"
#include "record/run.h"
#include "record/runfile.h"

struct collect_job {
	struct run *run;
	struct runfile *file;        /* NULL: keep in memory only */
	struct invocation_spec spec; /* inner values ascending */
	const char *arm, *boot_id;   /* of the measures; NULL: see struct measure */
	const char *kernel;          /* recorded as proof; NULL: not */
	const char *const *env;      /* of the worker, see spawn_worker(); may be NULL */
	double silence_seconds;      /* a worker that says nothing for so long is ended: timeout */
	double grace_seconds;        /* between SIGTERM and SIGKILL */
	const volatile sig_atomic_t *stop; /* may be NULL */
	double end; /* spawn_now() time at which the worker is ended, finished points kept; 0: none
		     */
	/* After each measure; may be NULL. Borrowed until the next one. */
	void (*measured)(void *user, const struct measure *m);
	void *user;
};

struct collect_result {
	size_t n_measures, n_ok;
	bool out_of_time;   /* ended by `end`: nothing was recorded for the points in flight */
	bool interrupted;   /* by *stop: nothing was recorded for the points in flight */
	bool skipped;       /* the benchmark cannot run here */
	const char *reason; /* of the last measure that is not ok; memory of the run */
	double seconds;
};

/*
 * Runs one worker to its end. Everything that goes wrong with the worker, also that none can be
 * started (limits on processes), becomes a measure (failed, timeout, killed) and is no error.
 * Negative errno: memory ran out, or the file cannot be written.
 */
int collect_invocation(const struct collect_job *j, struct collect_result *ret, struct err *e);

/*
 * Appends the measure of a setting that cannot run here (verdict skipped), without an inner value.
 */
int collect_skip(const struct collect_job *j, const char *reason, struct err *e);

#endif
