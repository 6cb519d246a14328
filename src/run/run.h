/* SPDX-License-Identifier: MIT */
/*
 * Executes a plan: fresh worker processes, one at a time, in rounds over all settings (each round
 * in a new random order), collecting measures into the run and its file, refining grids around
 * knees after the first rounds, until the interval target, the invocation limit or the time budget.
 */
#ifndef PAGETOLL_RUN_RUN_H
#define PAGETOLL_RUN_RUN_H

#include <signal.h>

#include "base/err.h"
#include "host/settings.h"
#include "record/run.h"
#include "record/runfile.h"
#include "run/run_plan.h"

struct run_status {                 /* for progress lines */
	size_t setting, n_settings; /* 1-based */
	unsigned invocation;        /* 1-based round */
	const struct planned *planned;
	uint64_t inner; /* value in work, 0: none yet */
	double elapsed_seconds, left_seconds;
};

struct run_hooks {
	void *user;
	/*
	 * Kernel settings that parameters change (struct param, setting). The caller restores them
	 * afterwards; NULL: settings that need one cannot be measured.
	 */
	struct settings *settings;
	const char *no_settings; /* why there are none, where `settings` is NULL */
	/* Often (at each measure and at each start of a worker); may be NULL. */
	void (*status)(void *user, const struct run_status *st);
	/* Once for each setting when its last invocation has ended; may be NULL. */
	void (*setting_done)(void *user, const struct planned *p, unsigned invocations,
			     const char *why_stopped);
};

/*
 * Runs @p, appending to @r (whose header is filled and whose schemas are added) and to @file (NULL:
 * keep in memory only). @stop is set by a signal handler; then the worker is ended, the footer is
 * not written by this function but r->complete = false and r->stop_reason = "interrupted". 0, or a
 * negative errno when nothing more can be done (cannot fork, disk full); what was measured stays in
 * @r and in the file.
 */
int run_execute(struct plan *p, struct run *r, struct runfile *file, const struct run_hooks *hooks,
		const volatile sig_atomic_t *stop, struct err *e);

/* Worker entry: main() calls it first when argv[1] is WORKER_VERB; never returns to the caller's
 * caller. */
#define WORKER_VERB "__worker"
int worker_main(void);

#endif
