// SPDX-License-Identifier: MIT
/*
 * `pagetoll info BENCH`: what a benchmark measures and cannot show, its parameters, metrics and
 * needs, from its descriptor.
 */
#include "cli/param_words.h"
#include "cli/verbs.h"

#include <string.h>

#include "base/escape.h"
#include "bench/bench.h"

enum { MAX_BENCHES = 64 };

static error_t parse_info(int key, char *arg, struct argp_state *state)
{
	return common_option(key, arg, state);
}

static size_t wider(size_t width, const char *name)
{
	return strlen(name) > width ? strlen(name) : width;
}

/* `width` is that of the longest name. */
static void param_text(struct str *out, const struct param *p, size_t width)
{
	struct str words = { 0 };
	size_t indent = width + 4;

	param_accepted(&words, p);
	str_addf(out, "  %-*s  ", (int)width, p->name);
	cli_wrap_at(out, p->summary, indent, indent);
	str_addf(out, "%*s", (int)indent, "");
	cli_wrap_at(out, str_text(&words), indent, indent + 2);
	str_done(&words);
	str_addf(&words, "default %s; %s", p->def, param_swept(p));
	str_addf(out, "%*s", (int)indent, "");
	cli_wrap_at(out, str_text(&words), indent, indent + 2);
	str_done(&words);
}

static void add_paragraph(struct str *out, const char *title, const char *text)
{
	str_addf(out, "\n%s:\n", title);
	cli_wrap(out, text, 2);
}

/* A command that is too long goes on in the next line as a shell takes it. */
static void add_example(struct str *out, const char *text)
{
	size_t column = 2;

	str_add(out, "  ");
	while (*text) {
		size_t n = strcspn(text, " ");
		size_t blank = text[n] == ' ';

		if (column > 2 && column + n + 2 > 80) {
			str_add(out, "\\\n      ");
			column = 6;
		}
		str_add_n(out, text, n + blank);
		column += n + blank;
		text += n + blank;
	}
	str_add(out, "\n");
}

static int info_text(const struct bench *b)
{
	const struct bench_schema *s = &b->schema;
	struct str out = { 0 };
	size_t width = 0;

	str_addf(&out, "%s: ", s->name);
	cli_wrap_at(&out, s->summary, strlen(s->name) + 2, 2);
	str_addf(&out, "revision %u\n\n", s->revision);
	cli_wrap(&out, b->description, 0);
	str_add(&out,
		"\nParameters (NAME=VALUE[,VALUE]...; ranges A..B, A..B:STEP, A..B:xFACTOR):\n");
	for (const struct param *p = s->params; p->name; p++)
		width = wider(width, p->name);
	for (const struct param *p = s->params; p->name; p++)
		param_text(&out, p, width);
	str_add(&out, "\nMetrics (the first is the headline):\n");
	width = 0;
	for (const struct metric *m = s->metrics; m->name; m++)
		width = wider(width, m->name);
	for (const struct metric *m = s->metrics; m->name; m++) {
		str_addf(&out, "  %-*s  ", (int)width, m->name);
		cli_wrap_at(&out, m->summary, width + 4, width + 4);
		str_addf(&out, "%*s%s, %s%s, %s\n", (int)width + 4, "", m->unit,
			 series_form_name(m->form),
			 m->form == FORM_SAMPLES
				 ? m->estimator == EST_MIN ? " (minimum)" : " (median)"
				 : "",
			 m->better == BETTER_LOWER    ? "lower is better"
			 : m->better == BETTER_HIGHER ? "higher is better"
						      : "neither way is better");
	}
	if (b->toll)
		add_paragraph(&out, "In the toll set because", b->toll);
	if (b->examples && b->examples[0])
		str_add(&out, "\nExamples:\n");
	for (size_t i = 0; b->examples && b->examples[i]; i++)
		add_example(&out, b->examples[i]);
	return cli_print_str(&out);
}

static int info_csv(const struct bench *b)
{
	struct str out = { 0 };

	str_add(&out, "benchmark,parameter,type,role,default,accepted,summary\n");
	for (const struct param *p = b->schema.params; p->name; p++) {
		struct str words = { 0 };

		param_accepted(&words, p);
		escape_csv(&out, b->schema.name);
		str_addf(&out, ",%s,%s,%s,", p->name, param_type_name(p->type),
			 param_role_name(p->role));
		escape_csv(&out, p->def);
		str_add(&out, ",");
		escape_csv(&out, str_text(&words));
		str_add(&out, ",");
		escape_csv(&out, p->summary);
		str_add(&out, "\n");
		str_done(&words);
	}
	return cli_print_str(&out);
}

static json_t *texts_json(const char *const *v)
{
	json_t *a = json_array();

	for (size_t i = 0; v && v[i]; i++)
		json_array_append_new(a, cli_json_text(v[i]));
	return a;
}

static json_t *params_json(const struct bench_schema *s)
{
	json_t *a = json_array();

	for (const struct param *p = s->params; p->name; p++) {
		bool number = p->type == PARAM_COUNT || p->type == PARAM_BYTES;
		struct str words = { 0 };
		json_t *o;

		param_accepted(&words, p);
		o = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "name", p->name, "summary",
			      p->summary, "type", param_type_name(p->type), "role",
			      param_role_name(p->role), "default", p->def, "accepted",
			      str_text(&words), "choices", texts_json(p->choices));
		str_done(&words);
		if (o && number) {
			json_object_set_new(o, "min", json_integer((json_int_t)p->min));
			json_object_set_new(o, "max", json_integer((json_int_t)p->max));
		}
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *metrics_json(const struct bench_schema *s)
{
	json_t *a = json_array();

	for (const struct metric *m = s->metrics; m->name; m++)
		json_array_append_new(a, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "name", m->name,
						   "summary", m->summary, "unit", m->unit, "better",
						   better_name(m->better), "estimator",
						   estimator_name(m->estimator), "form",
						   series_form_name(m->form)));
	return a;
}

static int info_json(const struct bench *b)
{
	const struct bench_schema *s = &b->schema;

	return cli_print_json(json_pack(
		"{s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:o}", "name", s->name, "summary", s->summary,
		"revision", (int)s->revision, "description", cli_json_text(b->description), "toll",
		cli_json_text_or_null(b->toll), "parameters", params_json(s), "metrics",
		metrics_json(s), "examples", texts_json(b->examples)));
}

static void unknown_bench(const struct common *c, const char *word)
{
	const char *names[MAX_BENCHES + 1] = { 0 };
	struct str hint = { 0 }, all = { 0 };
	size_t k = 0;

	for (const struct bench *const *b = bench_table; *b && k < MAX_BENCHES; b++) {
		names[k++] = (*b)->schema.name;
		str_addf(&all, "%s%s", all.len ? ", " : "", (*b)->schema.name);
	}
	cli_did_you_mean(&hint, "", word, names);
	cli_usage(c, "unknown benchmark '%s'%s (there are %s)", word, str_text(&hint),
		  str_text(&all));
}

static int run_info(const struct verb *v, int argc, char **argv)
{
	struct common c = { 0 };
	const struct bench *b;

	cli_parse(v, argc, argv, &c);
	cli_need_words(&c, 1, "the name of a benchmark (see 'pagetoll list')");
	b = bench_find(c.words[0]);
	if (!b)
		unknown_bench(&c, c.words[0]);
	if (c.format == FORMAT_JSON)
		return info_json(b);
	return c.format == FORMAT_CSV ? info_csv(b) : info_text(b);
}

static const struct argp_option info_options[] = { OPTION_FORMAT, OPTION_HELP, { 0 } };
static const struct argp info_argp = {
	.options = info_options,
	.parser = parse_info,
	.args_doc = "BENCH",
	.doc = "Describe a benchmark: what it measures and what it cannot show, its parameters, "
	       "metrics and examples.",
};
const struct verb verb_info = {
	.name = "info",
	.summary = "Describe a benchmark, its parameters and metrics",
	.operand = OPERAND_BENCH,
	.argp = &info_argp,
	.run = run_info,
};
