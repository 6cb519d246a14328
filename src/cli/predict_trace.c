// SPDX-License-Identifier: MIT
/*
 * Files of a trace: opening, taking turns, progress, what becomes of a bad one. Several files are
 * merged by their time stamps, where they have some; else they take turns of TURN records.
 */
#include "cli/predict_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/units.h"
#include "cli/predict_run.h"
#include "cli/render.h"
#include "cli/stop.h"
#include "host/clock.h"

enum { TURN = 1024, PROGRESS_TURNS = 64, PROGRESS_NS = 200 * 1000 * 1000 };
static const uint64_t NO_ID = UINT64_C(1) << 63; /* keys of threads without one: + file */

static const uint64_t NUMBER_MAX = UINT64_C(1) << 60;

/* --- options --- */

static uint64_t take_number(const struct common *c, const char *option, const char *arg,
			    uint64_t min)
{
	struct err e = { 0 };
	uint64_t n = 0;

	if (parse_u64(arg, &n, &e) < 0)
		cli_usage(c, "%s: %s", option, e.msg);
	if (n < min || n > NUMBER_MAX)
		cli_usage(c, "%s: %s; accepted: whole numbers from %" PRIu64 " up to %" PRIu64,
			  option, arg, min, NUMBER_MAX);
	return n;
}

static void take_file(struct trace_args *a, const struct common *c, const char *arg)
{
	if (a->n_files == TRACE_FILES_MAX)
		cli_usage(c, "--trace: at most %d files", TRACE_FILES_MAX);
	for (size_t i = 0; i < a->n_files; i++)
		if (strcmp(arg, "-") == 0 && strcmp(a->files[i], "-") == 0)
			cli_usage(c, "--trace: '-' twice: standard input can be read once");
	a->files[a->n_files++] = take_file_name(c, "--trace", arg);
}

bool take_trace(struct trace_args *a, const struct common *c, int key, const char *arg)
{
	switch (key) {
	case KEY_TRACE:
		take_file(a, c, arg);
		return true;
	case KEY_TRACE_FORMAT:
		a->given = "--trace-format";
		a->format = (enum trace_format)cli_choice(
			c, "--trace-format", "auto|lackey|champsim|cloudsuite|drmemtrace", arg);
		return true;
	case KEY_TRACE_THREADS:
		a->given = "--threads";
		a->options.compact = cli_choice(c, "--threads", "spread|compact", arg) == 1;
		return true;
	case KEY_TRACE_REFERENCES:
		a->given = "--references";
		a->options.limit = take_number(c, "--references", arg, 1);
		return true;
	case KEY_TRACE_WARM:
		a->given = "--warm";
		a->options.warm = take_number(c, "--warm", arg, 0);
		return true;
	case KEY_TRACE_INSTRUCTIONS:
		a->given = "--instructions";
		a->options.instructions = true;
		return true;
	default:
		return false;
	}
}

void take_trace_files(struct trace_args *a, struct common *c)
{
	size_t kept = 0;

	if (a->n_files == 0 && a->given)
		cli_usage(c, "%s needs --trace FILE", a->given);
	for (size_t i = 0; a->n_files > 0 && i < c->n_words; i++) {
		if (strchr(c->words[i], '='))
			c->words[kept++] = c->words[i];
		else
			take_file(a, c, c->words[i]);
	}
	c->n_words = a->n_files > 0 ? kept : c->n_words;
}

/* --- files --- */

struct input {
	const char *name;
	int fd; /* -1: not open */
	struct trace *trace;
	uint64_t turns, bytes; /* bytes: of the file; 0: not known */
	bool ended;
};

struct reading {
	const struct trace_request *q;
	struct input *inputs; /* owned */
	size_t n;
	struct replay *replay;
	struct str incomplete; /* why, of each bad file; empty: whole */
	bool limited, bad;     /* bad: a file is */
	int64_t shown_ns;
	size_t shown; /* columns in use on the screen */
};

static int read_bytes(void *user, void *buf, size_t n, size_t *ret_n, struct err *e)
{
	const struct input *in = user;
	ssize_t got;

	do
		got = read(in->fd, buf, n);
	while (got < 0 && errno == EINTR && !stop_caught());
	if (got < 0)
		return err_set(e, errno, "cannot be read: %s", strerror(errno));
	*ret_n = (size_t)got;
	return 0;
}

static const char *name_of(const struct input *in)
{
	return strcmp(in->name, "-") == 0 ? "standard input" : in->name;
}

static int open_input(struct reading *r, struct input *in, struct err *e)
{
	struct stat st;
	int rc;

	in->fd = strcmp(in->name, "-") == 0 ? dup(STDIN_FILENO)
					    : open(in->name, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return err_set(e, errno, "%s: %s", name_of(in), strerror(errno));
	if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode))
		in->bytes = (uint64_t)st.st_size;
	rc = trace_open(read_bytes, in, in->name, r->q->trace->format, &in->trace, e);
	if (rc < 0)
		err_prefix(e, "%s: ", name_of(in));
	return rc;
}

static int open_inputs(struct reading *r, struct err *e)
{
	const struct trace_args *a = r->q->trace;

	r->inputs = calloc(a->n_files, sizeof(*r->inputs));
	if (!r->inputs)
		return err_set(e, ENOMEM, "out of memory");
	for (; r->n < a->n_files; r->n++)
		r->inputs[r->n] = (struct input){ .name = a->files[r->n], .fd = -1 };
	for (size_t i = 0; i < r->n; i++) {
		int rc = open_input(r, &r->inputs[i], e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void close_inputs(struct reading *r)
{
	for (size_t i = 0; i < r->n; i++) {
		trace_close(r->inputs[i].trace);
		if (r->inputs[i].fd >= 0)
			close(r->inputs[i].fd);
	}
	free(r->inputs);
}

/* --- progress --- */

static void show_line(struct reading *r, const char *text)
{
	const size_t n = strlen(text);

	fprintf(stderr, "\r%s%*s\r", text, r->shown > n ? (int)(r->shown - n) : 0, "");
	fflush(stderr);
	r->shown = n;
}

static void show_progress(struct reading *r)
{
	const int64_t now = clock_now_ns();
	uint64_t at = 0, bytes = 0;
	struct replay_stats st;
	char text[80];
	int n;

	if (r->q->how->quiet || now - r->shown_ns < PROGRESS_NS || !isatty(STDERR_FILENO))
		return;
	r->shown_ns = now;
	for (size_t i = 0; i < r->n; i++) {
		at += trace_offset(r->inputs[i].trace);
		bytes = r->inputs[i].bytes && (i == 0 || bytes) ? bytes + r->inputs[i].bytes : 0;
	}
	replay_stats(r->replay, &st);
	n = snprintf(text, sizeof(text), "%.1f million references, %.0f MiB",
		     (double)(st.refs + st.warm) / 1e6, (double)at / 1048576);
	if (bytes && n > 0 && (size_t)n < sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, ", %d %%",
			 (int)(100 * at / bytes) < 99 ? (int)(100 * at / bytes) : 99);
	show_line(r, text);
}

/* --- reading --- */

/* The file whose turn it is: the earliest, then the one that had the fewest turns. NULL: none. */
static struct input *next_input(struct reading *r)
{
	struct input *best = NULL;

	for (size_t i = 0; i < r->n; i++) {
		struct input *in = &r->inputs[i];
		const uint64_t now = trace_time(in->trace);

		if (in->ended)
			continue;
		if (!best || now < trace_time(best->trace) ||
		    (now == trace_time(best->trace) && in->turns < best->turns))
			best = in;
	}
	return best;
}

static void note_bad(struct reading *r, const struct input *in, const char *why)
{
	r->bad = true;
	str_addf(&r->incomplete, "%s%s: %s", r->incomplete.len ? "; " : "", name_of(in), why);
}

/* One turn. 1: enough; 0; -ENOMEM. */
static int take_turn(struct reading *r, struct input *in, struct err *e)
{
	struct trace_ref v[TURN];
	struct err bad = { 0 };
	uint64_t thread;
	size_t n = 0;
	int rc = trace_next(in->trace, v, TURN, &n, &bad);

	in->turns++;
	if (rc <= 0) {
		in->ended = true;
		if (rc < 0)
			note_bad(r, in, bad.msg);
		return 0;
	}
	thread = trace_thread(in->trace);
	if (!thread)
		thread = NO_ID + (uint64_t)(in - r->inputs);
	return n ? replay_feed(r->replay, thread, v, n, e) : 0;
}

static int read_all(struct reading *r, struct err *e)
{
	const volatile sig_atomic_t *stop = stop_catch(NULL);
	struct input *in;
	int rc = 0;

	for (uint64_t turn = 1; rc == 0 && !*stop && (in = next_input(r)); turn++) {
		rc = take_turn(r, in, e);
		if (turn % PROGRESS_TURNS == 0)
			show_progress(r);
	}
	if (r->shown)
		show_line(r, "");
	stop_forget();
	if (*stop) {
		str_addf(&r->incomplete, "%sinterrupted", r->incomplete.len ? "; " : "");
		return 0;
	}
	r->limited = rc == 1;
	return rc < 0 ? rc : 0;
}

/* --- results --- */

static int add_context(const struct reading *r, const struct trace_view *v)
{
	struct run *run = r->q->run;
	struct str names = { 0 };
	int rc;

	for (size_t i = 0; i < r->n; i++)
		str_addf(&names, "%s%s", i ? " " : "", r->inputs[i].name);
	rc = names.failed ? -ENOMEM
			  : attrs_set_text(&run->arena, &run->context, "trace", str_text(&names));
	str_done(&names);
	if (rc == 0)
		rc = attrs_set_text(&run->arena, &run->context, "trace_format",
				    trace_format_name(v->format));
	if (rc == 0)
		rc = attrs_set_text(&run->arena, &run->context, "threads",
				    r->q->trace->options.compact ? "compact" : "spread");
	return rc;
}

static int fill_run(const struct reading *r, const struct trace_view *v, struct err *e)
{
	struct run *run = r->q->run;
	int rc = add_context(r, v);

	for (size_t i = 0; i < v->variants->n && rc == 0; i++) {
		const struct trace_variant *x = &v->variants->v[i];

		if (!x->why_not)
			rc = replay_add_measure(run, r->replay, x->index, &x->setting, x->arm,
						v->incomplete);
	}
	if (v->incomplete) {
		run->complete = false;
		run->stop_reason = arena_strdup(&run->arena, v->incomplete);
		rc = run->stop_reason ? rc : -ENOMEM;
	} else if (r->limited) {
		run->stop_reason = "--references";
	}
	return rc < 0 ? err_set(e, ENOMEM, "out of memory") : 0;
}

static int print(const struct trace_view *v, const char *path)
{
	const struct trace_request *q = v->request;
	struct str out = { 0 };

	if (q->common->format != FORMAT_TEXT)
		return cli_render_run(q->common, q->run, NULL, q->run->id, path);
	predict_trace_print(&out, v);
	if (path)
		str_addf(&out, "\nrun %s (predicted)\n", q->how->output ? path : q->run->id);
	return cli_print_str(&out);
}

static int tell_result(const struct reading *r, const struct trace_variants *variants)
{
	struct trace_view v = { .request = r->q,
				.variants = variants,
				.replay = r->replay,
				.format = trace_format_of(r->inputs[0].trace),
				.incomplete = r->incomplete.len ? str_text(&r->incomplete) : NULL,
				.limited = r->limited };
	const struct common *c = r->q->common;
	struct replay_stats st;
	struct err e = { 0 };
	char *path = NULL;
	int saved, status;

	for (size_t i = 0; i < r->n; i++) {
		v.prefetches += trace_prefetches(r->inputs[i].trace);
		if (trace_format_of(r->inputs[i].trace) != v.format)
			v.format = TRACE_AUTO;
	}
	replay_stats(r->replay, &st);
	if (st.refs == 0)
		return cli_fail(c, CLI_NOT_MEASURED,
				"%s%sno data reference counts (%" PRIu64 " were warm)%s",
				v.incomplete ? v.incomplete : "", v.incomplete ? "; " : "", st.warm,
				st.kinds[TRACE_FETCH] ? "; --instructions takes fetches as well"
						      : "");
	if (fill_run(r, &v, &e) < 0)
		return cli_fail(c, CLI_FATAL, "%s", e.msg);
	saved = predict_run_save(c, r->q->how, r->q->run, &path);
	status = print(&v, saved == CLI_DONE ? path : NULL);
	status = saved == CLI_DONE ? status : saved;
	free(path);
	if (v.incomplete)
		cli_warn(c, "%s; the result is of the %" PRIu64 " references until there",
			 v.incomplete, st.refs);
	return status == CLI_DONE && r->bad ? CLI_FATAL : status;
}

static int prepare(struct reading *r, struct trace_variants *t, struct err *e)
{
	int rc = trace_variants_init(t, r->q, e);

	if (rc == 0)
		rc = replay_new(r->q->machine, &r->q->trace->options, &r->replay, e);
	for (size_t i = 0; i < t->n && rc == 0; i++)
		if (!t->v[i].why_not)
			rc = replay_add(r->replay, &t->v[i].replay, e);
	return rc;
}

int predict_trace(const struct trace_request *q, int argc, char **argv)
{
	struct reading r = { .q = q };
	struct trace_variants *t = calloc(1, sizeof(*t));
	struct err e = { 0 };
	int rc, status;

	if (!t)
		return cli_fail(q->common, CLI_FATAL, "out of memory");
	rc = prepare(&r, t, &e);
	if (rc == -EINVAL || rc == -ERANGE)
		cli_usage(q->common, "%s", e.msg);
	if (rc == 0)
		rc = predict_run_header(q->run, q->machine, q->how, q->seed, argc, argv, &e);
	if (rc == 0)
		rc = open_inputs(&r, &e);
	if (rc == 0)
		rc = read_all(&r, &e);
	status = rc < 0 ? cli_fail(q->common, CLI_FATAL, "%s", e.msg) : tell_result(&r, t);
	replay_free(r.replay);
	close_inputs(&r);
	str_done(&r.incomplete);
	trace_variants_done(t);
	free(t);
	stop_end();
	return status;
}
