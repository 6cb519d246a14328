/* SPDX-License-Identifier: MIT */
/*
 * The library of runs: where run files lie, and which one a name means. Names of a RUN: a path, an
 * id or a unique prefix of one, `last`, `last~N` (by time; published tables do not count),
 * `baseline` (of several the one that was made one last), a label, or the name of a published run.
 */
#ifndef PAGETOLL_STORE_LIBRARY_H
#define PAGETOLL_STORE_LIBRARY_H

#include "base/err.h"
#include "record/run.h"

/*
 * $PAGETOLL_DATA, else $XDG_DATA_HOME/pagetoll, else ~/.local/share/pagetoll; with "/runs" behind
 * it. malloc()ed; NULL with an error when no home is known.
 */
char *library_dir(struct err *e);
/* Creates the folder (mode 0700) and gives the path "DIR/ID.pagetoll.jsonl" for a new run. */
int library_new_path(const char *run_id, char **ret_path, struct err *e);
/*
 * Loads the run that @name means. ret_path (may be NULL) is malloc()ed, NULL for a published run.
 * -ENOENT: none (with near names), -EEXIST: the prefix is ambiguous (with the candidates).
 */
int library_load(const char *name, struct run **ret_run, char **ret_path, struct err *e);

enum { LIBRARY_LABEL_BYTES = 200 };
/*
 * Whether a run can be called so and be found by it. -EINVAL: a name that means something else
 * already, one with a comma, with a blank at an end, or with control characters; empty or too long.
 */
int library_check_label(const char *text, struct err *e);

enum library_added {
	LIBRARY_NEW,
	LIBRARY_KNOWN,  /* the same run is there, or a longer version of it */
	LIBRARY_LONGER, /* was there up to some measure; is now complete up to the new end */
};
/*
 * Puts the bytes of a run file into the library, whole or not at all. *ret_run is the run, owned by
 * the caller. -EEXIST: another run of this id is there, or the id is taken by a published run or by
 * a word that names runs ("last"); -EBADMSG and the like: no run file.
 */
int library_add(const char *data, size_t n, struct run **ret_run, enum library_added *ret,
		struct err *e);

struct published {
	const char *name; /* "altix-2005" */
	const char *data; /* JSON Lines, embedded in the program */
	size_t n;
};
extern const struct published published_runs[]; /* ended by name NULL */

#endif
