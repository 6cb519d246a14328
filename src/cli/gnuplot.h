/* SPDX-License-Identifier: MIT */
/* Runs the program gnuplot. */
#ifndef PAGETOLL_CLI_GNUPLOT_H
#define PAGETOLL_CLI_GNUPLOT_H

#include "base/err.h"
#include "base/str.h"

/*
 * Gives @script to gnuplot; what it draws goes to the descriptor @output. The user's start-up files
 * are not read. 0; -ENOENT: there is no gnuplot; -EIO with what it said; -ENOMEM, other -errno.
 */
int gnuplot_run(const struct str *script, int output, struct err *e);

#endif
