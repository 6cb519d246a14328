// SPDX-License-Identifier: MIT
/* Words for completion, from the verbs' option tables and the benchmarks' descriptors. */
#include "cli/completion_words.h"

#include <string.h>

#include "sim/machine.h"
#include "store/library.h"

static void add_word(struct str *out, const char *word, size_t n)
{
	if (out->len)
		str_add(out, " ");
	str_add_n(out, word, n);
}

void words_verbs(struct str *out)
{
	for (const struct verb *const *v = verb_table; *v; v++)
		add_word(out, (*v)->name, strlen((*v)->name));
}

void words_options(struct str *out, const struct verb *v)
{
	for (const struct argp_option *o = v->argp->options; o->name; o++) {
		add_word(out, "--", 2);
		str_add(out, o->name);
		if (o->key > 0 && o->key < 0x80)
			str_addf(out, " -%c", o->key);
	}
}

static bool has_word(const struct str *list, const char *word, size_t n)
{
	const char *p = str_text(list);

	while (*p) {
		size_t k = strcspn(p, " ");

		if (k == n && strncmp(p, word, n) == 0)
			return true;
		p += k + strspn(p + k, " ");
	}
	return false;
}

void words_targets(struct str *out)
{
	add_word(out, "all", 3);
	for (const struct bench *const *b = bench_table; *b; b++) {
		const char *name = (*b)->schema.name;
		size_t family = strcspn(name, ".");

		if (!has_word(out, name, family))
			add_word(out, name, family);
		add_word(out, name, strlen(name));
	}
}

void words_param_names(struct str *out, const struct bench *only)
{
	for (const struct bench *const *b = bench_table; *b; b++) {
		for (const struct param *p = (*b)->schema.params; p->name; p++) {
			struct str word = { 0 };

			str_addf(&word, "%s=", p->name);
			if ((!only || only == *b) && !has_word(out, str_text(&word), word.len))
				add_word(out, str_text(&word), word.len);
			str_done(&word);
		}
	}
}

void words_each_param(void (*each)(void *user, const char *name), void *user)
{
	struct str seen = { 0 };

	for (const struct bench *const *b = bench_table; *b; b++) {
		for (const struct param *p = (*b)->schema.params; p->name; p++) {
			if (has_word(&seen, p->name, strlen(p->name)))
				continue;
			add_word(&seen, p->name, strlen(p->name));
			each(user, p->name);
		}
	}
	str_done(&seen);
}

static const char *type_words(enum param_type t)
{
	switch (t) {
	case PARAM_STRIDE:
		return "page base-page leaf-table pmd-table pud-table p4d-table";
	case PARAM_PAGE:
		return "base auto thp hugetlb hugetlb-2m hugetlb-1g 4k 64k";
	case PARAM_CPU:
		return "auto";
	case PARAM_NODE:
		return "local remote";
	case PARAM_COUNT:
	case PARAM_BYTES:
	case PARAM_CHOICE:
		break;
	}
	return "";
}

static void add_new_words(struct str *out, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (!has_word(out, words, n))
			add_word(out, words, n);
		words += n + strspn(words + n, " ");
	}
}

void words_values(struct str *out, const char *param)
{
	for (const struct bench *const *b = bench_table; *b; b++) {
		const struct param *p = schema_param(&(*b)->schema, param);

		if (!p)
			continue;
		add_new_words(out, type_words(p->type));
		if (p->type == PARAM_NODE && strcmp(param, "node") == 0)
			add_new_words(out, "each");
		for (size_t i = 0; p->choices && p->choices[i]; i++)
			add_new_words(out, p->choices[i]);
		if (p->def && strcmp(p->def, "auto") != 0)
			add_new_words(out, p->def);
	}
}

static void add_benches(struct str *out)
{
	for (const struct bench *const *b = bench_table; *b; b++)
		add_word(out, (*b)->schema.name, strlen((*b)->schema.name));
}

static void add_runs(struct str *out)
{
	add_new_words(out, "baseline last last~1");
	for (const struct published *p = published_runs; p->name; p++)
		add_word(out, p->name, strlen(p->name));
}

enum completes words_of_option(struct str *out, const struct argp_option *o)
{
	if (!o->arg)
		return COMPLETES_NOTHING;
	if (strncmp(o->arg, "NAME=", 5) == 0)
		return COMPLETES_WORD;
	if (strcmp(o->arg, "FILE") == 0)
		return COMPLETES_FILE;
	if (strcmp(o->arg, "DIR") == 0)
		return COMPLETES_DIR;
	if (strcmp(o->arg, "RUN") == 0) {
		add_runs(out);
		return COMPLETES_RUN;
	}
	if (strcmp(o->arg, "BENCH") == 0)
		add_benches(out);
	else if (strcmp(o->arg, "MACHINE") == 0)
		for (const struct sim_embedded *x = sim_embedded_machines; x->name; x++)
			add_word(out, x->name, strlen(x->name));
	else if (strchr(o->arg, '|'))
		for (const char *p = o->arg; *p; p++)
			str_add_n(out, *p == '|' ? " " : p, 1);
	return out->len ? COMPLETES_LIST : COMPLETES_NOTHING;
}

enum completes words_of_operand(struct str *out, const struct verb *v)
{
	switch (v->operand) {
	case OPERAND_WORDS:
		return COMPLETES_WORD;
	case OPERAND_RUN:
	case OPERAND_RUNS:
		add_runs(out);
		return COMPLETES_RUN;
	case OPERAND_COMMAND:
		return COMPLETES_COMMAND;
	case OPERAND_BENCH:
		add_benches(out);
		return COMPLETES_LIST;
	case OPERAND_SHELL:
		add_new_words(out, "bash zsh fish");
		return COMPLETES_LIST;
	case OPERAND_VERB:
		words_verbs(out);
		return COMPLETES_LIST;
	case OPERAND_NONE:
		break;
	}
	return COMPLETES_NOTHING;
}
