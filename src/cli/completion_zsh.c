// SPDX-License-Identifier: MIT
/*
 * The completion script of zsh: the words are written into it; only the runs that were kept are
 * asked for, by 'pagetoll __runs'. Source: zshcompsys(1), zshcompwid(1).
 */
#include "cli/completion_words.h"

#include <string.h>

static void zsh_param(void *user, const char *name)
{
	struct str *out = user;
	struct str values = { 0 };

	words_values(&values, name);
	if (values.len)
		str_addf(out, "\t\t%s) compadd -- %s ;;\n", name, str_text(&values));
	str_done(&values);
}

/* Quoted for _arguments: brackets and colons end its descriptions, quotes the word. */
static void zsh_text(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			str_add(out, "'\\''");
		else if (strchr("[]:\\", *text))
			str_addf(out, "\\%c", *text);
		else
			str_add_n(out, text, 1);
	}
}

/* The action of _arguments behind "message:". */
static void zsh_action(struct str *out, enum completes what, const struct str *words)
{
	switch (what) {
	case COMPLETES_LIST:
		str_addf(out, "(%s)", str_text(words));
		return;
	case COMPLETES_RUN:
		str_addf(out,
			 "{ compadd -- %s ${(f)\"$(_call_program runs pagetoll " RUNS_VERB
			 " 2>/dev/null)\"}; _files }",
			 str_text(words));
		return;
	case COMPLETES_FILE:
		str_add(out, "_files");
		return;
	case COMPLETES_DIR:
		str_add(out, "_files -/");
		return;
	case COMPLETES_WORD:
		str_add(out, "_pagetoll_word");
		return;
	case COMPLETES_COMMAND:
		str_add(out, "_normal");
		return;
	case COMPLETES_NOTHING:
		break;
	}
	str_add(out, " ");
}

static void zsh_value(struct str *out, const struct argp_option *o)
{
	struct str words = { 0 };
	enum completes what = words_of_option(&words, o);

	if (!o->arg)
		return;
	str_add(out, ":");
	zsh_text(out, what == COMPLETES_LIST ? "value" : o->arg);
	str_add(out, ":");
	zsh_action(out, what, &words);
	str_done(&words);
}

static void zsh_option(struct str *out, const struct argp_option *o)
{
	str_addf(out, " \\\n\t\t\t'--%s%s[", o->name, o->arg ? "=" : "");
	zsh_text(out, o->doc);
	str_add(out, "]");
	zsh_value(out, o);
	str_add(out, "'");
	if (o->key <= 0 || o->key >= 0x80)
		return;
	str_addf(out, " \\\n\t\t\t'-%c%s[", o->key, o->arg ? "+" : "");
	zsh_text(out, o->doc);
	str_add(out, "]");
	zsh_value(out, o);
	str_add(out, "'");
}

static void zsh_operand(struct str *out, const struct verb *v)
{
	struct str words = { 0 };
	enum completes what = words_of_operand(&words, v);
	bool many = what == COMPLETES_WORD || v->operand == OPERAND_RUNS;

	if (what != COMPLETES_NOTHING) {
		str_addf(out, " \\\n\t\t\t'%s:word:",
			 what == COMPLETES_COMMAND ? "*:"
			 : many                    ? "*"
						   : "1");
		zsh_action(out, what, &words);
		str_add(out, "'");
	}
	str_done(&words);
}

void completion_zsh(struct str *out)
{
	struct str words = { 0 };

	str_add(out, "#compdef pagetoll\n"
		     "# zsh completion for pagetoll, made by 'pagetoll completion zsh'.\n"
		     "# Use: save it as _pagetoll in a folder of $fpath.\n\n"
		     "_pagetoll_word() {\n\tif compset -P '*='; then\n"
		     "\t\tlocal name=${IPREFIX%=}\n\t\tcompset -P '*,'\n"
		     "\t\tcase $name in\n");
	words_each_param(zsh_param, out);
	words_targets(&words);
	str_addf(out, "\t\tesac\n\t\treturn\n\tfi\n\tcompadd -- %s\n", str_text(&words));
	str_done(&words);
	words_param_names(&words, NULL);
	str_addf(out, "\tcompadd -S '' -- %s\n}\n\n", str_text(&words));
	str_done(&words);
	str_add(out, "_pagetoll() {\n\tlocal -a verbs\n\tverbs=(\n");
	for (const struct verb *const *v = verb_table; *v; v++) {
		str_addf(out, "\t\t'%s:", (*v)->name);
		zsh_text(out, (*v)->summary);
		str_add(out, "'\n");
	}
	str_add(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n"
		     "\t\tcompadd -- --help --version\n\t\treturn\n\tfi\n"
		     "\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in\n");
	for (const struct verb *const *v = verb_table; *v; v++) {
		str_addf(out, "\t%s)\n\t\t_arguments -s -S", (*v)->name);
		for (const struct argp_option *o = (*v)->argp->options; o->name; o++)
			zsh_option(out, o);
		zsh_operand(out, *v);
		str_add(out, "\n\t\t;;\n");
	}
	str_add(out, "\tesac\n}\n\n_pagetoll \"$@\"\n");
}
