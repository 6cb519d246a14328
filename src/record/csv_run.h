/* SPDX-License-Identifier: MIT */
/*
 * A published table as a run: rows of comma-separated values and a declared mapping of its columns.
 */
#ifndef PAGETOLL_RECORD_CSV_RUN_H
#define PAGETOLL_RECORD_CSV_RUN_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "record/run.h"

/* Column @column is the parameter @name; for settings, the parameter @name has the value @column.
 */
struct csv_pair {
	const char *column, *name;
};

/*
 * A column of values. Where columns hold one metric at several settings ("local", "remote"), each
 * has the same name and its own @where; all metrics then have the same parameters there.
 */
struct csv_metric {
	const char *column, *name, *unit;
	enum better better;
	const struct csv_pair *where; /* parameter @name has the value @column */
	size_t n_where;
};

struct csv_mapping {
	const char *file;    /* for messages */
	const char *name;    /* of the run; becomes its id */
	const char *source;  /* the citation */
	const char *machine; /* NULL: the source does not say */
	const char *bench;
	unsigned revision;
	struct csv_pair inner; /* column NULL: no inner parameter */
	const struct csv_pair *columns, *settings;
	size_t n_columns, n_settings;
	const struct csv_metric *metrics; /* the first is the headline */
	size_t n_metrics;
};

/*
 * Makes a published run with one measure a row (and @where), each value a FORM_SUMMARY without
 * interval. A metric whose values are all integers, some of them beyond what a real holds exactly,
 * is FORM_EXACT instead; among reals only those integers are. An empty cell of a metric has no
 * value; an empty parameter is a mistake.
 *
 * The table is taken whole or not at all: with any mistake -EBADMSG is returned, @e has the first
 * one and ret_problems one line for each ("FILE:LINE: column 3 'ns': ..."). -EINVAL: the mapping
 * itself is wrong (no such column, a name twice, no metric).
 */
int csv_run(const char *text, size_t n, const struct csv_mapping *m, struct run **ret_run,
	    struct str *ret_problems, struct err *e);

#endif
