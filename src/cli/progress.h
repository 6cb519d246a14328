/* SPDX-License-Identifier: MIT */
/*
 * Progress on stderr: on a terminal one line that is rewritten; otherwise one plain line for each
 * finished setting. Never on stdout.
 */
#ifndef PAGETOLL_CLI_PROGRESS_H
#define PAGETOLL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/run.h"

struct progress {
	bool quiet, terminal;
	size_t columns;   /* of the terminal */
	size_t shown;     /* columns in use by the line on the screen */
	int64_t shown_ns; /* when it was written */
	size_t n_done, n_settings;
};

void progress_init(struct progress *p, bool quiet, size_t n_settings);
/* Hooks whose `user` is a struct progress. */
void progress_status(void *user, const struct run_status *st);
void progress_setting_done(void *user, const struct planned *pl, unsigned invocations,
			   const char *why_stopped);
/* Takes the line off the screen. */
void progress_done(struct progress *p);

#endif
