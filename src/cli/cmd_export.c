// SPDX-License-Identifier: MIT
/*
 * `pagetoll export RUN`: all of a run, or its facts, for other programs. A file is written whole or
 * not at all.
 */
#include "cli/verbs.h"
#include "cli/take.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "store/library.h"

enum { KEY_FACTS = KEY_VERB };

struct export_args {
	struct common common;
	const char *output; /* NULL: stdout */
	bool facts, fom, has_format;
};

static error_t parse_export(int key, char *arg, struct argp_state *state)
{
	struct export_args *a = state->input;
	size_t choice;

	switch (key) {
	case KEY_FORMAT:
		a->common.format = FORMAT_JSON;
		choice = cli_choice(&a->common, "--format", "json|csv|fom", arg);
		if (choice == 1)
			a->common.format = FORMAT_CSV;
		a->fom = choice == 2;
		a->has_format = true;
		return 0;
	case KEY_FACTS:
		a->facts = true;
		return 0;
	case 'o':
		a->output = take_output(&a->common, arg);
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

static int facts_json(struct str *out, const struct report *rep)
{
	json_t *list = json_array();
	json_t *doc;
	char *text;

	for (size_t i = 0; i < rep->facts.n; i++)
		json_array_append_new(list, json_from_fact(&rep->facts.v[i]));
	doc = json_pack("{s:o,s:o}", "run", cli_json_text_or_null(rep->run->id), "facts", list);
	text = doc ? json_dumps(doc, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
	json_decref(doc);
	if (!text)
		return -ENOMEM;
	str_add(out, text);
	str_add(out, "\n");
	free(text);
	return 0;
}

static int render(struct str *out, const struct export_args *a, const struct report *rep)
{
	if (a->fom)
		return report_fom(out, rep);
	if (a->common.format == FORMAT_CSV)
		return a->facts ? report_facts_csv(out, rep) : report_csv(out, rep);
	return a->facts ? facts_json(out, rep) : report_json(out, rep);
}

static int export_run(const struct export_args *a, const struct run *r)
{
	struct report rep = { 0 };
	struct str out = { 0 };
	struct err e = { 0 };
	int rc;

	if (report_init(&rep, r, &e))
		return cli_fail(&a->common, CLI_FATAL, "cannot evaluate the run: %s", e.msg);
	rc = render(&out, a, &rep);
	report_done(&rep);
	if (rc || out.failed) {
		str_done(&out);
		return cli_fail(&a->common, CLI_FATAL, "cannot write the run: out of memory");
	}
	if (!a->output)
		return cli_print_str(&out);
	rc = cli_write_file(&a->common, a->output, &out);
	str_done(&out);
	return rc;
}

/* What the file's name says; --format has the last word. */
static enum format format_of_name(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n > 4 && strcmp(name + n - 4, ".csv") == 0 ? FORMAT_CSV : FORMAT_JSON;
}

static int run_export(const struct verb *v, int argc, char **argv)
{
	struct export_args a = { .common.format = FORMAT_JSON };
	struct err e = { 0 };
	struct run *r = NULL;
	int rc;

	cli_parse(v, argc, argv, &a);
	if (a.fom && a.facts)
		cli_usage(&a.common, "--format fom has facts and points; it has no --facts");
	if (!a.has_format)
		a.common.format = format_of_name(a.output);
	cli_need_words(&a.common, 1,
		       "RUN (a file, an id, 'last', 'last~1', 'baseline', or a label)");
	if (library_load(a.common.words[0], &r, NULL, &e))
		return cli_fail(&a.common, CLI_FATAL, "%s", e.msg);
	rc = export_run(&a, r);
	run_free(r);
	return rc;
}

static const struct argp_option export_options[] = {
	{ "format", KEY_FORMAT, "json|csv|fom", 0,
	  "Form of the result (default: by the ending of FILE, else json); fom: one line a "
	  "result, for cluster frameworks",
	  0 },
	{ "facts", KEY_FACTS, NULL, 0, "Only what was inferred, not the measurements", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of stdout", 0 },
	OPTION_HELP,
	{ 0 }
};
static const struct argp export_argp = {
	.options = export_options,
	.parser = parse_export,
	.args_doc = "RUN",
	.doc = "Write a run for other programs: as JSON, as CSV with one row a value, or as "
	       "figures of merit with one line a result. RUN is a "
	       "file, an id or the beginning of one, last, last~1, baseline, a label, or the name of a "
	       "published run.",
};
const struct verb verb_export = {
	.name = "export",
	.summary = "Write a run as JSON, CSV or figures of merit",
	.operand = OPERAND_RUN,
	.argp = &export_argp,
	.run = run_export,
};
