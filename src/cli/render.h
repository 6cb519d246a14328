/* SPDX-License-Identifier: MIT */
/* A run as the user asked for it, on stdout or as text. */
#ifndef PAGETOLL_CLI_RENDER_H
#define PAGETOLL_CLI_RENDER_H

#include "cli/cli.h"
#include "record/run.h"

/* What of the text is wanted; NULL: all of it. */
struct render_choice {
	bool card;                  /* the toll card */
	const char *const *metrics; /* a table for each of these */
	size_t n_metrics;
};

/*
 * Prints @r in the format of @c. @name: how the user can name the
 * run, @path: its file, each NULL where there is none. Returns the exit status.
 */
int cli_render_run(const struct common *c, const struct run *r, const struct render_choice *choice,
		   const char *name, const char *path);

#endif
