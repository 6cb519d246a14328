/* SPDX-License-Identifier: MIT */
/*
 * Runs one command as env(1) and nice(1) do (its descriptors, process group and ignored signals are
 * ours) and tells what it and everything that it started took.
 */
#ifndef PAGETOLL_PROFILE_COMMAND_H
#define PAGETOLL_PROFILE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/units.h"
#include "host/sysroot.h"
#include "profile/sampler.h"
#include "profile/stacks.h"
#include "profile/walks.h"

/*
 * Times, faults and switches are of all processes that have ended and were waited for, by us (also
 * those whose parent ended before) or by their parent. A parent that ignores SIGCHLD takes its
 * children's away, and so does a process that is still alive when the command ends.
 */
struct usage {
	int64_t user_ns, system_ns;
	int64_t elapsed_ns; /* from before the exec until the command itself has ended */
	int64_t minor_faults, major_faults;
	int64_t voluntary_switches, involuntary_switches;
	uint64_t largest_bytes;    /* most resident memory that one process had; 0: not known */
	uint64_t resident_bytes;   /* most of all processes at one look; 0: never seen */
	uint64_t page_table_bytes; /* the same of page tables */
	size_t processes;          /* most at one look */
	size_t looks;
	int64_t look_interval_ns; /* longest distance of two looks */
	size_t left;              /* descendants that were alive when the command ended */
	size_t reaped;            /* processes that we waited for, the command among them */
};

struct command {
	char *const *argv;               /* ended by NULL; found by PATH */
	const struct sysroot *live;      /* processes are looked at below it */
	const struct sysroot *sr;        /* the kernel's settings, for messages */
	const struct u32_list *online;   /* CPUs */
	const struct sampler_options *o; /* NULL: no sampling */
	const struct walk_events *walks; /* NULL: not counted */
};

struct command_result {
	int wait_status; /* of wait(2) */
	struct usage usage;
	bool sampled;
	struct err why_not;     /* why not sampled */
	struct sampler sampler; /* closed; what is left are its settings and counts */
	struct stacks stacks;   /* of the kernel; owned, stacks_done() */
	bool walked;
	struct err no_walks; /* why page walks were not counted; code 0: not asked for */
	struct walk_counts walks;
	int stop_signal; /* SIGINT, SIGQUIT, SIGTERM or SIGHUP came; 0: none */
};

/*
 * Signals are blocked for its time and passed on to the command (those of the terminal reach it
 * anyway). 0: the command ran and has ended, whatever became of it. Otherwise it did not run:
 * -ENOENT, -EACCES, -ENOEXEC...: it cannot be executed, *ret_no_exec is true; another errno is
 * ours. Not for programs with threads.
 */
int command_run(const struct command *c, struct command_result *ret, bool *ret_no_exec,
		struct err *e);

#endif
