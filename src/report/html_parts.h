/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the page share: escaping, cells, charts. A chart is a group of curves of one
 * benchmark from one or several runs. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_HTML_PARTS_H
#define PAGETOLL_REPORT_HTML_PARTS_H

#include <jansson.h>

#include "infer/infer.h"
#include "report/curve_table.h"
#include "report/html.h"

struct page;

enum { HTML_WORDS_MAX = 300 }; /* code points of a foreign text in one place */

/* Text as content or as a quoted attribute; invalid UTF-8 and control characters replaced. */
void html_text(struct str *out, const char *text);
/* Foreign text: cut at HTML_WORDS_MAX code points, isolated from the direction around it. */
void html_foreign(struct str *out, const char *text);
/* "<td>" + number with unit; a dash for NaN. What follows ends the cell. */
void html_number_cell(struct str *out, double v, const char *unit, int digits);
void html_interval_cell(struct str *out, double low, double high, double v, const char *unit);
/* Times of 0.1 ms and longer are told in us, ms or s: what to divide by, and the unit then. */
double html_time_divisor(double v, const char **unit);
/*
 * JSON text that is safe inside a script element, reals with six significant digits; takes over
 * @j. -ENOMEM also for NULL.
 */
int html_json(struct str *out, json_t *j);
/* Whole numbers are written in full; null for NaN. */
json_t *html_json_number(double v);
json_t *html_json_text(const char *text);

/* Notes below a table or a list, each once. */
struct page_notes {
	const char **v;
	size_t n, cap;
};
/* The number of @text among them, from 1; 0: no memory. @text is borrowed. */
size_t page_note(struct page *pg, struct page_notes *notes, const char *text);
void page_notes_list(struct page *pg, const struct page_notes *notes);

struct page_curve {
	size_t run; /* index into the page's runs */
	const struct curve_points *c;
	const char *label; /* what tells it from the others, in the arena */
};
struct page_chart {
	const char *bench;
	const struct bench_schema *schema; /* of the first run that has it; NULL: none */
	const char *inner;                 /* NULL: none */
	const char *common;                /* what all curves share, in words */
	const char *own;           /* of that, what other charts of the benchmark differ in */
	struct page_curve *curves; /* those of overlays last */
	size_t n, cap;
	size_t n_runs; /* that have curves here, without overlays */
	bool is_table; /* the headline is a table: a profile */
	bool is_curve; /* three values of a numeric inner parameter or more */
};
struct page_charts {
	struct page_chart *v;
	size_t n, cap;
};

/* What is passed around. All borrowed. */
struct page {
	struct str *out;
	struct arena *arena;
	const struct page_input *in;
	struct page_charts charts;
};

int page_charts_make(struct page *pg);
/* A value of the inner parameter as a number; NaN: none. */
double page_inner(const struct page_chart *ch, const struct point *p);
/* One invocation's value of @metric. */
double page_measure_value(const struct run *r, const struct point *p, size_t k, const char *metric);
/* "4k", "32m" and the like for an inner value. */
void page_inner_words(struct str *out, const struct page_chart *ch, const struct point *p);

/* Each appends its part and returns 0 or -ENOMEM. */
int html_compare(struct page *pg);
int html_facts(struct page *pg);
/* @text, made by this room's renderers: its lines with @between behind each. Changes @text. */
void html_lines(struct page *pg, struct str *text, const char *between);
/* The toll card of a run that has one. */
int html_card(struct page *pg, const struct page_run *run);
int html_bench(struct page *pg, size_t index);
int html_matrices(struct page *pg, const struct page_chart *ch);
int html_profile(struct page *pg, const struct page_chart *ch);
int html_strips(struct page *pg, const struct page_chart *ch);
int html_about(struct page *pg);
/* Data of all curve charts, for the script. */
json_t *html_data(const struct page *pg);

#endif
