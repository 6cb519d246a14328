// SPDX-License-Identifier: MIT
/*
 * The table model and its text form. Leaves out: colours of cells, cells that span columns, and
 * double-width characters (a code point counts as one column).
 */
#include "report/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/render.h"

enum {
	GAP = 2,             /* blanks between columns */
	WRAP_MIN = 14,       /* a wrapped column gets no narrower */
	HANG = 2,            /* further lines of a wrapped cell are indented */
	TITLE_LINES_MAX = 8, /* lines of a title */
};

static const char note_char[] = {
	[NOTE_REASON] = '*', [NOTE_UNPROVEN] = '?', [NOTE_INVALID] = '!'
};

void table_init(struct table *t, struct arena *a, const struct report_options *o)
{
	*t = (struct table){ .arena = a, .utf8 = o->utf8, .max_notes = TABLE_NOTES_MAX };
}

size_t table_add_column(struct table *t, const char *title, enum table_align align, unsigned group)
{
	if (t->failed || arena_grow(t->arena, &t->columns, t->n_columns, &t->cap_columns,
				    sizeof(*t->columns)) < 0) {
		t->failed = true;
		return 0;
	}
	t->columns[t->n_columns] =
		(struct table_column){ .title = title, .align = align, .group = group };
	return t->n_columns++;
}

size_t table_add_row(struct table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		size_t used = t->n_rows * t->n_columns + i;
		if (t->failed ||
		    arena_grow(t->arena, &t->cells, used, &t->cap_cells, sizeof(*t->cells)) < 0) {
			t->failed = true;
			return 0;
		}
		t->cells[used] = (struct table_cell){ 0 };
	}
	return t->n_rows++;
}

static struct table_cell *cell_at(const struct table *t, size_t row, size_t column)
{
	if (t->failed || row >= t->n_rows || column >= t->n_columns)
		return NULL;
	return &t->cells[row * t->n_columns + column];
}

void table_set(struct table *t, size_t row, size_t column, const char *text)
{
	struct table_cell *c = cell_at(t, row, column);
	if (!c)
		return;
	c->text = render_clean(t->arena, text, t->utf8, 0);
	if (!c->text)
		t->failed = true;
}

/* The number of the note, from 1; 0: the notes are full. */
static size_t note_number(struct table *t, enum table_note_kind kind, const char *text)
{
	for (size_t i = 0; i < t->n_notes; i++)
		if (t->notes[i].kind == kind && strcmp(t->notes[i].text, text) == 0)
			return i + 1;
	if (t->n_notes >= t->max_notes)
		return 0;
	if (arena_grow(t->arena, &t->notes, t->n_notes, &t->cap_notes, sizeof(*t->notes)) < 0) {
		t->failed = true;
		return 0;
	}
	t->notes[t->n_notes] = (struct table_note){ .kind = kind, .text = text };
	return ++t->n_notes;
}

/* Whether @marks ("*1?12") holds @mark ("*1"). */
static bool has_mark(const char *marks, const char *mark)
{
	size_t n = strlen(mark);
	for (const char *p = strstr(marks, mark); p; p = strstr(p + 1, mark))
		if (p[n] < '0' || p[n] > '9')
			return true;
	return false;
}

/* @marks ("*1?12") with @mark, number @number (0: none), in ascending order; NULL: no memory. */
static const char *insert_mark(struct table *t, const char *marks, const char *mark, size_t number)
{
	const char *p = marks;
	while (*p) {
		size_t n = 1 + strspn(p + 1, "0123456789");
		unsigned long own = n > 1 ? strtoul(p + 1, NULL, 10) : 0;
		if (number && (!own || own > number))
			break;
		p += n;
	}
	return arena_printf(t->arena, "%.*s%s%s", (int)(p - marks), marks, mark, p);
}

void table_mark(struct table *t, size_t row, size_t column, enum table_note_kind kind,
		const char *text)
{
	struct table_cell *c = cell_at(t, row, column);
	if (!c)
		return;
	const char *clean = render_clean(t->arena, text, t->utf8, 0);
	if (!clean) {
		t->failed = true;
		return;
	}
	size_t number = note_number(t, kind, clean);
	const char *mark;
	if (number) {
		mark = arena_printf(t->arena, "%c%zu", note_char[kind], number);
	} else {
		t->n_notes_left_out++;
		mark = arena_printf(t->arena, "%c", note_char[kind]);
	}
	if (mark && c->marks) {
		if (has_mark(c->marks, mark))
			return;
		mark = insert_mark(t, c->marks, mark, number);
	}
	c->marks = mark;
	if (!mark)
		t->failed = true;
}

void table_lift_marks(struct table *t, size_t column, enum table_note_kind kind)
{
	const char *common = NULL;
	size_t n = 0;
	for (size_t r = 0; r < t->n_rows; r++) {
		struct table_cell *c = cell_at(t, r, column);
		if (!c || !c->text)
			continue;
		if (!c->marks || c->marks[0] != note_char[kind] ||
		    (common && strcmp(common, c->marks) != 0))
			return;
		common = c->marks;
		n++;
	}
	if (n < 2 || t->failed)
		return;
	const char *title = arena_printf(t->arena, "%s %s", t->columns[column].title, common);
	if (!title) {
		t->failed = true;
		return;
	}
	t->columns[column].title = title;
	for (size_t r = 0; r < t->n_rows; r++)
		t->cells[r * t->n_columns + column].marks = NULL;
}

/* For rows and columns that exist. */
static struct table_cell *known_cell(const struct table *t, size_t row, size_t column)
{
	return &t->cells[row * t->n_columns + column];
}

/* --- layout --- */

struct widths {
	size_t text, marks; /* of the cells */
	size_t whole;       /* with title */
};

static size_t line_columns(const char *text, size_t n)
{
	size_t columns = 0;
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			columns++;
	return columns;
}

static size_t title_lines(const char *title)
{
	size_t n = 1;
	for (; *title; title++)
		if (*title == '\n')
			n++;
	return n;
}

static const char *title_line(const char *title, size_t i, size_t *ret_n)
{
	while (i--)
		title = strchr(title, '\n') + 1;
	*ret_n = strcspn(title, "\n");
	return title;
}

static struct widths measure_column(const struct table *t, size_t column, size_t limit)
{
	const struct table_column *col = &t->columns[column];
	struct widths w = { 0 };
	for (size_t r = 0; r < t->n_rows; r++) {
		const struct table_cell *c = known_cell(t, r, column);
		size_t text = c->text ? str_columns(c->text) : 0;
		size_t marks = c->marks ? str_columns(c->marks) + 1 : 0;
		if (col->wraps && text > limit)
			text = limit;
		/* only right-aligned numbers need a column of marks to stay in line */
		if (col->align == TABLE_LEFT && !col->wraps) {
			text += marks;
			marks = 0;
		}
		w.text = text > w.text ? text : w.text;
		w.marks = marks > w.marks ? marks : w.marks;
	}
	w.whole = w.text + w.marks;
	for (size_t i = 0; !t->bare && i < title_lines(col->title); i++) {
		size_t n;
		const char *line = title_line(col->title, i, &n);
		size_t columns = line_columns(line, n);
		/* a right-aligned title may stand above the marks too */
		w.whole = columns > w.whole ? columns : w.whole;
	}
	return w;
}

static bool is_shown(const struct table *t, size_t column)
{
	for (size_t r = 0; r < t->n_rows; r++)
		if (known_cell(t, r, column)->text)
			return true;
	return !t->columns[column].optional;
}

static size_t whole_width(const struct table *t, size_t limit)
{
	size_t width = t->indent;
	for (size_t i = 0; i < t->n_columns; i++)
		if (is_shown(t, i))
			width += measure_column(t, i, limit).whole + (i ? GAP : 0);
	return width;
}

size_t table_width(const struct table *t)
{
	return t->failed ? 0 : whole_width(t, WRAP_MIN);
}

/* The widest limit of wrapped columns at which the table fits. */
static size_t wrap_limit(const struct table *t)
{
	size_t limit = RENDER_WIDTH;
	while (limit > WRAP_MIN && whole_width(t, limit) > RENDER_WIDTH)
		limit--;
	return limit;
}

static void trim_line(struct str *out, size_t start)
{
	while (out->len > start && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}

struct layout {
	size_t limit;
	size_t *columns; /* indices shown in this part */
	size_t n;
	struct widths *w; /* of all columns */
};

static void render_titles(struct str *out, const struct table *t, const struct layout *l,
			  const struct report_options *o)
{
	size_t lines = 1;
	for (size_t i = 0; i < l->n; i++) {
		size_t n = title_lines(t->columns[l->columns[i]].title);
		lines = n > lines ? n : lines;
	}
	for (size_t k = 0; k < lines; k++) {
		struct str line = { 0 };
		size_t at = t->indent;
		for (size_t i = 0; i < l->n; i++) {
			const struct table_column *c = &t->columns[l->columns[i]];
			const struct widths *w = &l->w[l->columns[i]];
			size_t own = title_lines(c->title), n = 0;
			const char *text = "";
			if (k + own >= lines)
				text = title_line(c->title, k + own - lines, &n);
			size_t columns = line_columns(text, n);
			size_t room = w->whole - w->marks > columns ? w->whole - w->marks : columns;
			str_pad(&line, 0, c->align == TABLE_RIGHT ? at + room - columns : at);
			str_add_n(&line, text, n);
			at += w->whole + GAP;
		}
		trim_line(&line, 0);
		if (line.failed)
			out->failed = true;
		render_paint(out, o, PAINT_BOLD, str_text(&line));
		str_add(out, "\n");
		str_done(&line);
	}
}

static void render_rule(struct str *out, const struct table *t, const struct layout *l)
{
	size_t start = out->len;
	size_t at = t->indent;
	for (size_t i = 0; i < l->n; i++) {
		str_pad(out, start, at);
		for (size_t k = 0; k < l->w[l->columns[i]].whole; k++)
			str_add(out, t->utf8 ? "\u2500" : "-");
		at += l->w[l->columns[i]].whole + GAP;
	}
	str_add(out, "\n");
}

/* One line of a row; @rest points at what is left of each cell. True: more lines follow. */
static bool render_row_line(struct str *out, const struct table *t, const struct layout *l,
			    size_t row, const char **rest, bool first)
{
	size_t start = out->len;
	size_t at = t->indent;
	bool more = false;
	for (size_t i = 0; i < l->n; i++) {
		size_t column = l->columns[i];
		const struct table_column *col = &t->columns[column];
		const struct table_cell *c = known_cell(t, row, column);
		const struct widths *w = &l->w[column];
		size_t skip = 0, n = strlen(rest[i]);
		size_t hang = col->wraps && !first ? HANG : 0;
		if (col->wraps)
			n = render_line_bytes(rest[i], l->limit - hang, &skip);
		size_t columns = line_columns(rest[i], n);
		size_t room = w->whole - w->marks;
		str_pad(out, start, col->align == TABLE_RIGHT ? at + room - columns : at + hang);
		str_add_n(out, rest[i], n);
		rest[i] += n + skip;
		if (c->marks && first) {
			if (c->text && *c->text)
				str_add(out, " ");
			str_add(out, c->marks);
		}
		more = more || *rest[i];
		at += w->whole + GAP;
	}
	trim_line(out, start);
	str_add(out, "\n");
	return more;
}

static int render_rows(struct str *out, const struct table *t, const struct layout *l)
{
	const char **rest = arena_alloc(t->arena, (l->n + 1) * sizeof(*rest));
	if (!rest)
		return -ENOMEM;
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t i = 0; i < l->n; i++) {
			const char *text = known_cell(t, r, l->columns[i])->text;
			rest[i] = text ? text : "";
		}
		bool first = true;
		while (render_row_line(out, t, l, r, rest, first))
			first = false;
	}
	return 0;
}

/* Columns of the part that begins at column @begin: returns the end. */
static size_t part_end(const struct table *t, const struct widths *w, size_t begin)
{
	size_t width = t->indent;
	for (size_t i = 0; i < t->n_keys; i++)
		width += w[i].whole + GAP;
	size_t end = begin;
	while (end < t->n_columns) {
		size_t stop = end + 1;
		unsigned group = t->columns[end].group;
		while (group && stop < t->n_columns && t->columns[stop].group == group)
			stop++;
		size_t more = 0;
		for (size_t i = end; i < stop; i++)
			more += w[i].whole + GAP;
		if (width + more - GAP > RENDER_WIDTH) {
			/* one group alone is too wide: break it */
			if (end == begin) {
				width += w[end].whole + GAP;
				for (end++; end < stop && width + w[end].whole <= RENDER_WIDTH;
				     end++)
					width += w[end].whole + GAP;
			}
			break;
		}
		width += more;
		end = stop;
	}
	return end;
}

static void render_notes(struct str *out, const struct table *t)
{
	static const char *const word[] = { [NOTE_REASON] = "",
					    [NOTE_UNPROVEN] = "unproven: ",
					    [NOTE_INVALID] = "invalid, never compared: " };
	for (size_t i = 0; i < t->n_notes; i++) {
		const struct table_note *n = &t->notes[i];
		struct str head = { 0 };
		str_addf(&head, "%c%zu %s", note_char[n->kind], i + 1, word[n->kind]);
		size_t hang = strcspn(str_text(&head), " ") + 1;
		for (size_t k = 0; k < t->indent; k++)
			str_add(out, " ");
		str_add(out, str_text(&head));
		render_wrap(out, n->text, t->indent + head.len, t->indent + hang, RENDER_WIDTH);
		str_done(&head);
	}
	if (t->n_notes_left_out) {
		struct str text = { 0 };
		str_addf(&text,
			 "Marks without a number: %zu further reasons, in full with --format json.",
			 t->n_notes_left_out);
		render_paragraph(out, t->indent, "", str_text(&text));
		str_done(&text);
	}
}

/* A copy without the columns that are not shown. */
static int without_hidden(const struct table *t, struct table *ret)
{
	*ret = *t;
	ret->n_columns = ret->cap_columns = ret->n_rows = ret->cap_cells = 0;
	ret->columns = NULL;
	ret->cells = NULL;
	for (size_t c = 0; c < t->n_columns; c++) {
		if (!is_shown(t, c)) {
			ret->n_keys -= c < t->n_keys;
			continue;
		}
		size_t at = table_add_column(ret, NULL, TABLE_LEFT, 0);
		if (ret->failed)
			return -ENOMEM;
		ret->columns[at] = t->columns[c];
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		size_t to = 0;
		table_add_row(ret);
		if (ret->failed)
			return -ENOMEM;
		for (size_t c = 0; c < t->n_columns; c++)
			if (is_shown(t, c))
				*known_cell(ret, r, to++) = *known_cell(t, r, c);
	}
	return 0;
}

int table_render(struct str *out, const struct table *whole, const struct report_options *o)
{
	if (whole->failed)
		return -ENOMEM;
	if (!whole->n_columns || !whole->n_rows)
		return 0;
	struct table shown;
	if (without_hidden(whole, &shown) < 0)
		return -ENOMEM;
	const struct table *t = &shown;
	struct layout l = { .limit = wrap_limit(t) };
	l.w = arena_alloc(t->arena, t->n_columns * sizeof(*l.w));
	l.columns = arena_alloc(t->arena, t->n_columns * sizeof(*l.columns));
	if (!l.w || !l.columns)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_columns; i++)
		l.w[i] = measure_column(t, i, l.limit);
	size_t begin = t->n_keys;
	do {
		size_t end = part_end(t, l.w, begin);
		l.n = 0;
		for (size_t i = 0; i < t->n_keys; i++)
			l.columns[l.n++] = i;
		for (size_t i = begin; i < end; i++)
			l.columns[l.n++] = i;
		if (begin > t->n_keys)
			str_addf(out, "\n%*scolumns %zu to %zu of %zu:\n", (int)t->indent, "",
				 begin - t->n_keys + 1, end - t->n_keys, t->n_columns - t->n_keys);
		if (!t->bare)
			render_titles(out, t, &l, o);
		if (t->rule)
			render_rule(out, t, &l);
		if (render_rows(out, t, &l) < 0)
			return -ENOMEM;
		begin = end;
	} while (begin < t->n_columns);
	render_notes(out, t);
	return out->failed ? -ENOMEM : 0;
}
