// SPDX-License-Identifier: MIT
/*
 * Charts as a script for gnuplot, data included. Labels are foreign text: they stand in single
 * quotes, in which gnuplot substitutes nothing, and are drawn without its markup ("noenhanced").
 * Sources: the gnuplot 5.4 manual, "strings, backquotes", "here documents", "fonts: enhanced".
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/plot.h"
#include "report/render.h"

enum { WIDTH = 960, HEIGHT = 600, ROW_HEIGHT = 26, TITLE_COLUMNS = 110 };

/* Told apart in print and by the colour-blind (Okabe and Ito, 2008); dashes and marks differ too.
 */
static const char *const colours[PLOT_SERIES_MAX] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7",
						      "#E69F00", "#56B4E9", "#000000", "#777777" };
static const int points[PLOT_SERIES_MAX] = { 7, 5, 9, 13, 4, 6, 8, 12 };

static void quoted(struct str *out, const char *text)
{
	str_add(out, "'");
	for (; *text; text++)
		str_add_n(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
	str_add(out, "'");
}

static void number(struct str *out, double v)
{
	char buf[UNITS_TEXT_BYTES];

	str_add(out, isfinite(v) ? format_real(buf, v) : "NaN");
}

/* What stands at a tic is a format to gnuplot. */
static void quoted_tic(struct str *out, const char *text)
{
	struct str doubled = { 0 };

	for (; *text; text++)
		str_add_n(&doubled, *text == '%' ? "%%" : text, *text == '%' ? 2 : 1);
	quoted(out, str_text(&doubled));
	out->failed = out->failed || doubled.failed;
	str_done(&doubled);
}

/* --- data --- */

static void add_data(struct str *out, const struct plot_chart *c, size_t chart, size_t series)
{
	const struct plot_series *s = &c->series[series];

	str_addf(out, "# x, median, low, high\n$m%zu_%zu << EOD\n", chart, series);
	for (size_t i = 0; i < s->n; i++) {
		const struct plot_point *p = &s->points[i];
		const double v[] = { p->x, p->value, isnan(p->low) ? p->value : p->low,
				     isnan(p->high) ? p->value : p->high };

		for (size_t k = 0; k < 4; k++) {
			str_add(out, k ? " " : "");
			number(out, v[k]);
		}
		str_add(out, "\n");
	}
	str_addf(out, "EOD\n# x, one invocation\n$i%zu_%zu << EOD\n", chart, series);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->points[i].n_each; k++) {
			number(out, s->points[i].x);
			str_add(out, " ");
			number(out, s->points[i].each[k]);
			str_add(out, "\n");
		}
	/* a block without a line cannot be drawn */
	str_add(out, "NaN NaN\nEOD\n");
}

/* --- axes --- */

static void add_axis(struct str *out, const struct plot_axis *a, const char *letter)
{
	struct plot_tick ticks[PLOT_TICKS_MAX];
	size_t n = plot_ticks(a, 12, ticks);
	struct str label = { 0 };

	str_addf(&label, "%s%s%s", a->name, *a->unit && strcmp(a->unit, "bytes") != 0 ? ", " : "",
		 strcmp(a->unit, "bytes") != 0 ? a->unit : "");
	str_addf(out, "%s logscale %s\nset %slabel ", a->log ? "set" : "unset", letter, letter);
	quoted(out, str_text(&label));
	/* away from the legend */
	str_addf(out, "%s\nset %srange [", *letter == 'x' ? " offset 0,0.4" : "", letter);
	number(out, a->low);
	str_add(out, ":");
	number(out, a->high);
	str_addf(out, "]\nset %stics (", letter);
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? ", " : "");
		quoted_tic(out, ticks[i].text);
		str_add(out, " ");
		number(out, ticks[i].at);
	}
	str_add(out, ")\n");
	out->failed = out->failed || label.failed;
	str_done(&label);
}

/* Rows stand below each other, the first on top; values go to the right. */
static void add_row_axes(struct str *out, const struct plot_chart *c)
{
	add_axis(out, &c->y, "x");
	str_addf(out, "unset logscale y\nset ylabel ''\nset yrange [%zu:-1]\nset ytics (",
		 c->n_rows);
	for (size_t i = 0; i < c->n_rows; i++) {
		str_add(out, i ? ", " : "");
		quoted_tic(out, c->rows[i]);
		str_addf(out, " %zu", i);
	}
	str_add(out, ")\n");
}

static void add_knees(struct str *out, const struct plot_chart *c)
{
	for (size_t s = 0; s < c->n_series; s++)
		for (size_t i = 0; i < c->series[s].n_knees; i++) {
			const struct plot_knee *k = &c->series[s].knees[i];

			str_add(out, "set arrow from first ");
			number(out, k->x);
			str_add(out, ", graph 0 to first ");
			number(out, k->x);
			str_addf(out, ", graph 1 nohead dashtype 3 linecolor rgb '%s'\nset label ",
				 colours[s]);
			quoted(out, k->text);
			str_add(out, " at first ");
			number(out, k->x);
			/* labels of neighbouring series stand below each other */
			str_addf(out, ", graph %s left offset 0.5,0 textcolor rgb '%s'\n",
				 s % 4 == 0   ? "0.97"
				 : s % 4 == 1 ? "0.92"
				 : s % 4 == 2 ? "0.87"
					      : "0.82",
				 colours[s]);
		}
}

/* --- plots --- */

static bool has_interval(const struct plot_series *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!isnan(s->points[i].low))
			return true;
	return false;
}

static void add_curve_plot(struct str *out, const struct plot_chart *c, size_t chart)
{
	str_add(out, "plot ");
	for (size_t s = 0; s < c->n_series; s++) {
		const char *rgb = colours[s];

		if (has_interval(&c->series[s]))
			str_addf(out,
				 "$m%zu_%zu using 1:3:4 with filledcurves linecolor rgb '%s' "
				 "fillstyle transparent solid 0.15 noborder notitle, \\\n     ",
				 chart, s, rgb);
		str_addf(out,
			 "$i%zu_%zu using 1:2 with points pointtype %d pointsize 0.3 linecolor rgb "
			 "'%s' notitle, \\\n     ",
			 chart, s, points[s], rgb);
		str_addf(out,
			 "$m%zu_%zu using 1:2 with linespoints linecolor rgb '%s' linewidth 1.5 "
			 "dashtype %zu pointtype %d pointsize 0.6 title ",
			 chart, s, rgb, s + 1 <= 5 ? s + 1 : s - 4, points[s]);
		quoted(out, *c->series[s].label ? c->series[s].label : c->metric);
		str_add(out, s + 1 < c->n_series ? ", \\\n     " : "\n");
	}
}

/* Series of one row are drawn a little below each other. */
static void add_row_plot(struct str *out, const struct plot_chart *c, size_t chart)
{
	str_add(out, "plot ");
	for (size_t s = 0; s < c->n_series; s++) {
		char shift[UNITS_TEXT_BYTES];

		format_real(shift, ((double)s - ((double)c->n_series - 1) / 2) * 0.6 /
					   (double)c->n_series);
		str_addf(out,
			 "$i%zu_%zu using 2:($1+(%s)) with points pointtype 6 pointsize 0.3 "
			 "linecolor rgb '%s' notitle, \\\n     ",
			 chart, s, shift, colours[s]);
		str_addf(out,
			 "$m%zu_%zu using 2:($1+(%s)):3:4 with xerrorbars linecolor rgb '%s' "
			 "linewidth 1.5 pointtype %d pointsize 1 title ",
			 chart, s, shift, colours[s], points[s]);
		quoted(out, *c->series[s].label ? c->series[s].label : c->metric);
		str_add(out, s + 1 < c->n_series ? ", \\\n     " : "\n");
	}
}

/* Lines below the title, broken at blanks: double quotes hold nothing but the line break. */
static void add_lines(struct str *out, const char *text)
{
	while (*text) {
		size_t skip, n = render_line_bytes(text, TITLE_COLUMNS, &skip);
		struct str line = { 0 };

		str_add_n(&line, text, n);
		str_add(out, " . \"\\n\" . ");
		quoted(out, str_text(&line));
		out->failed = out->failed || line.failed;
		str_done(&line);
		text += n + skip;
	}
}

static void add_title(struct str *out, const struct plot_chart *c)
{
	str_add(out, "set title ");
	quoted(out, c->title);
	add_lines(out, c->fixed);
	add_lines(out, c->how);
	str_add(out, "\n");
}

static void add_chart(struct str *out, const struct plot_chart *c, size_t chart)
{
	str_addf(out, "\nunset arrow\nunset label\n%s key\n",
		 c->n_series > 1 || *c->series[0].label ? "set" : "unset");
	add_title(out, c);
	if (c->rows) {
		add_row_axes(out, c);
	} else {
		add_axis(out, &c->x, "x");
		add_axis(out, &c->y, "y");
		add_knees(out, c);
	}
	(c->rows ? add_row_plot : add_curve_plot)(out, c, chart);
}

/* --- the whole --- */

static size_t height_of(const struct plot_chart *c)
{
	size_t rows = 140 + ROW_HEIGHT * c->n_rows * (c->n_series > 1 ? 2 : 1);

	return c->rows && rows < HEIGHT ? rows : c->rows && rows > HEIGHT ? rows : HEIGHT;
}

static size_t total_height(const struct plot *p)
{
	size_t sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += height_of(&p->charts[i]);
	return sum;
}

static void add_terminal(struct str *out, const struct plot *p, const char *terminal)
{
	size_t height = total_height(p);

	if (!terminal)
		return;
	if (strcmp(terminal, "pdf") == 0)
		str_add(out, "set terminal pdfcairo noenhanced size 24cm,14cm font 'sans,10'\n");
	else
		str_addf(out,
			 "set terminal %s noenhanced size %d,%zu font 'sans,11' background "
			 "rgb 'white'\n",
			 strcmp(terminal, "png") == 0 ? "pngcairo" : "svg", WIDTH, height);
}

int plot_gnuplot(struct str *out, const struct plot *p, const char *terminal)
{
	bool pages = !terminal || strcmp(terminal, "pdf") == 0;
	double top = 1, all = (double)total_height(p);

	str_add(out, "# A script for gnuplot 5.2 or later, made by 'pagetoll plot'. In a window:\n"
		     "#   gnuplot -p THIS-FILE\n# In a file, a chart a page:\n"
		     "#   gnuplot -e \"set terminal pdfcairo; set output 'x.pdf'\" THIS-FILE\n"
		     "set encoding utf8\nset termoption noenhanced\n");
	add_terminal(out, p, terminal);
	str_add(out,
		"set key outside below left Left reverse\nset grid linetype 1 linecolor rgb '#dddddd'\n"
		"set border 3\nset tics nomirror\nset lmargin\n");
	for (size_t i = 0; i < p->n; i++)
		for (size_t s = 0; s < p->charts[i].n_series; s++)
			add_data(out, &p->charts[i], i, s);
	if (!pages && p->n > 1)
		str_add(out, "set multiplot\n");
	for (size_t i = 0; i < p->n; i++) {
		double share = (double)height_of(&p->charts[i]) / all;

		if (!pages && p->n > 1) {
			top -= share;
			str_add(out, "\nset origin 0,");
			number(out, fmax(top, 0));
			str_add(out, "\nset size 1,");
			number(out, share);
			str_add(out, "\n");
		}
		add_chart(out, &p->charts[i], i);
	}
	if (!pages && p->n > 1)
		str_add(out, "unset multiplot\n");
	return out->failed ? -ENOMEM : 0;
}
