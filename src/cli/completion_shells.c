// SPDX-License-Identifier: MIT
/*
 * The completion scripts. Nothing is asked from pagetoll while completing: the words are written
 * into the script.
 * Sources: bash manual, "Programmable Completion"; zshcompsys(1), zshcompwid(1); fish's
 * complete(1).
 */
#include "cli/completion_words.h"

#include <string.h>

static bool takes_file(const struct argp_option *o)
{
	return o->arg && (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "DIR") == 0);
}

static bool takes_parameter(const struct argp_option *o)
{
	return o->arg && strncmp(o->arg, "NAME=", 5) == 0;
}

static void add_letter(struct str *out, const struct argp_option *o, const char *fmt)
{
	char letter[2] = { 0 };

	if (o->key <= 0 || o->key >= 0x80)
		return;
	letter[0] = (char)o->key;
	for (; *fmt; fmt++)
		str_add_n(out, *fmt == '?' ? letter : fmt, 1);
}

/* --- bash --- */

/* One row a parameter in the case of values. */
static void bash_param(void *user, const char *name)
{
	struct str *out = user;
	struct str values = { 0 };

	words_values(&values, name);
	if (values.len)
		str_addf(out, "\t\t%s) list='%s' ;;\n", name, str_text(&values));
	str_done(&values);
}

static void bash_words(struct str *out)
{
	struct str words = { 0 };

	str_add(out, "_pagetoll_word()\n{\n\tlocal name value done='' list='' target='' i\n"
		     "\tif [[ $cur == *=* ]]; then\n"
		     "\t\tname=${cur%%=*} value=${cur#*=}\n"
		     "\t\t[[ $value == *,* ]] && done=${value%,*}, value=${value##*,}\n"
		     "\t\t[[ $COMP_WORDBREAKS == *=* ]] || done=$name=$done\n"
		     "\t\tcase $name in\n");
	words_each_param(bash_param, out);
	str_add(out, "\t\tesac\n"
		     "\t\tmapfile -t COMPREPLY < <(compgen -P \"$done\" -W \"$list\" -- "
		     "\"$value\")\n\t\treturn\n\tfi\n"
		     "\tfor ((i = 2; i < n - 1; i++)); do\n"
		     "\t\t[[ ${w[i]} == *=* || ${w[i]} == -* ]] || target=${w[i]}\n"
		     "\tdone\n\tcase $target in\n");
	for (const struct bench *const *b = bench_table; *b; b++) {
		words_param_names(&words, *b);
		str_addf(out, "\t%s) list='%s' ;;\n", (*b)->schema.name, str_text(&words));
		str_done(&words);
	}
	words_param_names(&words, NULL);
	str_addf(out, "\t*) list='%s' ;;\n\tesac\n", str_text(&words));
	str_done(&words);
	words_targets(&words);
	str_addf(out,
		 "\tmapfile -t COMPREPLY < <(compgen -W \"%s $list\" -- \"$cur\")\n"
		 "\t[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
		 "}\n\n",
		 str_text(&words));
	str_done(&words);
}

static void bash_options(struct str *out)
{
	for (const struct verb *const *v = verb_table; *v; v++) {
		for (const struct argp_option *o = (*v)->argp->options; o->name; o++) {
			struct str choices = { 0 };

			if (!o->arg)
				continue;
			str_addf(out, "\t%s:--%s", (*v)->name, o->name);
			if (o->key > 0 && o->key < 0x80)
				str_addf(out, " | %s:-%c", (*v)->name, o->key);
			if (words_choices(&choices, o))
				str_addf(out, ") list='%s' ;;\n", str_text(&choices));
			else
				str_addf(out, ") %s; return ;;\n",
					 takes_file(o)        ? "_pagetoll_file"
					 : takes_parameter(o) ? "_pagetoll_word"
							      : ":");
			str_done(&choices);
		}
	}
}

static void bash_operands(struct str *out)
{
	for (const struct verb *const *v = verb_table; *v; v++) {
		struct str words = { 0 };

		switch ((*v)->operand) {
		case OPERAND_WORDS:
			str_addf(out, "\t%s) _pagetoll_word; return ;;\n", (*v)->name);
			break;
		case OPERAND_BENCH:
			for (const struct bench *const *b = bench_table; *b; b++)
				str_addf(&words, "%s%s", words.len ? " " : "", (*b)->schema.name);
			break;
		case OPERAND_RUN:
		case OPERAND_RUNS:
			str_addf(out, "\t%s) _pagetoll_file '", (*v)->name);
			words_runs(&words);
			str_addf(out, "%s'; return ;;\n", str_text(&words));
			str_done(&words);
			break;
		case OPERAND_SHELL:
			str_add(&words, "bash zsh fish");
			break;
		case OPERAND_VERB:
			words_verbs(&words);
			break;
		case OPERAND_COMMAND:
			str_addf(out,
				 "\t%s) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\"); "
				 "return ;;\n",
				 (*v)->name);
			break;
		case OPERAND_NONE:
			break;
		}
		if (words.len)
			str_addf(out, "\t%s) list='%s' ;;\n", (*v)->name, str_text(&words));
		str_done(&words);
	}
}

void completion_bash(struct str *out)
{
	struct str verbs = { 0 };

	words_verbs(&verbs);
	str_add(out, "# bash completion for pagetoll, made by 'pagetoll completion bash'.\n"
		     "# Use: source <(pagetoll completion bash)\n\n"
		     "_pagetoll_file()\n{\n\tcompopt -o filenames\n"
		     "\tmapfile -t COMPREPLY < <(compgen -W \"${1-}\" -- \"$cur\"; "
		     "compgen -f -- \"$cur\")\n}\n\n");
	bash_words(out);
	str_addf(out,
		 "_pagetoll()\n{\n\tlocal line=${COMP_LINE:0:COMP_POINT} cur prev list='' n\n"
		 "\tlocal -a w\n\tread -ra w <<<\"$line\"\n"
		 "\t[[ $line == *[[:space:]] ]] && w+=('')\n"
		 "\tn=${#w[@]}\n\tCOMPREPLY=()\n\t((n >= 2)) || return\n"
		 "\tcur=${w[n - 1]} prev=${w[n - 2]}\n"
		 "\tif ((n == 2)); then\n"
		 "\t\tmapfile -t COMPREPLY < <(compgen -W '%s --help --version' -- \"$cur\")\n"
		 "\t\treturn\n\tfi\n"
		 "\t[[ $cur == --*=* ]] && prev=${cur%%%%=*} cur=${cur#*=}\n"
		 "\tcase ${w[1]}:$prev in\n",
		 str_text(&verbs));
	str_done(&verbs);
	bash_options(out);
	str_add(out, "\tesac\n\tif [[ -n $list ]]; then\n"
		     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$cur\")\n"
		     "\t\treturn\n\tfi\n\tif [[ $cur == -* ]]; then\n\t\tcase ${w[1]} in\n");
	for (const struct verb *const *v = verb_table; *v; v++) {
		struct str words = { 0 };

		words_options(&words, *v);
		str_addf(out, "\t\t%s) list='%s' ;;\n", (*v)->name, str_text(&words));
		str_done(&words);
	}
	str_add(out, "\t\tesac\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$cur\")\n"
		     "\t\treturn\n\tfi\n\tcase ${w[1]} in\n");
	bash_operands(out);
	str_add(out, "\tesac\n"
		     "\tmapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$cur\")\n}\n\n"
		     "complete -F _pagetoll pagetoll\n");
}

/* --- zsh --- */

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

static void zsh_action(struct str *out, const struct argp_option *o)
{
	struct str choices = { 0 };

	if (!o->arg)
		return;
	if (words_choices(&choices, o))
		str_addf(out, ":value:(%s)", str_text(&choices));
	else if (takes_parameter(o))
		str_add(out, ":parameter:_pagetoll_word");
	else
		str_addf(out, ":%s:%s", o->arg,
			 strcmp(o->arg, "FILE") == 0  ? "_files"
			 : strcmp(o->arg, "DIR") == 0 ? "_files -/"
						      : " ");
	str_done(&choices);
}

static void zsh_option(struct str *out, const struct argp_option *o)
{
	str_addf(out, " \\\n\t\t\t'--%s%s[", o->name, o->arg ? "=" : "");
	zsh_text(out, o->doc);
	str_add(out, "]");
	zsh_action(out, o);
	str_add(out, "'");
	if (o->key <= 0 || o->key >= 0x80)
		return;
	str_addf(out, " \\\n\t\t\t'-%c%s[", o->key, o->arg ? "+" : "");
	zsh_text(out, o->doc);
	str_add(out, "]");
	zsh_action(out, o);
	str_add(out, "'");
}

static void zsh_operand(struct str *out, const struct verb *v)
{
	struct str words = { 0 };

	switch (v->operand) {
	case OPERAND_WORDS:
		str_add(out, " \\\n\t\t\t'*:word:_pagetoll_word'");
		break;
	case OPERAND_BENCH:
		for (const struct bench *const *b = bench_table; *b; b++)
			str_addf(&words, "%s%s", words.len ? " " : "", (*b)->schema.name);
		break;
	case OPERAND_RUN:
	case OPERAND_RUNS:
		words_runs(&words);
		str_addf(out, " \\\n\t\t\t'%s:run:{ compadd -- %s; _files }'",
			 v->operand == OPERAND_RUNS ? "*" : "1", str_text(&words));
		str_done(&words);
		break;
	case OPERAND_SHELL:
		str_add(&words, "bash zsh fish");
		break;
	case OPERAND_VERB:
		words_verbs(&words);
		break;
	case OPERAND_COMMAND:
		str_add(out, " \\\n\t\t\t'*::command:_normal'");
		break;
	case OPERAND_NONE:
		break;
	}
	if (words.len)
		str_addf(out, " \\\n\t\t\t'1:word:(%s)'", str_text(&words));
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

/* --- fish --- */

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

static void fish_option(struct str *out, const struct verb *v, const struct argp_option *o)
{
	struct str choices = { 0 };

	str_addf(out, "complete -c pagetoll -n '__fish_seen_subcommand_from %s' -l %s", v->name,
		 o->name);
	add_letter(out, o, " -s ?");
	if (takes_parameter(o))
		words_each_param(fish_param, &choices);
	if (choices.len || words_choices(&choices, o))
		str_addf(out, " -x -a '%s'", str_text(&choices));
	else if (o->arg)
		str_add(out, takes_file(o) ? " -r -F" : " -x");
	str_add(out, " -d '");
	fish_text(out, o->doc);
	str_add(out, "'\n");
	str_done(&choices);
}

static void fish_operand(struct str *out, const struct verb *v)
{
	struct str words = { 0 };

	switch (v->operand) {
	case OPERAND_WORDS:
		words_targets(&words);
		words_each_param(fish_param, &words);
		break;
	case OPERAND_BENCH:
		for (const struct bench *const *b = bench_table; *b; b++)
			str_addf(&words, "%s%s", words.len ? " " : "", (*b)->schema.name);
		break;
	case OPERAND_RUN:
	case OPERAND_RUNS:
		words_runs(&words);
		break;
	case OPERAND_SHELL:
		str_add(&words, "bash zsh fish");
		break;
	case OPERAND_VERB:
		words_verbs(&words);
		break;
	case OPERAND_COMMAND:
		str_add(&words, "(__fish_complete_subcommand)");
		break;
	case OPERAND_NONE:
		break;
	}
	if (words.len)
		str_addf(out,
			 "complete -c pagetoll -n '__fish_seen_subcommand_from %s'%s -a '%s'\n",
			 v->name,
			 v->operand == OPERAND_RUN || v->operand == OPERAND_RUNS ? " -F" : "",
			 str_text(&words));
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
