/* SPDX-License-Identifier: MIT */
/* A run as the user asked for it, on stdout or as text. */
#ifndef PAGETOLL_CLI_RENDER_H
#define PAGETOLL_CLI_RENDER_H

#include "cli/cli.h"
#include "record/run.h"

/*
 * Prints @r in the format of @c. @card: the toll card in text. @name: how the user can name the
 * run, @path: its file, each NULL where there is none. Returns the exit status.
 */
int cli_render_run(const struct common *c, const struct run *r, bool card, const char *name,
		   const char *path);

#endif
