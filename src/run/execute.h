/* SPDX-License-Identifier: MIT */
/* Inside of run_execute(), for tests: the same with other patience. */
#ifndef PAGETOLL_RUN_EXECUTE_H
#define PAGETOLL_RUN_EXECUTE_H

#include "run/run.h"

struct execute_limits {
	/* A worker that says nothing for silence_seconds + silence_factor * (expected seconds of
	 * its invocation) is ended. */
	double silence_seconds, silence_factor;
	double grace_seconds; /* between SIGTERM and SIGKILL */
};

int execute_plan(struct plan *p, struct run *r, struct runfile *file, const struct run_hooks *hooks,
		 const volatile sig_atomic_t *stop, const struct execute_limits *limits,
		 struct err *e);

#endif
