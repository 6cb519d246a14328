// SPDX-License-Identifier: MIT
/*
 * Parsing of a verb's command line with glibc's argp. argp (through getopt_long) takes any unique
 * abbreviation of a long option, so that a new option can change what an old script means; here
 * every option word is checked against the table first, which also gives better messages.
 * Sources: the GNU C Library manual, chapter 25.3 (argp) and 25.2 (getopt).
 */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

enum { MAX_OPTIONS = 32 };

static const struct argp_option *long_option(const struct argp_option *o, const char *name,
					     size_t n)
{
	for (; o->name; o++) {
		if (strlen(o->name) == n && strncmp(o->name, name, n) == 0)
			return o;
	}
	return NULL;
}

static const struct argp_option *short_option(const struct argp_option *o, char letter)
{
	for (; o->name; o++) {
		if (o->key == letter)
			return o;
	}
	return NULL;
}

static void unknown_option(const struct common *c, const char *name, size_t n)
{
	const struct argp_option *o = c->verb->argp->options;
	const char *names[MAX_OPTIONS + 1] = { 0 };
	const char *prefix_of = NULL;
	struct str hint = { 0 };
	struct str word = { 0 };
	size_t k = 0;

	str_add_n(&word, name, n);
	for (; o->name && k < MAX_OPTIONS; o++) {
		names[k++] = o->name;
		if (n > 0 && strncmp(o->name, name, n) == 0)
			prefix_of = o->name;
	}
	if (prefix_of)
		str_addf(&hint, "; abbreviations are not taken, did you mean '--%s'?", prefix_of);
	else
		cli_did_you_mean(&hint, "--", str_text(&word), names);
	cli_usage(c, "unknown option '--%s'%s", str_text(&word), str_text(&hint));
}

/* Returns how many words the option takes. */
static int check_long(const struct common *c, const char *word, const char *next)
{
	const char *name = word + 2;
	size_t n = strcspn(name, "=");
	const struct argp_option *o = long_option(c->verb->argp->options, name, n);

	if (!o)
		unknown_option(c, name, n);
	if (!o->arg && name[n] == '=')
		cli_usage(c, "option '--%s' takes no value", o->name);
	if (!o->arg || name[n] == '=')
		return 1;
	if (!next)
		cli_usage(c, "option '--%s' needs a value: %s", o->name, o->arg);
	return 2;
}

static int check_short(const struct common *c, const char *word, const char *next)
{
	for (const char *p = word + 1; *p; p++) {
		const struct argp_option *o = short_option(c->verb->argp->options, *p);

		if (!o)
			cli_usage(c, "unknown option '-%c' in '%s'", *p, word);
		if (!o->arg)
			continue;
		if (p[1])
			return 1;
		if (!next)
			cli_usage(c, "option '-%c' needs a value: %s", *p, o->arg);
		return 2;
	}
	return 1;
}

static void check_options(const struct common *c, int argc, char **argv)
{
	int i = 1;

	while (i < argc) {
		const char *w = argv[i];
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(w, "--") == 0)
			return;
		if (w[0] == '-' && w[1] == '-')
			i += check_long(c, w, next);
		else if (w[0] == '-' && w[1])
			i += check_short(c, w, next);
		else
			i++;
	}
}

void cli_parse(const struct verb *v, int argc, char **argv, void *input)
{
	struct common *c = input;
	static char name[64]; /* argp keeps a pointer to it until the program ends */
	static char **words;  /* as verbs do: operands live until then */
	error_t rc;

	c->verb = v;
	check_options(c, argc, argv);
	words = calloc((size_t)argc, sizeof(*words));
	if (!words)
		exit(cli_fail(c, CLI_FATAL, "out of memory"));
	c->words = words;
	snprintf(name, sizeof(name), "pagetoll %s", v->name);
	argv[0] = name;
	argp_err_exit_status = CLI_USAGE;
	rc = argp_parse(v->argp, argc, argv, ARGP_NO_HELP, NULL, input);
	if (rc)
		cli_usage(c, "%s", strerror(rc));
}

error_t common_option(int key, char *arg, struct argp_state *state)
{
	struct common *c = state->input;

	switch (key) {
	case 'h':
		exit(cli_help(c->verb));
	case KEY_FORMAT:
		c->format = (enum format)cli_choice(c, "--format", "text|csv|json", arg);
		c->json_errors = c->format == FORMAT_JSON;
		return 0;
	case KEY_COLOR:
		c->colour = (enum colour_mode)cli_choice(c, "--color", "auto|always|never", arg);
		return 0;
	case KEY_SYSROOT:
		if (!*arg)
			cli_usage(c, "--sysroot: the folder's name is empty");
		c->sysroot = arg;
		return 0;
	case ARGP_KEY_ARG:
		c->words[c->n_words++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

size_t cli_choice(const struct common *c, const char *option, const char *choices, const char *arg)
{
	const char *p = choices;
	size_t index = 0;

	for (;;) {
		size_t n = strcspn(p, "|");

		if (strlen(arg) == n && strncmp(p, arg, n) == 0)
			return index;
		if (!p[n])
			break;
		p += n + 1;
		index++;
	}
	cli_usage(c, "%s: '%s' is not one of %s", option, arg, choices);
}

void cli_need_words(const struct common *c, size_t n, const char *what)
{
	if (c->n_words < n)
		cli_usage(c, "%s is missing", what);
	if (c->n_words > n)
		cli_usage(c, "one word too many: '%s'", c->words[n]);
}

int cli_help(const struct verb *v)
{
	char name[64];
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc;

	if (!f)
		return CLI_FATAL;
	/* The width must not depend on the user's environment, nor a note repeat the obvious. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note,opt-doc-col=26,rmargin=79", 1);
	snprintf(name, sizeof(name), "pagetoll %s", v->name);
	argp_help(v->argp, f, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
	if (fclose(f)) {
		free(text);
		return CLI_FATAL;
	}
	rc = cli_print(text, n);
	free(text);
	return rc;
}
