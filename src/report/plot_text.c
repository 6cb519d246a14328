// SPDX-License-Identifier: MIT
/*
 * Charts in a terminal: a canvas of characters with marks at the medians and lines between them, in
 * braille where the locale has it (two by four dots a character) and full stops elsewhere. Single
 * invocations are left to other formats: there is no room. A chart of rows is bars.
 * Source of the dots' bits: The Unicode Standard, Braille Patterns, U+2800.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/plot.h"
#include "report/render.h"

enum {
	MARGIN = 8, /* columns of the numbers at the left */
	COLUMNS = RENDER_WIDTH - MARGIN - 1,
	ROWS = 18,
	MARK_GAP = 4, /* columns between two marks of one series */
};

static const char marks[PLOT_SERIES_MAX + 1] = "ox+*#@%&";

struct cell {
	unsigned char dots; /* of braille, or just whether */
	char mark;
	unsigned char series; /* 1-based; 0: none */
	bool knee;
};

struct canvas {
	struct cell v[ROWS][COLUMNS];
};

/* --- drawing --- */

static void set_dot(struct canvas *c, long x, long y, size_t series)
{
	static const unsigned char bit[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};

	if (x < 0 || y < 0 || x >= 2 * COLUMNS || y >= 4 * ROWS)
		return;
	struct cell *cell = &c->v[y / 4][x / 2];

	cell->dots |= bit[y % 4][x % 2];
	cell->series = (unsigned char)(series + 1);
}

static void dot_place(const struct plot_chart *c, const struct plot_point *p, double *x, double *y)
{
	*x = plot_place(&c->x, p->x) * (2 * COLUMNS - 1);
	*y = (1 - plot_place(&c->y, p->value)) * (4 * ROWS - 1);
}

static void draw_line(struct canvas *v, const struct plot_chart *c, size_t series, size_t i)
{
	const struct plot_point *p = &c->series[series].points[i];
	double x0, y0, x1, y1;

	dot_place(c, p, &x0, &y0);
	dot_place(c, p + 1, &x1, &y1);
	double n = fmax(fabs(x1 - x0), fabs(y1 - y0));

	if (!(n <= 2 * COLUMNS + 4 * ROWS))
		return; /* values beyond what doubles can subtract */
	for (double k = 0; k <= n; k++)
		set_dot(v, lround(x0 + (x1 - x0) * k / fmax(n, 1)),
			lround(y0 + (y1 - y0) * k / fmax(n, 1)), series);
}

static void draw_marks(struct canvas *v, const struct plot_chart *c, size_t series)
{
	const struct plot_series *s = &c->series[series];
	long last = -MARK_GAP;

	for (size_t i = 0; i < s->n; i++) {
		double x, y;

		dot_place(c, &s->points[i], &x, &y);
		long column = lround(x) / 2, row = lround(y) / 4;

		if (column - last < MARK_GAP && i + 1 < s->n && !s->points[i].invalid)
			continue;
		if (row < 0 || row >= ROWS || column < 0 || column >= COLUMNS)
			continue;
		struct cell *cell = &v->v[row][column];

		last = column;
		cell->mark = s->points[i].invalid ? '!' : marks[series];
		cell->series = (unsigned char)(series + 1);
	}
}

static void draw_knees(struct canvas *v, const struct plot_chart *c, size_t series)
{
	const struct plot_series *s = &c->series[series];

	for (size_t i = 0; i < s->n_knees; i++) {
		long column = lround(plot_place(&c->x, s->knees[i].x) * (2 * COLUMNS - 1)) / 2;

		for (size_t r = 0; r < ROWS && column >= 0 && column < COLUMNS; r++)
			v->v[r][column].knee = true;
	}
}

/* --- characters --- */

static void add_braille(struct str *out, unsigned char dots)
{
	char utf8[4] = { (char)0xe2, (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f)), 0 };

	str_add(out, utf8);
}

static void add_cell(struct str *out, const struct cell *c, const struct report_options *o)
{
	static const char *const colour[PLOT_SERIES_MAX] = { "34", "31", "32", "35",
							     "33", "36", "1",  "2" };
	bool paint = o->colour && c->series;

	if (paint)
		str_addf(out, "\033[%sm", colour[c->series - 1]);
	if (c->mark)
		str_add_n(out, &c->mark, 1);
	else if (c->dots && o->utf8)
		add_braille(out, c->dots);
	else if (c->dots)
		str_add(out, ".");
	else if (c->knee)
		str_add(out, o->utf8 ? "┊" : ":");
	else
		str_add(out, " ");
	if (paint)
		str_add(out, "\033[0m");
}

static size_t used_columns(const struct cell *row)
{
	size_t n = COLUMNS;

	while (n && !row[n - 1].mark && !row[n - 1].dots && !row[n - 1].knee)
		n--;
	return n;
}

static void add_rows(struct str *out, const struct canvas *v, const struct plot_chart *c,
		     const struct report_options *o)
{
	struct plot_tick ticks[PLOT_TICKS_MAX];
	size_t n = plot_ticks(&c->y, ROWS / 2, ticks);

	for (size_t r = 0; r < ROWS; r++) {
		const char *text = "";

		for (size_t i = 0; i < n; i++) {
			double y = (1 - plot_place(&c->y, ticks[i].at)) * (4 * ROWS - 1);

			if (y > -1 && lround(y) / 4 == (long)r)
				text = ticks[i].text;
		}
		str_addf(out, "%*.*s%s", MARGIN, MARGIN, text,
			 o->utf8 ? *text ? "┤" : "│"
			 : *text ? "+"
				 : "|");
		for (size_t k = 0, end = used_columns(v->v[r]); k < end; k++)
			add_cell(out, &v->v[r][k], o);
		str_add(out, "\n");
	}
}

static void add_x_axis(struct str *out, const struct plot_chart *c, const struct report_options *o)
{
	struct plot_tick ticks[PLOT_TICKS_MAX];
	size_t n = plot_ticks(&c->x, COLUMNS / 7, ticks);
	bool at[COLUMNS] = { 0 };
	char line[COLUMNS + sizeof(ticks->text) + 1];
	size_t free_from = 0;

	memset(line, ' ', sizeof(line));
	for (size_t i = 0; i < n; i++) {
		long column = lround(plot_place(&c->x, ticks[i].at) * (2 * COLUMNS - 1)) / 2;
		size_t width = strlen(ticks[i].text);

		if (column < 0 || column >= COLUMNS)
			continue;
		at[column] = true;
		size_t start = (size_t)column < width / 2 ? 0 : (size_t)column - width / 2;

		if (start + width > COLUMNS)
			start = COLUMNS - width;
		if (start < free_from)
			continue;
		memcpy(line + start, ticks[i].text, width);
		free_from = start + width + 1;
	}
	str_addf(out, "%*s%s", MARGIN, "", o->utf8 ? "└" : "+");
	for (size_t k = 0; k < COLUMNS; k++)
		str_add(out, o->utf8 ? at[k] ? "┬" : "─" : at[k] ? "+" : "-");
	str_addf(out, "\n%*s", MARGIN + 1, "");
	size_t used = COLUMNS;

	while (used && line[used - 1] == ' ')
		used--;
	str_add_n(out, line, used);
	str_add(out, "\n");
}

/* --- words around it --- */

static void add_paragraph(struct str *out, const char *head, const char *text)
{
	if (*text)
		render_paragraph(out, 2, head, text);
}

static void add_head(struct str *out, const struct plot_chart *c)
{
	struct str text = { 0 };

	str_add(&text, c->title);
	if (*c->how)
		str_addf(&text, "; %s", c->how);
	render_wrap(out, str_text(&text), 0, 2, RENDER_WIDTH);
	str_done(&text);
	add_paragraph(out, "", c->fixed);
}

static void add_legend(struct str *out, const struct plot_chart *c)
{
	for (size_t i = 0; i < c->n_series; i++) {
		const struct plot_series *s = &c->series[i];
		char head[3] = { marks[i], ' ', 0 };
		struct str text = { 0 };

		str_add(&text, s->label);
		for (size_t k = 0; k < s->n_knees; k++)
			str_addf(&text, "%s%s",
				 k           ? ", "
				 : *s->label ? "; bends at "
					     : "bends at ",
				 s->knees[k].text);
		if (text.len)
			add_paragraph(out, head, str_text(&text));
		out->failed = out->failed || text.failed;
		str_done(&text);
	}
}

static void add_marks_note(struct str *out, const struct plot_chart *c)
{
	bool invalid = false, unproven = false;

	for (size_t s = 0; s < c->n_series; s++)
		for (size_t i = 0; i < c->series[s].n; i++) {
			invalid = invalid || c->series[s].points[i].invalid;
			unproven = unproven || c->series[s].points[i].unproven;
		}
	if (invalid)
		add_paragraph(out, "! ", "the evidence is contrary: not to be compared");
	if (unproven)
		add_paragraph(out, "? ", "something is not proven: pagetoll show says what");
}

static void add_curves(struct str *out, const struct plot_chart *c, const struct report_options *o)
{
	static const struct canvas blank;
	struct canvas v = blank;

	for (size_t s = 0; s < c->n_series; s++)
		draw_knees(&v, c, s);
	for (size_t s = 0; s < c->n_series; s++)
		for (size_t i = 0; i + 1 < c->series[s].n; i++)
			draw_line(&v, c, s, i);
	for (size_t s = c->n_series; s-- > 0;)
		draw_marks(&v, c, s);
	str_addf(out, "%*s%s\n",
		 MARGIN - (int)str_columns(c->y.unit) > 0 ? MARGIN - (int)str_columns(c->y.unit)
							  : 0,
		 "", c->y.unit);
	add_rows(out, &v, c, o);
	add_x_axis(out, c, o);
	str_addf(out, "%*s%s%s\n", MARGIN + 1, "", c->x.name,
		 c->x.log && c->y.log ? " (both axes logarithmic)"
		 : c->x.log           ? " (logarithmic)"
		 : c->y.log           ? " (the other axis is logarithmic)"
				      : "");
	add_legend(out, c);
}

/* --- rows --- */

struct bars {
	const struct plot_chart *c;
	size_t label, bar, value; /* columns */
	bool own_line;            /* labels do not fit beside bars */
};

static void value_text(struct str *out, const struct plot_chart *c, const struct plot_point *p)
{
	str_clear(out);
	render_value(out, p->value, c->y.unit, 3, false);
	if (!isnan(p->low)) {
		str_add(out, " ");
		render_interval(out, p->low, p->high, p->value, c->y.unit, 3);
	}
	str_add(out, p->invalid ? " !" : p->unproven ? " ?" : "");
}

static void measure_bars(struct bars *b)
{
	struct str text = { 0 };

	for (size_t i = 0; i < b->c->n_rows; i++)
		if (str_columns(b->c->rows[i]) > b->label)
			b->label = str_columns(b->c->rows[i]);
	for (size_t s = 0; s < b->c->n_series; s++)
		for (size_t i = 0; i < b->c->series[s].n; i++) {
			value_text(&text, b->c, &b->c->series[s].points[i]);
			if (str_columns(str_text(&text)) > b->value)
				b->value = str_columns(str_text(&text));
		}
	str_done(&text);
	b->own_line = b->label > 40;
	if (b->own_line)
		b->label = 4;
	b->bar = RENDER_WIDTH - 2 - b->label - 1 - b->value - 1;
	b->bar = b->bar > RENDER_WIDTH ? 8 : b->bar;
}

static void add_bar(struct str *out, const struct bars *b, const struct plot_point *p, size_t s)
{
	double length = plot_place(&b->c->y, p->value) * (double)b->bar;
	size_t n = length > 0 ? (size_t)lround(length) : 0;
	struct str text = { 0 };
	size_t start = out->len;

	for (size_t i = 0; i < b->bar && i < n; i++)
		str_add_n(out, b->c->n_series > 1 ? &marks[s] : "=", 1);
	str_pad(out, start, b->bar + 1);
	value_text(&text, b->c, p);
	str_addf(out, "%s\n", str_text(&text));
	str_done(&text);
}

static void add_bars(struct str *out, const struct plot_chart *c)
{
	struct bars b = { .c = c };

	measure_bars(&b);
	for (size_t r = 0; r < c->n_rows; r++) {
		bool named = false;

		if (b.own_line)
			add_paragraph(out, "", c->rows[r]);
		for (size_t s = 0; s < c->n_series; s++) {
			const struct plot_series *series = &c->series[s];
			size_t i = 0;

			while (i < series->n && series->points[i].x != (double)r)
				i++;
			if (i == series->n)
				continue;
			size_t start = out->len;

			str_addf(out, "  %s", named || b.own_line ? "" : c->rows[r]);
			str_pad(out, start, b.label + 3);
			named = true;
			add_bar(out, &b, &series->points[i], s);
		}
		if (!named && !b.own_line)
			str_addf(out, "  %s  -\n", c->rows[r]);
	}
	if (*c->y.unit)
		str_addf(out, "  in %s, from 0\n", c->y.unit);
	if (c->n_series > 1)
		add_legend(out, c);
}

int plot_text(struct str *out, const struct plot *p, const struct report_options *o)
{
	for (size_t i = 0; i < p->n; i++) {
		str_add(out, i ? "\n" : "");
		add_head(out, &p->charts[i]);
		if (p->charts[i].rows)
			add_bars(out, &p->charts[i]);
		else
			add_curves(out, &p->charts[i], o);
		add_marks_note(out, &p->charts[i]);
	}
	for (size_t i = 0; i < p->n_omitted; i++)
		add_paragraph(out, "not drawn: ", p->omitted[i]);
	return out->failed ? -ENOMEM : 0;
}
