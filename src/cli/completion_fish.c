// SPDX-License-Identifier: MIT
/*
 * The completion script of fish: the words are written into it; only the runs that were kept are
 * asked for, by 'pagetoll __runs'. Source: fish's complete(1).
 */
#include "cli/completion_words.h"

#include <string.h>

static void fish_param(void *user, const char *name)
{
	struct str *out = user;
	struct str values = { 0 };
	const char *p;

	words_values(&values, name);
	str_addf(out, " %s=", name);
	for (p = str_text(&values); *p;) {
		size_t n = strcspn(p, " ");

		str_addf(out, " %s=%.*s", name, (int)n, p);
		p += n + strspn(p + n, " ");
	}
	str_done(&values);
}

static void fish_text(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			str_add(out, "\\");
		str_add_n(out, text, 1);
	}
}

/* How fish completes it: "-x" nothing else, "-F" files as well. */
static void fish_action(struct str *out, enum completes what, struct str *words)
{
	switch (what) {
	case COMPLETES_LIST:
		str_addf(out, " -x -a '%s'", str_text(words));
		return;
	case COMPLETES_WORD:
		words_targets(words);
		words_each_param(fish_param, words);
		str_addf(out, " -x -a '%s'", str_text(words));
		return;
	case COMPLETES_RUN:
		str_addf(out, " -r -F -a '%s (pagetoll " RUNS_VERB " 2>/dev/null)'",
			 str_text(words));
		return;
	case COMPLETES_FILE:
	case COMPLETES_DIR:
		str_add(out, " -r -F");
		return;
	case COMPLETES_COMMAND:
		str_add(out, " -x -a '(__fish_complete_subcommand)'");
		return;
	case COMPLETES_NOTHING:
		break;
	}
	str_add(out, " -x");
}

static void fish_option(struct str *out, const struct verb *v, const struct argp_option *o)
{
	struct str words = { 0 };
	enum completes what = words_of_option(&words, o);

	str_addf(out, "complete -c pagetoll -n '__fish_seen_subcommand_from %s' -l %s", v->name,
		 o->name);
	if (o->key > 0 && o->key < 0x80)
		str_addf(out, " -s %c", o->key);
	if (o->arg)
		fish_action(out, what, &words);
	str_add(out, " -d '");
	fish_text(out, o->doc);
	str_add(out, "'\n");
	str_done(&words);
}

static void fish_operand(struct str *out, const struct verb *v)
{
	struct str words = { 0 };
	enum completes what = words_of_operand(&words, v);

	if (what != COMPLETES_NOTHING) {
		str_addf(out, "complete -c pagetoll -n '__fish_seen_subcommand_from %s'", v->name);
		fish_action(out, what, &words);
		str_add(out, "\n");
	}
	str_done(&words);
}

void completion_fish(struct str *out)
{
	str_add(out, "# fish completion for pagetoll, made by 'pagetoll completion fish'.\n"
		     "# Use: pagetoll completion fish | source\n\n"
		     "complete -c pagetoll -f\n"
		     "complete -c pagetoll -n __fish_use_subcommand -l help -d 'Print help'\n"
		     "complete -c pagetoll -n __fish_use_subcommand -l version "
		     "-d 'Print the version'\n");
	for (const struct verb *const *v = verb_table; *v; v++) {
		str_addf(out, "complete -c pagetoll -n __fish_use_subcommand -a %s -d '",
			 (*v)->name);
		fish_text(out, (*v)->summary);
		str_add(out, "'\n");
	}
	for (const struct verb *const *v = verb_table; *v; v++) {
		for (const struct argp_option *o = (*v)->argp->options; o->name; o++)
			fish_option(out, *v, o);
		fish_operand(out, *v);
	}
}
