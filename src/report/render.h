/* SPDX-License-Identifier: MIT */
/*
 * What every text renderer of this room needs: cleaned and wrapped text, numbers with their unit
 * and interval, colours, and the few lines that say what a run is. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_RENDER_H
#define PAGETOLL_REPORT_RENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "record/run.h"
#include "report/report.h"

enum { RENDER_WIDTH = 80 }; /* columns that a mail shows unbroken */

enum paint { PAINT_BOLD, PAINT_RED, PAINT_YELLOW, PAINT_GREEN };

/* Appends @text, in colour if @o wants colours. @text is ours or cleaned already. */
void render_paint(struct str *out, const struct report_options *o, enum paint p, const char *text);

/*
 * Foreign text for a terminal: control characters become '?', line breaks and tabs blanks, and
 * without UTF-8 everything beyond ASCII becomes '?'. Longer than @max code points (0: no limit) it
 * is cut, and says so with its true length. From @a; NULL when memory ran out.
 */
const char *render_clean(struct arena *a, const char *text, bool utf8, size_t max);

/*
 * Appends @text (cleaned) as lines of at most @width columns, broken at blanks, words that are too
 * long broken anywhere. The first line goes on at column @first, further ones start with @hang
 * blanks. Ends with a newline.
 */
void render_wrap(struct str *out, const char *text, size_t first, size_t hang, size_t width);

/* Bytes of the next line of @text with room for @room columns; *ret_skip: blanks behind it. */
size_t render_line_bytes(const char *text, size_t room, size_t *ret_skip);

/* A paragraph that begins with @head at column @indent; further lines hang below the text. */
void render_paragraph(struct str *out, size_t indent, const char *head, const char *text);

/*
 * A quantity as people read it: entries as whole numbers, bytes as "252 KiB", Hz as "3.35 GHz",
 * everything else as @digits significant digits (whole numbers from 1000 on) and its unit where
 * @with_unit. @unit NULL: none.
 */
void render_value(struct str *out, double value, const char *unit, int digits, bool with_unit);
/*
 * Nanoseconds are told in the largest of ns, ms and s in which @least, the smallest of the values
 * that share it, has about a digit before the point. *ret_unit is that unit, or @unit for anything
 * but "ns" (NULL: none). Returns what to divide values by.
 */
double render_time_scale(double least, const char *unit, const char **ret_unit);
/* Order of rows and columns: numbers by size, words by the alphabet; <0, 0, >0. */
int render_compare_words(const char *a, const char *b);
/* "[248, 260]" in the scale that render_value() chooses for @value. */
void render_interval(struct str *out, double low, double high, double value, const char *unit,
		     int digits);
/* @value with as many decimals as @digits significant digits of @scale have ("-0.01", "441"). */
void render_difference(struct str *out, double value, double scale, int digits);
/* "2005-02-15 12:00:03 UTC" */
void render_time(struct str *out, int64_t unix_ns);

/* The value of a parameter in the words of the command line ("32m+128", "1g"). */
void render_param(struct str *out, const struct bench_schema *s, const struct attr *a);
/* "page=thp working-set=1g": the conditions of a fact in the words of the command line. */
void render_where(struct str *out, const struct run *r, const struct attrs *where);
/* "4k" -> "4 KiB pages", "thp" -> "2 MiB pages (thp)" where the size is known, else "thp pages". */
void render_page_words(struct str *out, const struct report *rep, const char *page);
/* A size among the conditions of a fact, as a number or in words ("1g"); 0: none. */
uint64_t render_where_bytes(const struct attrs *where, const char *name);
/* Size in bytes of a page word in this run; 0: not known. */
uint64_t render_page_bytes(const struct report *rep, const char *page);

/* The machine in one line; "" when the run tells nothing of it. */
void render_machine(struct str *out, const struct run *r);
/* "complete: interval target met" or "INCOMPLETE: interrupted". */
void render_state(struct str *out, const struct run *r, const struct report_options *o);
/* Invocations that count at a point, smallest and largest; both 0: none. Skipped ones have none. */
void report_count_invocations(const struct report *rep, size_t *ret_low, size_t *ret_high);
/* "8 a setting" or "6 to 8 a setting"; nothing for a run without invocations. */
void render_invocations(struct str *out, const struct report *rep);

/*
 * Curves in an order that does not depend on the order of measuring, which is shuffled: benchmarks
 * as the run lists them, parameters as the benchmark does; sizes and numbers ascending, words by
 * the alphabet ("local" before "remote").
 */
void report_sort_curves(const struct run *r, struct curves *c);

/*
 * A measured fact against what the processor advertises. A fact with a note, or of a run that was
 * disturbed, may be off for reasons of its own: it never "differs".
 */
enum agreement { AGREE_UNKNOWN, AGREE_YES, AGREE_NO };
enum agreement fact_agreement(const struct report *rep, const struct fact *f);

/*
 * Appends what disturbed all of the run ("load average 4.80 on 2 CPUs"): other load at its begin,
 * or CPU time stolen in more than a tenth of the points. False: nothing did.
 */
bool render_disturbed(struct str *out, const struct report *rep);

/* One finding: severity, what, effect, remedy, wrapped below a mark. */
void render_finding(struct str *out, const struct finding *f, const struct report_options *o);
/* One line for each kind of disturbance that occurred, with the number of points. */
int render_taints(struct str *out, const struct report *rep, const struct report_options *o,
		  size_t indent);

#endif
