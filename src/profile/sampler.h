/* SPDX-License-Identifier: MIT */
/*
 * Sampling where a process and everything that it starts spends its time in the kernel:
 * perf_event_open(2) called directly, one event and one buffer for each CPU (an event that children
 * inherit can have a buffer only where it is bound to a CPU). Never needs hardware counters.
 */
#ifndef PAGETOLL_PROFILE_SAMPLER_H
#define PAGETOLL_PROFILE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/units.h"
#include "host/sysroot.h"
#include "profile/ring.h"

enum sampler_event {
	SAMPLER_CYCLES, /* the processor's cycles in the kernel */
	SAMPLER_CLOCK,  /* the kernel's timer, on the CPU time of the task */
};
/* "cycles", "cpu-clock" */
const char *sampler_event_name(enum sampler_event e);
/* What a profile by this event cannot see, as a sentence without a full stop. */
const char *sampler_blind_spot(enum sampler_event e);

struct sampler_options {
	unsigned frequency; /* samples for each second of CPU time, above 0 */
	bool chains;        /* with the callers of each place */
	bool clock_only;    /* not cycles, also where there are some */
};

struct sampler {
	enum sampler_event event;
	unsigned frequency; /* in use: at most what the kernel allows */
	bool chains;
	struct sampler_ring {
		int fd;
		void *map; /* the control page, the data behind it */
	} * rings;         /* owned */
	size_t n;
	size_t data_bytes; /* of each buffer */
	struct ring_counts counts;
	struct err no_cycles; /* why it is the clock; code 0: it is not, or it was asked for */
};

/*
 * Opens disabled events on @pid that begin with its next exec. @online: CPUs to watch. -EACCES,
 * -EPERM, -ENOENT, -ENODEV, -EOPNOTSUPP, -EMFILE, -ENOSYS, -EINVAL, -EBUSY, -ENOMEM...; the message
 * says what it means here and what to do. Nothing is open then. Raises the limit of open files of
 * this process as far as it may.
 */
int sampler_open(const struct sysroot *sr, pid_t pid, const struct u32_list *online,
		 const struct sampler_options *o, struct sampler *ret_sampler, struct err *e);
/* Takes out what is in the buffers. */
void sampler_drain(struct sampler *s, ring_sample_fn fn, void *user);
/*
 * After the last sampler_drain(): samples lost by the kernel's own count where that is larger than
 * what the buffers told (a loss is only written down with the next sample).
 */
void sampler_settle(struct sampler *s);
void sampler_close(struct sampler *s); /* accepts a zeroed one */

/*
 * The reason and the remedy behind errno @code of opening @event: what a user reads. @mapping: it
 * was the buffer that could not be mapped. Pure but for what it reads below @sr.
 */
void sampler_explain(const struct sysroot *sr, int code, enum sampler_event event, bool mapping,
		     struct err *e);

#endif
