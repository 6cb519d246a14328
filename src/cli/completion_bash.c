// SPDX-License-Identifier: MIT
/*
 * The completion script of bash: the words are written into it; only the runs that were kept are
 * asked for, by 'pagetoll __runs'. Source: bash manual, "Programmable Completion".
 */
#include "cli/completion_words.h"

#include <string.h>

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

/* What follows a pattern of the case: ends in ";;". */
static void bash_action(struct str *out, enum completes what, const struct str *words)
{
	switch (what) {
	case COMPLETES_LIST:
		str_addf(out, ") list='%s' ;;\n", str_text(words));
		return;
	case COMPLETES_RUN:
		str_addf(out, ") _pagetoll_file '%s' runs; return ;;\n", str_text(words));
		return;
	case COMPLETES_FILE:
	case COMPLETES_DIR:
		str_add(out, ") _pagetoll_file; return ;;\n");
		return;
	case COMPLETES_WORD:
		str_add(out, ") _pagetoll_word; return ;;\n");
		return;
	case COMPLETES_COMMAND:
		str_add(out, ") mapfile -t COMPREPLY < <(compgen -c -- \"$cur\"); return ;;\n");
		return;
	case COMPLETES_NOTHING:
		break;
	}
	str_add(out, ") return ;;\n");
}

static void bash_options(struct str *out)
{
	for (const struct verb *const *v = verb_table; *v; v++) {
		for (const struct argp_option *o = (*v)->argp->options; o->name; o++) {
			struct str words = { 0 };
			enum completes what = words_of_option(&words, o);

			if (!o->arg)
				continue;
			str_addf(out, "\t%s:--%s", (*v)->name, o->name);
			if (o->key > 0 && o->key < 0x80)
				str_addf(out, " | %s:-%c", (*v)->name, o->key);
			bash_action(out, what, &words);
			str_done(&words);
		}
	}
}

static void bash_operands(struct str *out)
{
	for (const struct verb *const *v = verb_table; *v; v++) {
		struct str words = { 0 };
		enum completes what = words_of_operand(&words, *v);

		str_addf(out, "\t%s", (*v)->name);
		bash_action(out, what, &words);
		str_done(&words);
	}
}

void completion_bash(struct str *out)
{
	struct str verbs = { 0 };

	words_verbs(&verbs);
	str_add(out, "# bash completion for pagetoll, made by 'pagetoll completion bash'.\n"
		     "# Use: source <(pagetoll completion bash)\n\n"
		     "_pagetoll_file()\n{\n\tlocal kept=''\n\tcompopt -o filenames\n"
		     "\t[[ ${2-} == runs ]] && kept=$(\"${w[0]}\" " RUNS_VERB " 2>/dev/null)\n"
		     "\tmapfile -t COMPREPLY < <(compgen -W \"${1-} $kept\" -- \"$cur\"; "
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
