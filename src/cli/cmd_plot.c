// SPDX-License-Identifier: MIT
/*
 * `pagetoll plot RUN...`: charts of runs, in the terminal, as a picture by gnuplot, or as a script
 * for it. Files are written whole or not at all.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gnuplot.h"
#include "cli/take.h"
#include "report/plot.h"
#include "store/library.h"

enum { KEY_GNUPLOT = KEY_VERB, KEY_BENCH, KEY_METRIC };

struct plot_args {
	struct common common;
	const char *output, *script, *bench, *metric; /* NULL: not given */
	const char *terminal;                         /* by the ending of output */
};

/* The runs of the command line and what is drawn of them. */
struct drawn {
	struct run **runs;
	struct report *reports;
	struct plot_run *named;
	char **names;
	size_t n;
	struct plot plot;
};

static const char *terminal_of(const struct common *c, const char *file)
{
	static const char *const known[] = { "svg", "png", "pdf" };
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < 3; i++)
		if (strcasecmp(dot + 1, known[i]) == 0)
			return known[i];
	cli_usage(c, "--output: '%s' does not end in .svg, .png or .pdf", file);
}

static error_t parse_plot(int key, char *arg, struct argp_state *state)
{
	struct plot_args *a = state->input;

	switch (key) {
	case 'o':
		a->output = take_file_name(&a->common, "--output", arg);
		a->terminal = terminal_of(&a->common, arg);
		return 0;
	case KEY_GNUPLOT:
		a->script = take_file_name(&a->common, "--gnuplot", arg);
		return 0;
	case KEY_BENCH:
		a->bench = arg;
		return 0;
	case KEY_METRIC:
		a->metric = arg;
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

/* --- files --- */

static int fail(const struct plot_args *a, const char *path, int rc, const struct err *e)
{
	if (rc == -ENOENT)
		return cli_fail(&a->common, CLI_NOT_MEASURED,
				"%s; it is in the package gnuplot-nox (Debian, Ubuntu) or gnuplot "
				"(Fedora, SUSE, Arch). Without it: --gnuplot FILE writes the "
				"script, and without --output the plot comes as text",
				e->msg);
	return cli_fail(&a->common, CLI_FATAL, "cannot write %s: %s", path, e->msg);
}

/* Fills @path by @fill. */
static int write_file(const struct plot_args *a, const char *path, const struct str *script,
		      int (*fill)(const struct str *script, const struct cli_file *f,
				  struct err *e))
{
	struct err e = { 0 };
	struct cli_file f;
	int rc = cli_file_open(&f, path), closed;

	if (rc < 0)
		return cli_fail(&a->common, CLI_FATAL, "cannot write %s: %s", path, strerror(-rc));
	rc = fill(script, &f, &e);
	closed = cli_file_close(&f, rc == 0);
	if (closed < 0 && rc == 0)
		rc = err_set(&e, closed == -ENOENT ? EIO : -closed, "%s", strerror(-closed));
	return rc < 0 ? fail(a, path, rc, &e) : CLI_DONE;
}

static int fill_script(const struct str *script, const struct cli_file *f, struct err *e)
{
	int rc = cli_file_write(f, str_text(script), script->len);

	return rc < 0 ? err_set(e, -rc, "%s", strerror(-rc)) : 0;
}

static int fill_picture(const struct str *script, const struct cli_file *f, struct err *e)
{
	return gnuplot_run(script, f->fd, e);
}

static int make_file(const struct plot_args *a, const struct plot *p, const char *path,
		     const char *terminal)
{
	struct str script = { 0 };
	int rc;

	if (plot_gnuplot(&script, p, terminal) < 0)
		rc = cli_fail(&a->common, CLI_FATAL, "cannot draw: out of memory");
	else if (!terminal && strcmp(path, "-") == 0)
		rc = cli_print(str_text(&script), script.len);
	else
		rc = write_file(a, path, &script, terminal ? fill_picture : fill_script);
	str_done(&script);
	return rc;
}

/* --- runs --- */

/* "res/node7.pagetoll.jsonl" is node7. */
static char *name_of(const char *word)
{
	static const char *const endings[] = { ".jsonl", ".pagetoll" };
	const char *slash = strrchr(word, '/');
	char *name = strdup(slash && slash[1] ? slash + 1 : word);

	for (size_t i = 0; name && i < 2; i++) {
		size_t n = strlen(name), k = strlen(endings[i]);

		if (n > k && strcmp(name + n - k, endings[i]) == 0)
			name[n - k] = '\0';
	}
	return name;
}

static int load(const struct plot_args *a, struct drawn *d)
{
	size_t n = a->common.n_words;

	d->runs = calloc(n, sizeof(*d->runs));
	d->reports = calloc(n, sizeof(*d->reports));
	d->named = calloc(n, sizeof(*d->named));
	d->names = calloc(n, sizeof(*d->names));
	if (!d->runs || !d->reports || !d->named || !d->names)
		return cli_fail(&a->common, CLI_FATAL, "out of memory");
	for (; d->n < n; d->n++) {
		struct err e = { 0 };
		size_t i = d->n;

		if (library_load(a->common.words[i], &d->runs[i], NULL, &e))
			return cli_fail(&a->common, CLI_FATAL, "%s", e.msg);
		d->names[i] = name_of(a->common.words[i]);
		if (!d->names[i] || report_init(&d->reports[i], d->runs[i], &e)) {
			run_free(d->runs[i]);
			free(d->names[i]);
			return cli_fail(&a->common, CLI_FATAL, "cannot evaluate the run: %s",
					*e.msg ? e.msg : "out of memory");
		}
		d->named[i] = (struct plot_run){ &d->reports[i], d->names[i] };
	}
	return CLI_DONE;
}

static void unload(struct drawn *d)
{
	plot_done(&d->plot);
	for (size_t i = 0; i < d->n; i++) {
		report_done(&d->reports[i]);
		run_free(d->runs[i]);
		free(d->names[i]);
	}
	free(d->runs);
	free(d->reports);
	free(d->named);
	free(d->names);
}

static int draw_text(const struct plot_args *a, const struct plot *p)
{
	struct report_options o = cli_report_options(&a->common);
	struct str out = { 0 };

	if (plot_text(&out, p, &o) < 0) {
		str_done(&out);
		return cli_fail(&a->common, CLI_FATAL, "cannot draw: out of memory");
	}
	return cli_print_str(&out);
}

static int draw(const struct plot_args *a, const struct plot *p)
{
	int rc = CLI_DONE;

	if (!p->n)
		return cli_fail(&a->common, CLI_NOT_MEASURED, "nothing to draw: %s",
				p->n_omitted ? p->omitted[0] : "no curve");
	if (a->terminal && strcmp(a->terminal, "pdf") != 0 && p->n > PLOT_PICTURE_MAX)
		cli_usage(&a->common,
			  "%zu charts are too many for one picture, of at most %d: choose with "
			  "--bench, or write a .pdf, in which each is a page",
			  p->n, PLOT_PICTURE_MAX);
	if (!a->output && !a->script)
		return draw_text(a, p);
	for (size_t i = 0; i < p->n_omitted; i++)
		cli_warn(&a->common, "not drawn: %s", p->omitted[i]);
	if (a->script)
		rc = make_file(a, p, a->script, NULL);
	return rc || !a->output ? rc : make_file(a, p, a->output, a->terminal);
}

static int run_plot(const struct verb *v, int argc, char **argv)
{
	struct plot_args a = { 0 };
	struct drawn d = { 0 };
	struct err e = { 0 };
	int rc;

	cli_parse(v, argc, argv, &a);
	if (!a.common.n_words)
		cli_usage(&a.common,
			  "RUN is missing (a file, an id, 'last', 'last~1', 'baseline', or a "
			  "label); several share charts");
	rc = load(&a, &d);
	if (rc == CLI_DONE) {
		/* files are UTF-8 whatever the terminal is */
		bool utf8 = a.output || a.script || cli_is_utf8();
		int made = plot_make(&d.plot, d.named, d.n, a.bench, a.metric, utf8, &e);

		if (made == -ENOENT)
			rc = cli_fail(&a.common, a.bench || a.metric ? CLI_USAGE : CLI_NOT_MEASURED,
				      "%s", e.msg);
		else if (made < 0)
			rc = cli_fail(&a.common, CLI_FATAL, "cannot draw: %s", e.msg);
		else
			rc = draw(&a, &d.plot);
	}
	unload(&d);
	return rc;
}

static const struct argp_option plot_options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write a picture by gnuplot: FILE.svg, FILE.png or FILE.pdf (a page a chart)", 0 },
	{ "gnuplot", KEY_GNUPLOT, "FILE", 0,
	  "Write a script for gnuplot, with the data in it ('-': to stdout)", 0 },
	{ "bench", KEY_BENCH, "BENCH", 0, "Draw this benchmark only", 0 },
	{ "metric", KEY_METRIC, "METRIC", 0, "Draw this metric instead of the headline", 0 },
	OPTION_COLOR,
	OPTION_HELP,
	{ 0 }
};
static const struct argp plot_argp = {
	.options = plot_options,
	.parser = parse_plot,
	.args_doc = "RUN...",
	.doc = "Draw runs: each benchmark's curves, several runs in one chart. Without --output "
	       "and --gnuplot the charts are text. RUN is a file, an id or the beginning of one, "
	       "last, last~1, baseline, a label, or the name of a published run.\v"
	       "  pagetoll plot altix-2005\n"
	       "  pagetoll plot last~1 last --bench tlb.chase -o before-after.svg\n\n"
	       "Marks are medians over invocations; small dots in pictures are single invocations, "
	       "bands and bars 95 % intervals; dotted lines show where a curve bends.",
};
const struct verb verb_plot = {
	.name = "plot",
	.summary = "Draw runs, in the terminal or as svg, png, pdf",
	.operand = OPERAND_RUNS,
	.argp = &plot_argp,
	.run = run_plot,
};
