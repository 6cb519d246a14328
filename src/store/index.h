/* SPDX-License-Identifier: MIT */
/*
 * The index over the library's run files: SQLite, rebuildable at any time from the files, which are
 * the truth. Two programs may use it at once (WAL and a busy timeout on local disks; rollback
 * journal with a clear word on network file systems, told by statfs). The only user of sqlite3.h.
 */
#ifndef PAGETOLL_STORE_INDEX_H
#define PAGETOLL_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct index; /* open index */

struct index_entry {
	const char *id, *path; /* of the run file */
	const char *label; /* NULL: none; `history --label` can set it without touching the file */
	bool is_baseline;
	const char *machine; /* one line */
	const char *kernel, *boot_id, *command, *preset, *origin;
	int64_t start_unix_ns;
	uint64_t n_measures;
	bool complete, file_is_gone;
	const char *unreadable; /* why the file cannot be read, else NULL */
};
struct index_entries {
	struct index_entry *v;
	size_t n, cap;
};

struct index_filter {
	const char *label, *bench, *machine,
		*kernel;       /* NULL: any; substrings for machine and kernel */
	int64_t since_unix_ns; /* 0: any */
	size_t limit;          /* 0: all */
	bool baselines_only;
};

/* Opens (creates) LIBRARY/index.db and brings it up to date with the files beside it: new, changed,
 * gone. A damaged index is rebuilt. ret_note (may be NULL): a word for the user (network file
 * system), static or NULL. -EBUSY: another program holds it too long. */
int index_open(const char *library_dir, struct index **ret, const char **ret_note, struct err *e);
void index_close(struct index *x); /* accepts NULL */
/* Removes the index (not the runs, labels and baselines): the next opening makes it anew. */
int index_remove(const char *library_dir, struct err *e);
/* Newest first; texts belong to @a. A bench "tlb" also means all of tlb.*. */
int index_list(struct index *x, const struct index_filter *f, struct arena *a,
	       struct index_entries *ret, struct err *e);
/* NULL label removes it. -ENOENT: no such run. */
int index_set_label(struct index *x, const char *id, const char *label, struct err *e);
int index_set_baseline(struct index *x, const char *id, bool on, struct err *e);
/* Spread between A/A runs of one machine (relative), for compare; NAN when unknown. */
int index_set_spread(struct index *x, const char *machine_key, const char *bench, double spread,
		     size_t n_runs, struct err *e);
int index_get_spread(struct index *x, const char *machine_key, const char *bench,
		     double *ret_spread, struct err *e);

#endif
