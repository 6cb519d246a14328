// SPDX-License-Identifier: MIT
/*
 * Manual pages as scdoc source, from the verbs' option tables and the benchmarks' descriptors.
 * Source: scdoc(5).
 */
#include "cli/manual.h"

#include <string.h>

#include "cli/param_words.h"
#include "cli/verbs.h"

static const char *const pages[] = { "pagetoll", "pagetoll-benchmarks" };

/* Text in which scdoc's marks stand for themselves. */
static void plain(struct str *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr("*_\\<>#[]+~`|-.;&", text[i]))
			str_add(out, "\\");
		str_add_n(out, text + i, 1);
	}
}

static void plain_text(struct str *out, const char *text)
{
	plain(out, text, strlen(text));
}

/* Paragraphs, and lines that begin with a blank as they stand. */
static void paragraphs(struct str *out, const char *text)
{
	bool literal = false;

	while (*text) {
		size_t n = strcspn(text, "\n");
		bool own = *text == ' ';

		if (own != literal && n) {
			str_add(out, own ? "\n```\n" : "```\n\n");
			literal = own;
		}
		if (literal && n)
			str_add_n(out, text + 2, n > 2 ? n - 2 : 0);
		else if (!literal)
			plain(out, text, n);
		str_add(out, "\n");
		text += n + (text[n] == '\n');
	}
	if (literal)
		str_add(out, "```\n");
	str_add(out, "\n");
}

static void head(struct str *out, const char *page, const char *section, const char *summary)
{
	str_addf(out, "%s(%s) \"\" \"pagetoll %s\"\n\n# NAME\n\n%s - ", page, section,
		 PAGETOLL_VERSION, page);
	plain_text(out, summary);
	str_add(out, "\n\n");
}

/* --- verbs --- */

/* "-o, --output=FILE" as a term of a list. */
static void option(struct str *out, const struct argp_option *o)
{
	if (o->key > 0 && o->key < 0x80)
		str_addf(out, "*-%c*, ", o->key);
	str_add(out, "*--");
	plain_text(out, o->name);
	str_add(out, "*");
	if (o->arg) {
		str_add(out, "=");
		plain_text(out, o->arg);
	}
	str_add(out, "\n\t");
	plain_text(out, o->doc);
	str_add(out, "\n\n");
}

static void verb_page(struct str *out, const struct verb *v)
{
	const char *doc = v->argp->doc;
	size_t n = strcspn(doc, "\v");
	struct str name = { 0 };

	str_addf(&name, "pagetoll-%s", v->name);
	head(out, str_text(&name), "1", v->summary);
	str_done(&name);
	str_addf(out, "# SYNOPSIS\n\n*pagetoll %s* [OPTION...] ", v->name);
	plain_text(out, v->argp->args_doc ? v->argp->args_doc : "");
	str_add(out, "\n\n# DESCRIPTION\n\n");
	plain(out, doc, n);
	str_add(out, "\n\n# OPTIONS\n\n");
	for (const struct argp_option *o = v->argp->options; o->name; o++)
		option(out, o);
	if (doc[n]) {
		str_add(out, "# NOTES\n\n");
		paragraphs(out, doc + n + 1);
	}
}

static void main_page(struct str *out)
{
	head(out, "pagetoll", "1", "tell what memory management costs");
	str_add(out, "# SYNOPSIS\n\n*pagetoll* VERB [OPTION...] [WORD...]\n\n"
		     "*pagetoll* *--version*\n\n# VERBS\n\n");
	for (const struct verb *const *v = verb_table; *v; v++) {
		str_addf(out, "*%s*\n\t", (*v)->name);
		plain_text(out, (*v)->summary);
		str_addf(out, ": *pagetoll-%s*(1)\n\n", (*v)->name);
	}
}

/* --- benchmarks --- */

static void bench_params(struct str *out, const struct bench *b)
{
	for (const struct param *p = b->schema.params; p->name; p++) {
		struct str words = { 0 };

		param_accepted(&words, p);
		str_addf(out, "*%s*=", p->name);
		str_add(out, "VALUE\n\t");
		plain_text(out, p->summary);
		str_add(out, ": ");
		plain_text(out, str_text(&words));
		str_add(out, ". Default ");
		plain_text(out, p->def);
		str_addf(out, "; %s.\n\n", param_swept(p));
		str_done(&words);
	}
}

static void bench_metrics(struct str *out, const struct bench *b)
{
	str_add(out, "Metrics, the headline first:\n\n");
	for (const struct metric *m = b->schema.metrics; m->name; m++) {
		str_add(out, "*");
		plain_text(out, m->name);
		str_addf(out, "*, %s\n\t", m->unit);
		plain_text(out, m->summary);
		str_addf(out, "; %s\n\n",
			 m->better == BETTER_LOWER    ? "lower is better"
			 : m->better == BETTER_HIGHER ? "higher is better"
						      : "neither way is better");
	}
}

static void bench_section(struct str *out, const struct bench *b)
{
	str_add(out, "# ");
	plain_text(out, b->schema.name);
	str_add(out, "\n\n");
	plain_text(out, b->schema.summary);
	str_addf(out, " (revision %u).\n\n", b->schema.revision);
	paragraphs(out, b->description);
	if (b->toll) {
		str_add(out, "In the toll set because ");
		plain_text(out, b->toll);
		str_add(out, "\n\n");
	}
	bench_params(out, b);
	bench_metrics(out, b);
	str_add(out, "Examples:\n\n```\n");
	for (size_t i = 0; b->examples && b->examples[i]; i++)
		str_addf(out, "%s\n", b->examples[i]);
	str_add(out, "```\n\n");
}

static void benchmarks_page(struct str *out)
{
	head(out, "pagetoll-benchmarks", "7", "what pagetoll measures");
	str_add(out, "# DESCRIPTION\n\n");
	plain_text(out, "Each benchmark with its parameters and metrics, as 'pagetoll info BENCH' "
			"prints them. A parameter is given as NAME=VALUE[,VALUE]...; numbers and "
			"sizes also as ranges A..B, A..B:STEP and A..B:xFACTOR.");
	str_add(out, "\n\n");
	for (const struct bench *const *b = bench_table; *b; b++)
		bench_section(out, *b);
}

static int print_names(void)
{
	struct str out = { 0 };

	str_addf(&out, "%s.1\n%s.7\n", pages[0], pages[1]);
	for (const struct verb *const *v = verb_table; *v; v++)
		str_addf(&out, "pagetoll-%s.1\n", (*v)->name);
	return cli_print_str(&out);
}

int manual_main(int argc, char **argv)
{
	const char *prefix = "pagetoll-";
	const struct verb *v = NULL;
	struct str out = { 0 };

	if (argc == 0)
		return print_names();
	if (argc == 1 && strncmp(argv[0], prefix, strlen(prefix)) == 0)
		v = verb_find(argv[0] + strlen(prefix));
	if (v)
		verb_page(&out, v);
	else if (argc == 1 && strcmp(argv[0], pages[0]) == 0)
		main_page(&out);
	else if (argc == 1 && strcmp(argv[0], pages[1]) == 0)
		benchmarks_page(&out);
	else
		cli_usage(NULL, "there is no manual page '%s'", argc == 1 ? argv[0] : "");
	return cli_print_str(&out);
}
