// SPDX-License-Identifier: MIT
/*
 * Text, numbers and wrapping for the text renderers. Leaves out what a line means: see text.c,
 * toll_card.c and about.c.
 */
#include "report/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/units.h"

void render_paint(struct str *out, const struct report_options *o, enum paint p, const char *text)
{
	static const char *const code[] = {
		[PAINT_BOLD] = "1", [PAINT_RED] = "31", [PAINT_YELLOW] = "33", [PAINT_GREEN] = "32"
	};
	if (o->colour && *text)
		str_addf(out, "\033[%sm%s\033[0m", code[p], text);
	else
		str_add(out, text);
}

/* The first @max code points of @text, in bytes. */
static size_t bytes_of_columns(const char *text, size_t max)
{
	size_t i = 0, columns = 0;
	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && ++columns > max)
			break;
	return i;
}

const char *render_clean(struct arena *a, const char *text, bool utf8, size_t max)
{
	struct str blanked = { 0 }, clean = { 0 };
	for (const char *p = text; *p; p++)
		str_add_n(&blanked, *p == '\n' || *p == '\t' ? " " : p, 1);
	escape_terminal(&clean, str_text(&blanked));
	str_clear(&blanked);
	for (const char *p = str_text(&clean); *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (utf8 || c < 0x80)
			str_add_n(&blanked, p, 1);
		else if ((c & 0xc0) != 0x80)
			str_add(&blanked, "?");
	}
	const char *all = str_text(&blanked);
	size_t columns = str_columns(all);
	const char *ret = NULL;
	if (!blanked.failed && !clean.failed) {
		if (max && columns > max)
			ret = arena_printf(a, "%.*s... (%zu characters, cut here)",
					   (int)bytes_of_columns(all, max), all, columns);
		else
			ret = arena_strdup(a, all);
	}
	str_done(&blanked);
	str_done(&clean);
	return ret;
}

/* The last blank before @end where a line may break; 0: none. Intervals stay whole if they can. */
static size_t last_break(const char *text, size_t end, bool in_brackets)
{
	size_t found = 0;
	bool inside = false;
	for (size_t i = 0; i <= end && text[i]; i++) {
		if (text[i] == '[' || text[i] == ']')
			inside = text[i] == '[';
		if (i && text[i] == ' ' && (in_brackets || !inside))
			found = i;
	}
	return found;
}

/* Where a word of more than @n bytes breaks: behind a joint of its parts in the second half, else
 * at @n. */
static size_t word_break(const char *text, size_t n)
{
	for (size_t i = n; i > n / 2; i--)
		if (text[i - 1] == '_' || text[i - 1] == '.' || text[i - 1] == '/')
			return i;
	return n;
}

size_t render_line_bytes(const char *text, size_t room, size_t *ret_skip)
{
	size_t n = bytes_of_columns(text, room);
	*ret_skip = 0;
	if (!text[n])
		return n;
	size_t end = last_break(text, n, false);
	if (!end)
		end = last_break(text, n, true);
	if (!end)
		return word_break(text, n);
	size_t after = end;
	while (text[after] == ' ')
		after++;
	*ret_skip = after - end;
	return end;
}

void render_wrap(struct str *out, const char *text, size_t first, size_t hang, size_t width)
{
	size_t at = first;
	do {
		size_t room = width > at + 8 ? width - at : 8;
		size_t skip;
		size_t n = render_line_bytes(text, room, &skip);
		/* a long word that would fit on a line of its own is not broken here */
		if (at > hang && text[n] && !skip && strcspn(text, " ") <= width - hang)
			n = 0;
		size_t shown = n;
		while (shown && text[shown - 1] == ' ')
			shown--;
		str_add_n(out, text, shown);
		text += n + skip;
		str_add(out, "\n");
		if (*text)
			for (size_t i = 0; i < hang; i++)
				str_add(out, " ");
		at = hang;
	} while (*text);
}

void render_paragraph(struct str *out, size_t indent, const char *head, const char *text)
{
	for (size_t i = 0; i < indent; i++)
		str_add(out, " ");
	str_add(out, head);
	size_t at = indent + str_columns(head);
	render_wrap(out, text, at, at, RENDER_WIDTH);
}

/* --- numbers --- */

struct scale {
	double divisor;
	const char *name;
	bool whole; /* no decimals */
	bool exact; /* what is shown are whole numbers of a larger unit */
};

static struct scale scale_of(double value, const char *unit)
{
	static const char *const sizes[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	struct scale s = { 1, unit ? unit : "", false, false };
	if (!unit)
		return s;
	if (strcmp(unit, "bytes") == 0) {
		size_t i = 0;
		while (i + 1 < sizeof(sizes) / sizeof(*sizes) &&
		       fabs(value) / s.divisor >= 1023.5) {
			s.divisor *= 1024;
			i++;
		}
		s.name = sizes[i];
		s.whole = i == 0;
	} else if (strcmp(unit, "Hz") == 0) {
		s.divisor = fabs(value) >= 1e9 ? 1e9 : fabs(value) >= 1e6 ? 1e6 : 1;
		s.name = s.divisor == 1e9 ? "GHz" : s.divisor == 1e6 ? "MHz" : "Hz";
	} else if (strcmp(unit, "percent") == 0) {
		s.name = "%";
	} else if (strcmp(unit, "count") == 0) {
		s.whole = value == floor(value); /* rates of counts are no whole numbers */
	} else if (strcmp(unit, "entries") == 0 || strcmp(unit, "pointers") == 0 ||
		   strcmp(unit, "ways") == 0) {
		s.whole = true;
	}
	return s;
}

static bool is_exact(double value, struct scale s)
{
	return s.divisor > 1 && value / s.divisor == floor(value / s.divisor);
}

static void add_number(struct str *out, double value, struct scale s, int digits)
{
	char buf[UNITS_TEXT_BYTES];
	double v = value / s.divisor;
	/* exact sizes stay exact: "256 KiB", not "256.0"; beyond 10^15 nothing is exact */
	if (isinf(v))
		str_add(out, v > 0 ? "inf" : "-inf"); /* an open end of an interval */
	else if (fabs(v) >= 1e15)
		str_add(out, format_digits(buf, v, digits));
	else if (s.whole || fabs(v) >= 1000 || s.exact)
		str_addf(out, "%.0f", v);
	else
		str_add(out, format_digits(buf, v, digits));
}

void render_value(struct str *out, double value, const char *unit, int digits, bool with_unit)
{
	struct scale s = scale_of(value, unit);
	s.exact = is_exact(value, s);
	add_number(out, value, s, digits);
	/* a scaled unit cannot be left to the title */
	if (*s.name && (with_unit || s.divisor != 1))
		str_addf(out, " %s", s.name);
}

double render_time_scale(double least, const char *unit, const char **ret_unit)
{
	static const struct {
		double ns;
		const char *unit;
	} scales[] = { { 1e9, "s" }, { 1e6, "ms" } };

	*ret_unit = unit;
	if (!unit || strcmp(unit, "ns") != 0 || !isfinite(least))
		return 1;
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
		if (fabs(least) < scales[i].ns / 2)
			continue;
		*ret_unit = scales[i].unit;
		return scales[i].ns;
	}
	return 1;
}

int render_compare_words(const char *a, const char *b)
{
	char *end_a, *end_b;
	long x = strtol(a, &end_a, 10), y = strtol(b, &end_b, 10);
	if (end_a != a && end_b != b && x != y)
		return x < y ? -1 : 1;
	return strcmp(a, b);
}

void render_interval(struct str *out, double low, double high, double value, const char *unit,
		     int digits)
{
	struct scale s = scale_of(value, unit);
	s.exact = is_exact(low, s) && is_exact(high, s);
	str_add(out, "[");
	add_number(out, low, s, digits);
	str_add(out, ", ");
	add_number(out, high, s, digits);
	str_add(out, "]");
}

void render_difference(struct str *out, double value, double scale, int digits)
{
	char buf[UNITS_TEXT_BYTES];
	if (!isfinite(value) || !isfinite(scale) || fabs(value) >= 1e15) {
		str_add(out, isfinite(value) ? format_digits(buf, value, digits) : "-");
		return;
	}
	int before = scale > 0 ? (int)floor(log10(scale)) + 1 : 1;
	int decimals = digits - before;
	decimals = decimals < 0 ? 0 : decimals > 12 ? 12 : decimals;
	double step = pow(10, -decimals);
	double rounded = round(value / step) * step;
	if (fabs(rounded) < step / 2) {
		str_add(out, "0");
		return;
	}
	int own = (int)floor(log10(fabs(rounded)) + 1e-9) + 1 + decimals;
	str_add(out, format_digits(buf, rounded, own < 1 ? 1 : own));
}

void render_time(struct str *out, int64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / 1000000000);
	struct tm tm;
	if (unix_ns <= 0 || !gmtime_r(&t, &tm)) {
		str_add(out, "unknown");
		return;
	}
	str_addf(out, "%04d-%02d-%02d %02d:%02d:%02d UTC", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void render_param(struct str *out, const struct bench_schema *s, const struct attr *a)
{
	char buf[UNITS_TEXT_BYTES];
	const struct param *p = s ? schema_param(s, a->name) : NULL;
	if (a->kind == ATTR_INT && a->integer >= 0 && p && p->type == PARAM_BYTES)
		str_add(out, format_size(buf, (uint64_t)a->integer));
	else if (a->kind == ATTR_TEXT)
		str_add(out, a->text);
	else
		attr_format(out, a);
}

void render_where(struct str *out, const struct run *r, const struct attrs *where)
{
	for (size_t i = 0; i < where->n; i++) {
		const struct bench_schema *s = NULL;
		for (size_t k = 0; k < r->n_schemas && !s; k++)
			if (schema_param(&r->schemas[k], where->v[i].name))
				s = &r->schemas[k];
		str_addf(out, "%s%s=", i ? " " : "", where->v[i].name);
		render_param(out, s, &where->v[i]);
	}
}

static bool is_disturbed(const struct report *rep)
{
	struct str text = { 0 };
	bool yes = render_disturbed(&text, rep);
	str_done(&text);
	return yes;
}

enum agreement fact_agreement(const struct report *rep, const struct fact *f)
{
	if (isnan(f->value) || isnan(f->advertised) || f->advertised <= 0)
		return AGREE_UNKNOWN;
	if (!isnan(f->nominal) && f->nominal == f->advertised)
		return AGREE_YES;
	if (!isnan(f->low) && !isnan(f->high) && f->low <= f->advertised &&
	    f->advertised <= f->high)
		return AGREE_YES;
	if (fabs(f->value / f->advertised - 1) <= 0.05)
		return AGREE_YES;
	return f->note || is_disturbed(rep) ? AGREE_UNKNOWN : AGREE_NO;
}
