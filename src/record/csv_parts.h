/* SPDX-License-Identifier: MIT */
/*
 * Between the two halves of making a run of a table: what its columns are (csv_layout.c) and what
 * its rows say (csv_run.c). Inside record/ only.
 */
#ifndef PAGETOLL_RECORD_CSV_PARTS_H
#define PAGETOLL_RECORD_CSV_PARTS_H

#include "record/csv_read.h"
#include "record/csv_run.h"

enum { CSV_MAX_PROBLEMS = 50 /* that are told one by one */ };

struct csv_table {
	const struct csv_mapping *m;
	struct csv_rows rows; /* the first is the head */
	struct run *run;      /* its arena holds everything */
	struct str *problems;
	size_t n_problems;
	struct err *e;
};

struct csv_layout {
	size_t *params, *metrics; /* columns; the inner parameter is the first */
	size_t n_params;
	struct param *schema_params; /* of columns, then of settings */
	struct metric *schema_metrics;
};

/* Notes a mistake of a line, or of a cell; -EBADMSG. The first one is the error's. */
int csv_problem(struct csv_table *t, size_t line, const char *text);
int csv_cell_problem(struct csv_table *t, const struct csv_row *row, size_t column,
		     const char *text);
int csv_no_memory(struct csv_table *t);

/* Whole numbers as cells hold them. csv_parse_int(): -ERANGE beyond 64 bits. */
bool csv_is_integer(const char *cell);
int csv_parse_int(const char *cell, int64_t *ret);
/* Whether it is an integer of 64 bits that a real does not hold. */
bool csv_needs_exact(const char *cell, int64_t *ret);

/* Whether both columns of values stand for the same parameters. */
bool csv_same_where(const struct csv_metric *a, const struct csv_metric *b);
/* Columns to parameters and metrics; the run gets its schema. 0, -EINVAL, -EBADMSG or -ENOMEM. */
int csv_plan(struct csv_table *t, struct csv_layout *l);

#endif
