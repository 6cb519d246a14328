// SPDX-License-Identifier: MIT
/*
 * `pagetoll import FILE...`: run files into the library, or one table of comma-separated values as
 * a published run. What each column means is said on the command line, nothing is guessed.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "record/csv_run.h"
#include "record/runfile_text.h"
#include "store/library.h"

enum {
	KEY_BENCH = KEY_VERB,
	KEY_INNER,
	KEY_METRIC,
	KEY_SETTING,
	KEY_COLUMN_SETTING,
	KEY_SOURCE,
	KEY_NAME,
	KEY_MACHINE,
	KEY_REVISION,
	MAX_PAIRS = 32,
};

struct import_args {
	struct common common;
	struct csv_mapping map;
	struct csv_pair columns[MAX_PAIRS], settings[MAX_PAIRS], where[MAX_PAIRS];
	size_t n_where;
	struct csv_metric metrics[MAX_PAIRS];
	bool has_mapping;
};

/* --- options ---------------------------------------------------------------------------------- */

static bool is_word(const char *s, const char *also)
{
	if (!(*s >= 'a' && *s <= 'z') && !(*s >= 'A' && *s <= 'Z') && !(*s >= '0' && *s <= '9'))
		return false;
	for (; *s; s++) {
		if (!(*s >= 'a' && *s <= 'z') && !(*s >= 'A' && *s <= 'Z') &&
		    !(*s >= '0' && *s <= '9') && !strchr(also, *s))
			return false;
	}
	return true;
}

/* A name that stands as NAME=VALUE on command lines later. */
static const char *name_word(const struct import_args *a, const char *option, const char *word)
{
	if (!is_word(word, "-_.") || strlen(word) > 64)
		cli_usage(&a->common,
			  "%s: '%s' is no name: up to 64 letters, digits, '-', '_' and '.'", option,
			  word);
	return word;
}

/* Splits at the last '=', because names of columns may hold one. NULL: there is none. */
static char *split_pair(char *arg)
{
	char *equals = strrchr(arg, '=');

	if (!equals || equals == arg || !equals[1])
		return NULL;
	*equals = '\0';
	return equals + 1;
}

static void need_room(const struct import_args *a, const char *option, size_t n)
{
	if (n == MAX_PAIRS)
		cli_usage(&a->common, "%s: at most %d of them", option, (int)MAX_PAIRS);
}

/* PARAM=VALUE[,PARAM=VALUE]... of one metric. */
static void parse_where(struct import_args *a, struct csv_metric *m, char *text)
{
	char *save = NULL;

	m->where = &a->where[a->n_where];
	for (char *w = strtok_r(text, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		char *value = strchr(w, '=');

		need_room(a, "--metric", a->n_where);
		if (!value || !value[1])
			cli_usage(&a->common, "--metric: '%s' is not PARAM=VALUE", w);
		*value++ = '\0';
		a->where[a->n_where++] =
			(struct csv_pair){ .column = value, .name = name_word(a, "--metric", w) };
		m->n_where++;
	}
}

/* The '=' before NAME:UNIT; names of columns may hold one, too. */
static char *split_metric(char *arg)
{
	char *colon = strchr(arg, ':');
	char *equals = NULL;

	for (char *p = arg; colon && p < colon; p++)
		equals = *p == '=' ? p : equals;
	if (!equals || equals == arg || equals + 1 == colon)
		return NULL;
	*equals = '\0';
	return equals + 1;
}

/* COLUMN=NAME:UNIT[:lower|higher][,PARAM=VALUE]... */
static void parse_metric(struct import_args *a, char *arg)
{
	struct csv_metric *m = &a->metrics[a->map.n_metrics];
	char *name, *unit, *better, *where;
	char *whole = strdup(arg);

	need_room(a, "--metric", a->map.n_metrics);
	name = split_metric(arg);
	unit = name ? strchr(name, ':') : NULL;
	if (!whole || !unit)
		cli_usage(&a->common,
			  "--metric: '%s' is not COLUMN=NAME:UNIT[:lower|higher][,PARAM=VALUE], as "
			  "in 'local=ref_ns:ns:lower,page-tables=local'",
			  whole ? whole : arg);
	free(whole);
	*unit++ = '\0';
	where = strchr(unit, ',');
	if (where)
		*where++ = '\0';
	better = strchr(unit, ':');
	if (better)
		*better++ = '\0';
	m->column = arg;
	m->name = name_word(a, "--metric", name);
	m->unit = unit;
	if (!is_word(unit, "/%_-") || strlen(unit) > 16)
		cli_usage(&a->common,
			  "--metric: '%s' is no unit; it is one word, such as ns, cycles, bytes, "
			  "ratio, count",
			  unit);
	m->better = BETTER_NONE;
	if (better && better_parse(better, &m->better))
		cli_usage(&a->common, "--metric: '%s' is not one of lower, higher, none", better);
	if (where)
		parse_where(a, m, where);
	a->map.n_metrics++;
}

/* NAME=VALUE, which is value and name of the pair. */
static void parse_setting(struct import_args *a, char *arg)
{
	char *value = strchr(arg, '=');

	need_room(a, "--setting", a->map.n_settings);
	if (!value || !value[1])
		cli_usage(&a->common, "--setting: '%s' is not NAME=VALUE, as in 'page=16k'", arg);
	*value++ = '\0';
	a->settings[a->map.n_settings++] =
		(struct csv_pair){ .column = value, .name = name_word(a, "--setting", arg) };
}

/* COLUMN or COLUMN=PARAM */
static struct csv_pair parse_column(const struct import_args *a, const char *option, char *arg)
{
	const char *param = split_pair(arg);

	return (struct csv_pair){ .column = arg,
				  .name = name_word(a, option, param ? param : arg) };
}

static void parse_column_setting(struct import_args *a, char *arg)
{
	need_room(a, "--column-setting", a->map.n_columns);
	a->columns[a->map.n_columns++] = parse_column(a, "--column-setting", arg);
}

static void parse_revision(struct import_args *a, const char *arg)
{
	struct err e = { 0 };
	uint64_t v = 0;

	if (parse_u64(arg, &v, &e) || v > 1000000)
		cli_usage(&a->common, "--revision: '%s' is not a number up to 1000000", arg);
	a->map.revision = (unsigned)v;
}

static const char *parse_text(const struct import_args *a, const char *option, const char *arg)
{
	if (!*arg)
		cli_usage(&a->common, "%s: the text is empty", option);
	return arg;
}

static error_t parse_import(int key, char *arg, struct argp_state *state)
{
	struct import_args *a = state->input;

	a->has_mapping = a->has_mapping || (key >= KEY_BENCH && key <= KEY_REVISION);
	switch (key) {
	case KEY_BENCH:
		a->map.bench = name_word(a, "--bench", arg);
		return 0;
	case KEY_INNER:
		a->map.inner = parse_column(a, "--inner", arg);
		return 0;
	case KEY_METRIC:
		parse_metric(a, arg);
		return 0;
	case KEY_SETTING:
		parse_setting(a, arg);
		return 0;
	case KEY_COLUMN_SETTING:
		parse_column_setting(a, arg);
		return 0;
	case KEY_SOURCE:
		a->map.source = parse_text(a, "--source", arg);
		return 0;
	case KEY_NAME:
		a->map.name = name_word(a, "--name", arg);
		return 0;
	case KEY_MACHINE:
		a->map.machine = parse_text(a, "--machine", arg);
		return 0;
	case KEY_REVISION:
		parse_revision(a, arg);
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

static bool is_table(const char *file)
{
	size_t n = strlen(file);

	return n > 4 && strcasecmp(file + n - 4, ".csv") == 0;
}

static void check_words(struct import_args *a)
{
	size_t tables = 0;

	if (!a->common.n_words)
		cli_usage(&a->common, "FILE is missing");
	for (size_t i = 0; i < a->common.n_words; i++)
		tables += is_table(a->common.words[i]);
	if (!tables && !a->has_mapping)
		return;
	if (!tables)
		cli_usage(&a->common,
			  "options that say what columns mean are for a FILE.csv; '%s' is none",
			  a->common.words[0]);
	if (a->common.n_words > 1)
		cli_usage(&a->common, "a table is imported alone: one FILE.csv");
	if (!a->map.bench || !a->map.source || !a->map.name || !a->map.n_metrics)
		cli_usage(&a->common, "a table needs --%s",
			  !a->map.bench  ? "bench NAME: what was measured"
			  : !a->map.name ? "name NAME: how the run will be called"
			  : !a->map.source
				  ? "source TEXT: who published it, where and when"
				  : "metric COLUMN=NAME:UNIT: which column has the values");
	if (strlen(a->map.name) == 26)
		cli_usage(&a->common,
			  "--name: 26 characters are the length of the id of a measured run; take "
			  "another name");
}

/* --- importing -------------------------------------------------------------------------------- */

static int read_file(const struct import_args *a, const char *path, struct str *ret)
{
	FILE *f = fopen(path, "re");
	char chunk[65536];
	size_t n;

	if (!f)
		return cli_fail(&a->common, CLI_FATAL, "cannot read %s: %s", path, strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		str_add_n(ret, chunk, n);
	n = (size_t)ferror(f);
	fclose(f);
	if (n)
		return cli_fail(&a->common, CLI_FATAL, "cannot read %s: %s", path, strerror(EIO));
	if (ret->failed)
		return cli_fail(&a->common, CLI_FATAL, "cannot read %s: out of memory", path);
	return CLI_DONE;
}

/* Every mistake on a line of its own; the last line says what became of the table. */
static int refuse_table(const struct import_args *a, struct str *problems, const struct err *e)
{
	char *save = NULL;

	if (!problems->len)
		return cli_fail(&a->common, CLI_FATAL, "%s", e->msg);
	if (a->common.json_errors) {
		int rc = cli_fail(&a->common, CLI_FATAL, "nothing was imported:\n%s",
				  str_text(problems));
		str_done(problems);
		return rc;
	}
	for (char *line = strtok_r(problems->data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		(void)cli_fail(&a->common, CLI_FATAL, "%s", line);
	str_done(problems);
	return cli_fail(&a->common, CLI_FATAL, "nothing was imported");
}

/* A parameter that nobody declared looks like measuring again. */
static void warn_repeated(const struct import_args *a, const struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_measures; i++)
		n += r->measures[i].invocation > 0;
	if (n)
		cli_warn(
			&a->common,
			"%s: %zu value%s at parameters that stand in an earlier row as well: taken "
			"as measured again, in a further process; if a column tells them apart, "
			"import under another name with --column-setting",
			a->map.file, n, n == 1 ? " is" : "s are");
}

/* Replaces the text of the table by that of a run file. */
static int table_to_run(struct import_args *a, struct str *data)
{
	struct str problems = { 0 };
	struct run *r = NULL;
	struct err e = { 0 };

	a->map.file = a->common.words[0];
	a->map.columns = a->columns;
	a->map.settings = a->settings;
	a->map.metrics = a->metrics;
	if (csv_run(str_text(data), data->len, &a->map, &r, &problems, &e))
		return refuse_table(a, &problems, &e);
	str_done(&problems);
	str_clear(data);
	warn_repeated(a, r);
	if (runfile_text(data, r, &e)) {
		run_free(r);
		return cli_fail(&a->common, CLI_FATAL, "%s", e.msg);
	}
	run_free(r);
	return CLI_DONE;
}

static const char *outcome_word(enum library_added added)
{
	return added == LIBRARY_NEW     ? "imported"
	       : added == LIBRARY_KNOWN ? "already-there"
					: "extended";
}

static void say(struct str *out, json_t *list, const struct common *c, const char *file,
		const struct run *r, enum library_added added)
{
	if (c->format == FORMAT_JSON) {
		json_array_append_new(
			list, json_pack("{s:o,s:o,s:s,s:I,s:I}", "file", cli_json_text(file), "run",
					cli_json_text(r->id), "outcome", outcome_word(added),
					"measures", (json_int_t)r->n_measures, "bad_lines",
					(json_int_t)r->n_bad_lines));
		return;
	}
	str_addf(out, "%s: %s, %zu measure%s\n", r->id,
		 added == LIBRARY_KNOWN ? "already there" : outcome_word(added), r->n_measures,
		 r->n_measures == 1 ? "" : "s");
}

static int import_one(struct import_args *a, const char *file, struct str *out, json_t *list)
{
	enum library_added added = LIBRARY_NEW;
	struct str data = { 0 };
	struct run *r = NULL;
	struct err e = { 0 };
	int rc = read_file(a, file, &data);

	if (rc == CLI_DONE && is_table(file))
		rc = table_to_run(a, &data);
	if (rc == CLI_DONE && library_add(str_text(&data), data.len, &r, &added, &e))
		rc = cli_fail(&a->common, CLI_FATAL, "%s: %s", file, e.msg);
	if (rc == CLI_DONE) {
		if (r->n_bad_lines)
			cli_warn(&a->common,
				 "%s: %zu line%s cannot be read; the file is kept as it is, and "
				 "they are left out wherever it is used",
				 file, r->n_bad_lines, r->n_bad_lines == 1 ? "" : "s");
		say(out, list, &a->common, file, r, added);
	}
	run_free(r);
	str_done(&data);
	return rc;
}

static int run_import(const struct verb *v, int argc, char **argv)
{
	struct import_args a = { .map.revision = 1 };
	struct str out = { 0 };
	json_t *list = json_array();
	int rc = CLI_DONE, printed;

	cli_parse(v, argc, argv, &a);
	if (a.common.format == FORMAT_CSV)
		cli_usage(&a.common, "--format: import tells what it did as text or json");
	check_words(&a);
	for (size_t i = 0; rc == CLI_DONE && i < a.common.n_words; i++)
		rc = import_one(&a, a.common.words[i], &out, list);
	/* What was imported before an error is imported. */
	if (a.common.format == FORMAT_JSON && rc == CLI_DONE) {
		printed = cli_print_json(json_pack("{s:o}", "imported", list));
		str_done(&out);
	} else {
		printed = cli_print_str(&out);
		json_decref(list);
	}
	return rc ? rc : printed;
}

static const struct argp_option import_options[] = {
	{ "bench", KEY_BENCH, "BENCH", 0, "CSV: what was measured (tlb.chase)", 0 },
	{ "inner", KEY_INNER, "COLUMN[=PARAM]", 0,
	  "CSV: the column of the parameter that is the horizontal axis", 0 },
	{ "metric", KEY_METRIC, "COLUMN=NAME:UNIT[:lower|higher][,PARAM=VALUE]", 0,
	  "CSV: a column of values, its metric, what is better, and its own parameters; "
	  "repeatable",
	  0 },
	{ "setting", KEY_SETTING, "NAME=VALUE", 0,
	  "CSV: a parameter that is the same in the whole table; repeatable", 0 },
	{ "column-setting", KEY_COLUMN_SETTING, "COLUMN[=PARAM]", 0,
	  "CSV: a column that is a parameter; repeatable", 0 },
	{ "source", KEY_SOURCE, "TEXT", 0, "CSV: who published it, where and when", 0 },
	{ "name", KEY_NAME, "NAME", 0, "CSV: how the run will be called", 0 },
	{ "machine", KEY_MACHINE, "TEXT", 0, "CSV: the machine that it was measured on", 0 },
	{ "revision", KEY_REVISION, "NUMBER", 0,
	  "CSV: revision of the benchmark that the values are comparable with (default: 1)", 0 },
	{ "format", KEY_FORMAT, "text|json", 0, "Form of what is told (default: text)", 0 },
	OPTION_HELP,
	{ 0 }
};
static const struct argp import_argp = {
	.options = import_options,
	.parser = parse_import,
	.args_doc = "FILE...",
	.doc = "Take run files into the library, or a table (FILE.csv) as a published run. "
	       "Importing the same run again changes nothing. A table is taken whole or not at "
	       "all: every mistake is told with its line and column.\v"
	       "For example:\n"
	       "  pagetoll import chase.csv --name altix --bench tlb.chase \\\n"
	       "    --source 'J. Doe, linux-mm, 3 May 2005' --inner pointers \\\n"
	       "    --metric local=ref_ns:ns:lower,page-tables=local \\\n"
	       "    --metric remote=ref_ns:ns:lower,page-tables=remote --setting page=16k",
};
const struct verb verb_import = {
	.name = "import",
	.summary = "Take run files or a published table into the library",
	.operand = OPERAND_RUN,
	.argp = &import_argp,
	.run = run_import,
};
