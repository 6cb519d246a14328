// SPDX-License-Identifier: MIT
/*
 * Sparklines: the shape of a long table at a glance. Leaves out what cannot be compared: values
 * whose evidence is contrary.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/curve_sheet.h"
#include "report/render.h"

enum { LEAST_ROWS = 12, LABEL_MAX = 24, LEVELS = 8, VALUES_WIDTH = 30 };

struct extent {
	double low, high;
};

static double cell_of(const struct sheet *s, size_t row, size_t curve)
{
	const struct curve_value *v = sheet_value(s, 0, row, curve);

	return v->counts ? v->value : NAN;
}

static struct extent extent_of(const struct sheet *s, size_t first, size_t end)
{
	struct extent e = { INFINITY, -INFINITY };

	for (size_t c = first; c < end; c++)
		for (size_t r = 0; r < s->n_rows; r++) {
			double v = cell_of(s, r, c);

			e.low = isnan(v) ? e.low : fmin(e.low, v);
			e.high = isnan(v) ? e.high : fmax(e.high, v);
		}
	return e;
}

/* 0 to LEVELS - 1; logarithmic where the values span more than a decade. */
static size_t level_of(double v, struct extent e)
{
	double place = e.high <= e.low                    ? 0
		       : e.low > 0 && e.high > 10 * e.low ? log(v / e.low) / log(e.high / e.low)
							  : (v - e.low) / (e.high - e.low);
	double level = floor(place * LEVELS);

	return level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : (size_t)level;
}

static void add_level(struct str *out, size_t level, bool utf8)
{
	static const char ascii[LEVELS + 1] = "_.-=+*%#";
	/* U+2581 to U+2588 */
	char block[4] = { (char)0xe2, (char)0x96, (char)(0x81 + level), 0 };

	if (utf8)
		str_add(out, block);
	else
		str_add_n(out, &ascii[level], 1);
}

/* The largest of the rows that share a cell: a spike stays visible. NaN: none. */
static double cell_value(const struct sheet *s, size_t curve, size_t cell, size_t n_cells)
{
	size_t from = cell * s->n_rows / n_cells, to = (cell + 1) * s->n_rows / n_cells;
	double v = NAN;

	for (size_t r = from; r < to; r++)
		v = fmax(v, cell_of(s, r, curve));
	return v;
}

static const char *label_of(const struct sheet *s, size_t curve, struct str *text)
{
	str_clear(text);
	if (s->legend)
		str_addf(text, "#%zu", curve + 1);
	for (size_t i = 0; i < s->g->n_differing && !s->legend; i++)
		str_addf(text, "%s%s", i ? " " : "", sheet_param(s, curve, s->g->differing[i]));
	if (str_columns(str_text(text)) > LABEL_MAX) {
		str_clear(text);
		str_addf(text, "curve %zu", curve + 1);
	}
	return str_text(text);
}

/* Points enough to have a shape. */
static bool has_shape(const struct sheet *s, size_t curve)
{
	size_t n = 0;

	for (size_t r = 0; r < s->n_rows; r++)
		n += isnan(cell_of(s, r, curve)) ? 0 : 1;
	return n >= LEAST_ROWS / 2;
}

static size_t label_width(const struct sheet *s)
{
	struct str text = { 0 };
	size_t width = 0;

	for (size_t c = 0; c < s->g->n; c++) {
		size_t n = has_shape(s, c) ? str_columns(label_of(s, c, &text)) : 0;

		width = n > width ? n : width;
	}
	str_done(&text);
	return width;
}

static void add_line(struct str *out, const struct sheet *s, size_t curve, struct extent all,
		     size_t width)
{
	size_t room = (size_t)(RENDER_WIDTH - VALUES_WIDTH) - (width ? width + 4 : 2);
	size_t n_cells = s->n_rows < room ? s->n_rows : room;
	struct extent own = extent_of(s, curve, curve + 1);
	struct str label = { 0 };
	size_t start = out->len;

	str_addf(out, "  %s", label_of(s, curve, &label));
	str_pad(out, start, width ? width + 4 : 2);
	for (size_t i = 0; i < n_cells; i++) {
		double v = cell_value(s, curve, i, n_cells);

		if (isnan(v))
			str_add(out, " ");
		else
			add_level(out, level_of(v, all), s->o->utf8);
	}
	str_add(out, "  ");
	render_value(out, own.low, s->units[0], s->digits, false);
	str_add(out, " to ");
	render_value(out, own.high, s->units[0], s->digits, true);
	str_add(out, "\n");
	str_done(&label);
}

void sheet_sparklines(struct str *out, const struct sheet *s)
{
	struct extent all = extent_of(s, 0, s->g->n);
	size_t width = label_width(s);

	if (!s->g->inner || s->n_rows < LEAST_ROWS || !(all.low < all.high))
		return;
	for (size_t c = 0; c < s->g->n; c++)
		if (has_shape(s, c))
			add_line(out, s, c, all, width);
}
