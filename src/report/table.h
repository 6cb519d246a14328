/* SPDX-License-Identifier: MIT */
/*
 * A table as a model: columns with title and alignment, cells with text and marks, notes that say
 * what the marks mean. Rendered at most 80 columns wide where the data allow: first wrapped columns
 * shrink, then the table is split into several, each with the key columns. Nothing is cut off.
 */
#ifndef PAGETOLL_REPORT_TABLE_H
#define PAGETOLL_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/report.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
	const char *title;      /* lines separated by '\n', shown bottom-aligned */
	enum table_align align; /* of title and cells */
	unsigned group;         /* neighbours of one group stay together in a split; 0: alone */
	bool wraps;             /* left-aligned text that may be broken into lines */
	bool optional;          /* not shown when all its cells are blank */
};

struct table_cell {
	const char *text;  /* NULL: nothing was asked for here, shown blank */
	const char *marks; /* "!1 ?2" or NULL */
};

/* What a mark means. The kind is the mark's first character, so that it needs no colour. */
enum table_note_kind {
	NOTE_REASON,   /* '*' why a cell is empty, or what to know of it */
	NOTE_UNPROVEN, /* '?' measured, but something is not proven */
	NOTE_INVALID,  /* '!' measured, but the evidence is contrary */
};

struct table_note {
	enum table_note_kind kind;
	const char *text;
};

enum { TABLE_NOTES_MAX = 12 }; /* default: further reasons are counted, and JSON is pointed to */

struct table {
	struct arena *arena; /* borrowed; holds everything */
	struct table_column *columns;
	size_t n_columns, cap_columns;
	struct table_cell *cells; /* n_rows x n_columns, row major */
	size_t n_rows, cap_cells;
	struct table_note *notes;
	size_t n_notes, cap_notes;
	size_t max_notes, n_notes_left_out;
	size_t n_keys; /* first columns, repeated in every part of a split table */
	size_t indent; /* blanks before every line */
	bool bare;     /* no title lines */
	bool utf8;     /* false: everything beyond ASCII becomes '?' */
	bool failed;   /* memory ran out */
	bool rule;     /* a line below the titles */
};

void table_init(struct table *t, struct arena *a, const struct report_options *o);
/* All columns come before the first row. Returns the column's index. */
size_t table_add_column(struct table *t, const char *title, enum table_align align, unsigned group);
/* Returns the row's index. */
size_t table_add_row(struct table *t);
/* Copies and cleans @text. */
void table_set(struct table *t, size_t row, size_t column, const char *text);
/* Adds a mark for @text to a cell; equal texts share one mark. */
void table_mark(struct table *t, size_t row, size_t column, enum table_note_kind kind,
		const char *text);
/*
 * Where every cell with text has one and the same first mark of @kind, the mark moves to the
 * column's title.
 */
void table_lift_marks(struct table *t, size_t column, enum table_note_kind kind);

/* Columns that the unsplit table needs, with wrapped columns at their narrowest. */
size_t table_width(const struct table *t);
/* Appends the table, its notes below. 0 or -ENOMEM. */
int table_render(struct str *out, const struct table *t, const struct report_options *o);

#endif
