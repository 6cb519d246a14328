/* SPDX-License-Identifier: MIT */
/*
 * Run files: JSON Lines, `*.pagetoll.jsonl`. First line the header, then one line a measure, last
 * the footer. Every line is appended whole and synced, so that a killed run keeps all finished
 * measures. Files come from other people: the reader trusts nothing, and never loses good lines to
 * a bad one. docs/run-file.md is the schema.
 */
#ifndef PAGETOLL_RECORD_RUNFILE_H
#define PAGETOLL_RECORD_RUNFILE_H

#include <stdio.h>

#include "base/err.h"
#include "record/run.h"

struct runfile;

/* Creates @path (must not exist), writes and syncs the header part of @r. */
int runfile_create(const char *path, const struct run *r, struct runfile **ret_file, struct err *e);
/*
 * Opens a run file again, to append to what it holds: loads it, then cuts off a torn last line and
 * the footer (a new one is to follow). -EBUSY while another process writes to it; otherwise as
 * runfile_load(). ret_run is the caller's.
 */
int runfile_resume(const char *path, struct run **ret_run, struct runfile **ret_file,
		   struct err *e);
/*
 * Appends and syncs one measure. -ESTALE, here and below, when the file has been removed, or
 * changed by somebody else: nothing is added to it then.
 */
int runfile_append(struct runfile *f, const struct measure *m, struct err *e);
/* Appends and syncs the environment of an arm. */
int runfile_append_environment(struct runfile *f, const struct environment *v, struct err *e);
/* Appends and syncs the footer part of @r. */
int runfile_finish(struct runfile *f, const struct run *r, struct err *e);
void runfile_close(struct runfile *f); /* accepts NULL */

/*
 * Loads a run. A torn or bad measure line is counted in n_bad_lines and skipped; a bad header, an
 * unknown newer schema version or no header at all is an error (-EBADMSG, -EPROTONOSUPPORT).
 */
int runfile_load(const char *path, struct run **ret_run, struct err *e);
int runfile_load_buffer(const char *data, size_t n, struct run **ret_run, struct err *e);

#endif
