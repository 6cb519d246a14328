// SPDX-License-Identifier: MIT
/*
 * Escaping and cells of the page. What may come from outside goes through html_foreign(); nothing
 * of it can end an element, an attribute or the data of the script.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/json.h"
#include "report/render.h"

void html_text(struct str *out, const char *text)
{
	struct str clean = { 0 };
	escape_terminal(&clean, text ? text : "");
	for (const char *p = str_text(&clean); *p; p++) {
		switch (*p) {
		case '&':
			str_add(out, "&amp;");
			break;
		case '<':
			str_add(out, "&lt;");
			break;
		case '>':
			str_add(out, "&gt;");
			break;
		case '"':
			str_add(out, "&quot;");
			break;
		case '\'':
			str_add(out, "&#39;");
			break;
		default:
			str_add_n(out, p, 1);
		}
	}
	out->failed = out->failed || clean.failed;
	str_done(&clean);
}

static bool is_ascii(const char *s)
{
	while (*s && (unsigned char)*s < 0x80)
		s++;
	return !*s;
}

void html_foreign(struct str *out, const char *text)
{
	struct arena a = { 0 };
	const char *clean = render_clean(&a, text ? text : "", true, HTML_WORDS_MAX);
	bool alone = clean && is_ascii(clean); /* no direction but the page's */
	str_add(out, alone ? "" : "<bdi>");
	html_text(out, clean ? clean : "");
	str_add(out, alone ? "" : "</bdi>");
	out->failed = out->failed || !clean;
	arena_done(&a);
}

size_t page_note(struct page *pg, struct page_notes *notes, const char *text)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strcmp(notes->v[i], text) == 0)
			return i + 1;
	if (arena_grow(pg->arena, &notes->v, notes->n, &notes->cap, sizeof(*notes->v)) < 0) {
		pg->out->failed = true;
		return 0;
	}
	notes->v[notes->n++] = text;
	return notes->n;
}

void page_notes_list(struct page *pg, const struct page_notes *notes)
{
	if (!notes->n)
		return;
	str_add(pg->out, "<ol class=\"notes\">");
	for (size_t i = 0; i < notes->n; i++) {
		str_add(pg->out, "<li>");
		html_foreign(pg->out, notes->v[i]);
		str_add(pg->out, "</li>");
	}
	str_add(pg->out, "</ol>\n");
}

double html_time_divisor(double v, const char **unit)
{
	if (!*unit || strcmp(*unit, "ns") != 0 || fabs(v) < 1e5)
		return 1;
	*unit = fabs(v) >= 1e9 ? "s" : fabs(v) >= 1e6 ? "ms" : "µs";
	return fabs(v) >= 1e9 ? 1e9 : fabs(v) >= 1e6 ? 1e6 : 1e3;
}

void html_number_cell(struct str *out, double v, const char *unit, int digits)
{
	struct str text = { 0 };
	double divisor = html_time_divisor(v, &unit);
	if (isnan(v))
		str_add(&text, "–");
	else
		render_value(&text, v / divisor, unit, digits, true);
	str_add(out, "<td class=num>");
	html_text(out, str_text(&text));
	out->failed = out->failed || text.failed;
	str_done(&text);
}

void html_interval_cell(struct str *out, double low, double high, double v, const char *unit)
{
	struct str text = { 0 };
	double divisor = html_time_divisor(v, &unit);
	if (isnan(low) || isnan(high))
		str_add(&text, "–");
	else
		render_interval(&text, low / divisor, high / divisor, v / divisor, unit, 3);
	str_add(out, "<td class=num>");
	html_text(out, str_text(&text));
	out->failed = out->failed || text.failed;
	str_done(&text);
}

json_t *html_json_number(double v)
{
	return isnan(v) || v != rint(v) || fabs(v) >= 1e15 ? json_real_or_null(v)
							   : json_integer((json_int_t)v);
}

json_t *html_json_text(const char *text)
{
	struct arena a = { 0 };
	const char *clean = text ? render_clean(&a, text, true, HTML_WORDS_MAX) : NULL;
	json_t *j = text && !clean ? NULL : json_text_or_null(clean);
	arena_done(&a);
	return j;
}

/*
 * All of <, > and & stand inside strings, where an escape means the same. Six digits are more
 * than a clock tells of a reference, and a third of what doubles may need.
 */
int html_json(struct str *out, json_t *j)
{
	char *text =
		j ? json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6)) : NULL;
	json_decref(j);
	if (!text)
		return -ENOMEM;
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "<>&");
		str_add_n(out, p, n);
		p += n;
		if (*p)
			str_addf(out, "\\u%04x", (unsigned)(unsigned char)*p++);
	}
	free(text);
	return out->failed ? -ENOMEM : 0;
}
