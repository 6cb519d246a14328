/* SPDX-License-Identifier: MIT */
/*
 * What the user says of runs without touching their files: labels, baselines, and the spread
 * between runs of one machine. A journal, one line a note, appended whole and synced; with the run
 * files it is the truth from which the index is made again. Inside store/ only.
 */
#ifndef PAGETOLL_STORE_NOTES_H
#define PAGETOLL_STORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum note_kind { NOTE_LABEL, NOTE_BASELINE, NOTE_SPREAD };

struct note {
	enum note_kind kind;
	const char *subject; /* id of a run; SPREAD: key of a machine */
	const char *text;    /* LABEL: NULL takes it away; SPREAD: the benchmark; else unused */
	bool on;             /* BASELINE */
	double spread;       /* SPREAD: relative, finite, not negative */
	uint64_t n_runs;     /* SPREAD */
};

/* Appends and syncs. The folder must exist. */
int notes_append(const char *dir, const struct note *n, struct err *e);

/*
 * Calls @each for every note from byte @offset on, oldest first; texts live during the call only. A
 * result that is not 0 ends the reading and is returned. Lines that are not understood (torn, or of
 * a later version) are skipped; a last line without its end is left for the next time. An absent
 * journal is empty. ret_end (may be NULL): where the next reading begins.
 */
int notes_read(const char *dir, uint64_t offset, int (*each)(void *user, const struct note *n),
	       void *user, uint64_t *ret_end, struct err *e);

/* Inode and length of the journal, 0 and 0 where there is none. */
void notes_state(const char *dir, uint64_t *ret_inode, uint64_t *ret_bytes);

#endif
