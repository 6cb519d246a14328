/* SPDX-License-Identifier: MIT */
/*
 * A profiled command as measures of a run: `profile.command` (times, faults, switches, memory) and
 * `profile.kernel` (ticks by function, in the columns of readprofile). One execution of the command
 * is one invocation of both.
 */
#ifndef PAGETOLL_PROFILE_PROFILE_H
#define PAGETOLL_PROFILE_PROFILE_H

#include "base/err.h"
#include "host/sysroot.h"
#include "profile/command.h"
#include "profile/symbols.h"
#include "record/run.h"

extern const struct bench_schema profile_kernel_schema, profile_command_schema;

/* The kernel's symbols, or what stands in for them. */
struct profile_symbols {
	struct symbols symbols;
	char why_not[800]; /* why there are none, and the remedy; "": there are */
};
/* Reads below @sr; never fails: without symbols `why_not` says why. */
void profile_symbols_read(const struct sysroot *sr, struct profile_symbols *ret);
void profile_symbols_done(struct profile_symbols *s);

/* Appends the measures of one execution to @r, which gets the schemas as well. 0 or -ENOMEM. */
int profile_record(struct run *r, unsigned invocation, const struct command_result *result,
		   const struct sampler_options *o, const struct profile_symbols *symbols);

#endif
