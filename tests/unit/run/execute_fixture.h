/* SPDX-License-Identifier: MIT */
/* Real worker processes for the tests of run_execute(): this machine, invented benchmarks. */
#ifndef TESTS_UNIT_RUN_EXECUTE_FIXTURE_H
#define TESTS_UNIT_RUN_EXECUTE_FIXTURE_H

#include <sys/types.h>

#include "run/execute.h"

struct fixture {
	struct machine m;
	struct arena arena; /* of the request */
	char copies[8][128];
	struct plan plan;
	struct run *run;
	struct err e;
	struct execute_limits limits;
	char dir[64]; /* a fresh one */
	char pid_file[96], run_file[96];
	/* what the hooks saw */
	unsigned n_status, n_done;
	char last_why[512];
};

/* A preset for tests: no waiting, @min to @max invocations, @budget seconds. */
struct preset fixture_preset(unsigned min, unsigned max, double budget);

void fixture_init(struct fixture *f, const char *line, const struct preset *p);
int fixture_execute(struct fixture *f, struct runfile *file, const volatile sig_atomic_t *stop);
void fixture_done(struct fixture *f);

/* The measure at inner value @n (0: none) of invocation @invocation; NULL: there is none. */
const struct measure *fixture_measure(const struct fixture *f, int64_t n, unsigned invocation);
size_t fixture_count(const struct fixture *f, enum verdict v);
/* Reads the pid that a benchmark wrote, waits for the file to appear. */
pid_t fixture_pid(const struct fixture *f);

#endif
