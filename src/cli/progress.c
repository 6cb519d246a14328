// SPDX-License-Identifier: MIT
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/str.h"
#include "host/clock.h"

enum { UPDATE_NS = 200 * 1000 * 1000 };

void progress_init(struct progress *p, bool quiet, size_t n_settings)
{
	const char *term = getenv("TERM");
	struct winsize w;

	*p = (struct progress){ .quiet = quiet, .columns = 80, .n_settings = n_settings };
	p->terminal = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
	if (p->terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20)
		p->columns = w.ws_col;
}

static void add_minutes(struct str *s, double seconds)
{
	long whole = isfinite(seconds) && seconds > 0 ? lround(seconds) : 0;

	str_addf(s, "%ld:%02ld", whole / 60, whole % 60);
}

/* Of the time, which is what people wait for; 100 is not said before the end. */
static void add_percent(struct str *s, double elapsed, double left)
{
	double share = elapsed / (elapsed + left);

	if (isfinite(share) && share >= 0 && left >= 0)
		str_addf(s, "%d %%, ", (int)fmin(100 * share, 99));
}

static void add_value(struct str *s, const struct param *p, const char *name, uint64_t value)
{
	char size[UNITS_TEXT_BYTES];

	if (p && p->type == PARAM_BYTES)
		str_addf(s, " %s=%s", name, format_size(size, value));
	else
		str_addf(s, " %s=%llu", name, (unsigned long long)value);
}

static const char *const telling[] = { "page", "backing", "stride", "page-tables", "pair" };

static bool is_telling(const char *name)
{
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++)
		if (strcmp(telling[i], name) == 0)
			return true;
	return false;
}

/* The other parameters, where they are not as the benchmark has them by default. */
static void add_not_default(struct str *s, const struct planned *pl)
{
	for (const struct param *p = pl->bench->schema.params; p->name; p++) {
		const struct attr *a = attrs_find(&pl->setting.given, p->name);
		struct str value = { 0 };

		if (!a || is_telling(p->name))
			continue;
		if (a->kind == ATTR_INT)
			add_value(&value, p, p->name, (uint64_t)a->integer);
		else if (a->kind == ATTR_TEXT)
			str_addf(&value, " %s=%s", p->name, a->text);
		if (value.len > 0 && strcmp(str_text(&value) + strlen(p->name) + 2, p->def) != 0)
			str_add(s, str_text(&value));
		str_done(&value);
	}
}

/* Few words that tell one setting from another: all parameters would be too many. */
static void add_setting(struct str *s, const struct planned *pl)
{
	const struct bench_schema *schema = &pl->bench->schema;

	str_add(s, schema->name);
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++) {
		const struct attr *a = attrs_find(&pl->setting.given, telling[i]);

		if (!a)
			continue;
		if (a->kind == ATTR_INT && a->integer != 0)
			add_value(s, schema_param(schema, a->name), a->name, (uint64_t)a->integer);
		else if (a->kind == ATTR_TEXT && strcmp(a->text, "local") != 0)
			str_addf(s, " %s=%s", a->name, a->text);
	}
	add_not_default(s, pl);
	if (pl->inner && pl->grid.n == 1)
		add_value(s, schema_param(schema, pl->inner), pl->inner, pl->grid.v[0]);
}

/* Overwrites the line on the screen, and what the longer one before it left. */
static void show(struct progress *p, const struct str *line)
{
	struct str out = { 0 };
	size_t n = line->len < p->columns - 1 ? line->len : p->columns - 1;

	str_add(&out, "\r");
	str_add_n(&out, str_text(line), n);
	if (p->shown > n)
		str_addf(&out, "%*s\r", (int)(p->shown - n), "");
	fputs(str_text(&out), stderr);
	fflush(stderr);
	p->shown = n;
	str_done(&out);
}

void progress_status(void *user, const struct run_status *st)
{
	struct progress *p = user;
	struct str line = { 0 };
	int64_t now = clock_now_ns();

	if (p->quiet || !p->terminal || now - p->shown_ns < UPDATE_NS)
		return;
	p->shown_ns = now;
	add_percent(&line, st->elapsed_seconds, st->left_seconds);
	add_minutes(&line, st->left_seconds);
	str_addf(&line, " left; round %u: ", st->invocation);
	if (st->planned) {
		add_setting(&line, st->planned);
		if (st->planned->inner && st->inner && st->planned->grid.n > 1)
			add_value(&line,
				  schema_param(&st->planned->bench->schema, st->planned->inner),
				  st->planned->inner, st->inner);
	}
	show(p, &line);
	str_done(&line);
}

void progress_setting_done(void *user, const struct planned *pl, unsigned invocations,
			   const char *why_stopped)
{
	struct progress *p = user;
	struct str line = { 0 };

	p->n_done++;
	if (p->quiet || p->terminal)
		return;
	str_addf(&line, "[%zu/%zu] ", p->n_done, p->n_settings);
	add_setting(&line, pl);
	str_addf(&line, ": %u invocation%s", invocations, invocations == 1 ? "" : "s");
	if (why_stopped) {
		str_add(&line, ", ");
		escape_terminal(&line, why_stopped);
	}
	fprintf(stderr, "%s\n", str_text(&line));
	str_done(&line);
}

void progress_done(struct progress *p)
{
	struct str nothing = { 0 };

	if (p->terminal && p->shown)
		show(p, &nothing);
}
