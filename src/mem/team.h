/* SPDX-License-Identifier: MIT */
/*
 * A team of threads, each bound to a CPU of its own before anything starts. Work begins on all of
 * them at once: none starts before the last is there. Between works they sleep.
 */
#ifndef PAGETOLL_MEM_TEAM_H
#define PAGETOLL_MEM_TEAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct team; /* opaque */

/* One thread's part of the last work, by the clock of clock_now_ns(). */
struct team_span {
	int64_t start_ns, end_ns;
	int64_t strayed_to; /* a CPU that was not the thread's own, seen before or after; -1: none
			     */
};

/*
 * Starts a thread on each of the @n CPUs (ascending and without repetition). -EINVAL: a CPU that
 * cannot be used; -EAGAIN: no more threads.
 */
int team_start(const uint32_t *cpus, size_t n, struct team **ret, struct err *e);
size_t team_size(const struct team *t);
/*
 * Calls work(user, i) on thread i, 0 <= i < n, for all at once, and waits for the last. What the
 * calling thread wrote before is seen by all, and the other way round. Returns the spans, valid
 * until the next call.
 */
const struct team_span *team_run(struct team *t, void (*work)(void *user, size_t i), void *user);
/* Ends and joins the threads; accepts NULL. */
void team_end(struct team *t);

#endif
