// SPDX-License-Identifier: MIT
/*
 * `pagetoll profile -- COMMAND`: run it, tell what it took and where the kernel's time went, and
 * pass its exit status on, as env(1), nice(1) and time(1) do. The command's descriptors are its
 * own, so the report goes to stderr unless it is asked for elsewhere.
 */
#include "cli/take.h"
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/units.h"
#include "cli/profile_toll.h"
#include "cli/run_header.h"
#include "host/clock.h"
#include "profile/profile.h"
#include "profile/ticks.h"
#include "record/runfile.h"
#include "store/library.h"

enum {
	KEY_FREQUENCY = KEY_VERB,
	KEY_EVENT,
	KEY_CALLERS,
	KEY_FOLDED,
	KEY_TOP,
	KEY_REPEAT,
	KEY_LABEL,
	KEY_NO_SAVE,
};

enum { MAX_FREQUENCY = 1000000, MAX_TOP = 100000, MAX_REPEAT = 1000 };
/* As a shell has them (POSIX, 2.8.2). */
enum { EXIT_CANNOT_EXECUTE = 126, EXIT_NOT_FOUND = 127 };

struct profile_args {
	struct common common;
	struct sampler_options sampling;
	bool callers, no_save;
	const char *folded, *label, *output;
	size_t top;
	unsigned repeat;
};

/* One profile in work. */
struct session {
	const struct profile_args *args;
	struct sysroot live, sr; /* of the processes; of the symbols and settings */
	struct machine m;
	struct u32_list online; /* CPUs */
	struct walk_events walks;
	struct err no_walks; /* code 0: there are events for them */
	struct run *r;
	struct runfile *file;           /* NULL: not saved, or not yet */
	char *path;                     /* owned; NULL: not saved */
	struct stacks stacks;           /* of all executions */
	struct profile_symbols symbols; /* of the last one */
	int status;                     /* of wait(2), the last one */
	int stop_signal;
};

/* --- command line --- */

static uint64_t take_number(const struct profile_args *a, const char *option, const char *arg,
			    uint64_t most)
{
	struct err e = { 0 };
	uint64_t n = 0;

	if (parse_u64(arg, &n, &e))
		cli_usage(&a->common, "%s: %s", option, e.msg);
	if (n < 1 || n > most)
		cli_usage(&a->common, "%s: %s is not within 1 to %llu", option, arg,
			  (unsigned long long)most);
	return n;
}

static error_t parse_profile(int key, char *arg, struct argp_state *state)
{
	struct profile_args *a = state->input;

	switch (key) {
	case KEY_FREQUENCY:
		a->sampling.frequency = (unsigned)take_number(a, "--frequency", arg, MAX_FREQUENCY);
		return 0;
	case KEY_EVENT:
		a->sampling.clock_only =
			cli_choice(&a->common, "--event", "auto|cpu-clock", arg) == 1;
		return 0;
	case KEY_CALLERS:
		a->callers = true;
		return 0;
	case KEY_FOLDED:
		a->folded = take_file_name(&a->common, "--folded", arg);
		return 0;
	case KEY_TOP:
		a->top = (size_t)take_number(a, "--top", arg, MAX_TOP);
		return 0;
	case KEY_REPEAT:
		a->repeat = (unsigned)take_number(a, "--repeat", arg, MAX_REPEAT);
		return 0;
	case KEY_LABEL:
		a->label = take_label(&a->common, arg);
		return 0;
	case KEY_NO_SAVE:
		a->no_save = true;
		return 0;
	case 'o':
		a->output = take_file_name(&a->common, "--output", arg);
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

/* --- files --- */

/* Before the command runs: what cannot be written then should not cost a run. */
static int check_writable(const struct profile_args *a, const char *option, const char *path)
{
	int fd;

	if (!path || strcmp(path, "-") == 0)
		return CLI_DONE;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	/* A pipe without a reader yet. */
	if (fd < 0 && errno != ENXIO)
		return cli_fail(&a->common, CLI_FATAL, "%s: cannot write %s: %s", option, path,
				strerror(errno));
	if (fd >= 0)
		close(fd);
	return CLI_DONE;
}

/* "-" is stdout, NULL stderr. */
static int write_text(const struct profile_args *a, const char *path, const struct str *s)
{
	int fd, rc;

	if (!path)
		return io_write_all(STDERR_FILENO, str_text(s), s->len) ? CLI_FATAL : CLI_DONE;
	if (strcmp(path, "-") == 0)
		return cli_print(str_text(s), s->len);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	rc = fd < 0 ? -errno : io_write_all(fd, str_text(s), s->len);
	if (fd >= 0 && close(fd) && rc == 0)
		rc = -errno;
	return rc ? cli_fail(&a->common, CLI_FATAL, "cannot write %s: %s", path, strerror(-rc))
		  : CLI_DONE;
}

/* Without a file the profile is printed all the same. */
static void open_file(struct session *s)
{
	struct err e = { 0 };
	int rc;

	if (s->args->no_save)
		return;
	rc = library_new_path(s->r->id, &s->path, &e);
	if (rc == 0)
		rc = runfile_create(s->path, s->r, &s->file, &e);
	if (rc == 0)
		return;
	cli_warn(&s->args->common,
		 "this profile is not saved: %s; set PAGETOLL_DATA to a folder that can be written",
		 e.code ? e.msg : strerror(-rc));
	free(s->path);
	s->path = NULL;
}

static void append(struct session *s, size_t first)
{
	struct err e = { 0 };

	for (size_t i = first; s->file && i < s->r->n_measures; i++) {
		if (runfile_append(s->file, &s->r->measures[i], &e) == 0)
			continue;
		cli_warn(&s->args->common, "%s; the profile is not saved from here on", e.msg);
		runfile_close(s->file);
		s->file = NULL;
	}
}

static void close_file(struct session *s)
{
	struct err e = { 0 };

	if (s->file && runfile_finish(s->file, s->r, &e))
		cli_warn(&s->args->common, "%s", e.msg);
	runfile_close(s->file);
	s->file = NULL;
}

/* --- running --- */

/* One execution. 0: it ran; otherwise the exit status, after a message. */
static int execute(struct session *s, unsigned invocation)
{
	struct command c = { .argv = s->args->common.words,
			     .live = &s->live,
			     .sr = &s->sr,
			     .online = &s->online,
			     .o = &s->args->sampling,
			     .walks = s->no_walks.code ? NULL : &s->walks };
	struct command_result result;
	size_t first = s->r->n_measures;
	struct err e = { 0 };
	bool no_exec;
	int rc = command_run(&c, &result, &no_exec, &e);

	if (rc)
		return cli_fail(&s->args->common,
				!no_exec        ? CLI_FATAL
				: rc == -ENOENT ? EXIT_NOT_FOUND
						: EXIT_CANNOT_EXECUTE,
				"%s", e.msg);
	if (result.sampled) {
		profile_symbols_done(&s->symbols);
		profile_symbols_read(&s->sr, &s->symbols);
	}
	if (s->no_walks.code)
		result.no_walks = s->no_walks;
	rc = profile_record(s->r, invocation, &result, &s->args->sampling, &s->symbols);
	stacks_merge(&s->stacks, &result.stacks);
	stacks_done(&result.stacks);
	s->status = result.wait_status;
	s->stop_signal = result.stop_signal;
	if (rc)
		return cli_fail(&s->args->common, CLI_FATAL, "cannot keep the profile: %s",
				strerror(-rc));
	if (invocation == 0 && result.walked)
		profile_add_toll(s->r);
	if (invocation == 0)
		open_file(s);
	append(s, first);
	return 0;
}

static int execute_all(struct session *s)
{
	unsigned i;

	for (i = 0; i < s->args->repeat; i++) {
		int status = execute(s, i);

		if (status)
			return status;
		/* More of the same would hide it. */
		if (s->status || s->stop_signal)
			break;
	}
	s->r->complete = i == s->args->repeat || (i + 1 == s->args->repeat && !s->stop_signal);
	s->r->stop_reason = s->stop_signal ? "interrupted"
			    : s->status    ? "the command failed"
					   : "all executions done";
	s->r->end_unix_ns = clock_unix_ns();
	s->r->has_footer = true;
	return 0;
}

/* --- printing --- */

static int render(struct session *s, struct str *out)
{
	const struct profile_args *a = s->args;
	struct report_options o = cli_report_options(&a->common);
	struct report rep = { 0 };
	struct err e = { 0 };
	int rc;

	o.file = s->path;
	/* Its place is stderr, or a file. */
	if (a->common.colour == COLOUR_AUTO)
		o.colour = o.colour && !a->output && isatty(STDERR_FILENO);
	if (report_init(&rep, s->r, &e))
		return -ENOMEM;
	rc = a->common.format == FORMAT_JSON  ? report_json(out, &rep)
	     : a->common.format == FORMAT_CSV ? report_csv(out, &rep)
					      : report_profile(out, &rep, a->top, a->callers, &o);
	report_done(&rep);
	if (rc == 0 && a->common.format == FORMAT_TEXT && s->path)
		str_addf(out, "\nsaved: pagetoll show last; against another: pagetoll compare "
			      "last~1 last\n");
	return rc ? rc : out->failed ? -ENOMEM : 0;
}

static int print_report(struct session *s)
{
	const struct profile_args *a = s->args;
	const char *to = a->output ? a->output : a->common.format == FORMAT_TEXT ? NULL : "-";
	struct str out = { 0 };
	int status;

	if (!to)
		str_add(&out, "\n"); /* whatever the command left on the line */
	if (render(s, &out))
		status = cli_fail(&a->common, CLI_FATAL, "cannot write the report: out of memory");
	else
		status = write_text(a, to, &out);
	str_done(&out);
	return status;
}

static int print_folded(struct session *s)
{
	struct str out = { 0 };
	int status;

	if (!s->args->folded)
		return CLI_DONE;
	if (s->symbols.why_not[0])
		cli_warn(&s->args->common, "--folded: %s", s->symbols.why_not);
	if (ticks_folded(&s->stacks, &s->symbols.symbols, s->args->common.words[0], &out))
		status = cli_fail(&s->args->common, CLI_FATAL, "cannot fold: out of memory");
	else
		status = write_text(s->args, s->args->folded, &out);
	str_done(&out);
	return status;
}

/* Ends as the command did, but leaves no core of ours. */
__attribute__((noreturn)) static void die_by(int sig)
{
	sigset_t set;

	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	_exit(128 + sig); /* not reached */
}

static int profile(struct session *s)
{
	int status = execute_all(s), printed;

	close_file(s);
	if (status && !s->r->n_measures)
		return status;
	printed = print_report(s);
	if (printed == CLI_DONE)
		printed = print_folded(s);
	if (status)
		return status;
	if (WIFSIGNALED(s->status))
		die_by(WTERMSIG(s->status));
	return WEXITSTATUS(s->status) ? WEXITSTATUS(s->status) : printed;
}

static int prepare(struct session *s, int argc, char **argv)
{
	const struct profile_args *a = s->args;
	struct err e = { 0 };
	int status = check_writable(a, "--output", a->output);

	if (status == CLI_DONE)
		status = check_writable(a, "--folded", a->folded);
	if (status)
		return status;
	if (sysroot_init(&s->live, NULL, &e) || sysroot_init(&s->sr, a->common.sysroot, &e))
		return cli_fail(&a->common, CLI_FATAL, "%s", e.msg);
	if (machine_read(&s->live, &s->m, &e))
		return cli_fail(&a->common, CLI_FATAL, "cannot read the machine: %s", e.msg);
	if (sysroot_read_list(&s->live, "sys/devices/system/cpu/online", &s->online, &e))
		return cli_fail(&a->common, CLI_FATAL, "cannot tell the CPUs: %s", e.msg);
	(void)walks_choose(&s->live, &s->walks, &s->no_walks);
	s->r = run_new();
	if (!s->r)
		return cli_fail(&a->common, CLI_FATAL, "out of memory");
	if (run_header_begin(s->r, &s->live, &s->m, a->label, argc, argv, &e) ||
	    run_add_schema(s->r, &profile_command_schema) ||
	    run_add_schema(s->r, &profile_kernel_schema))
		return cli_fail(&a->common, CLI_FATAL, "%s", e.code ? e.msg : "out of memory");
	return CLI_DONE;
}

static int run_profile(const struct verb *v, int argc, char **argv)
{
	struct profile_args a = { .sampling.frequency = 997, .top = 20, .repeat = 1 };
	struct session s = { .args = &a };
	/* argp sorts the words and names the verb anew; the header says what was typed. */
	char **typed = calloc((size_t)argc + 1, sizeof(*typed));
	int status;

	if (!typed)
		return cli_fail(&a.common, CLI_FATAL, "out of memory");
	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	cli_parse(v, argc, argv, &a);
	if (!a.common.n_words)
		cli_usage(&a.common, "COMMAND is missing, as in: pagetoll profile -- make -j4");
	a.sampling.chains = a.callers || a.folded;
	status = prepare(&s, argc, typed);
	if (status == CLI_DONE)
		status = profile(&s);
	profile_symbols_done(&s.symbols);
	stacks_done(&s.stacks);
	run_free(s.r);
	machine_done(&s.m);
	u32_list_done(&s.online);
	free(s.path);
	free(typed);
	return status;
}

static const struct argp_option profile_options[] = {
	{ "top", KEY_TOP, "N", 0, "Print the N functions with most ticks (default: 20)", 0 },
	{ "callers", KEY_CALLERS, NULL, 0, "Print also which function called them", 0 },
	{ "folded", KEY_FOLDED, "FILE", 0,
	  "Write all call chains to FILE, one a line, for flame graphs; '-' is stdout", 0 },
	{ "repeat", KEY_REPEAT, "N", 0,
	  "Execute N times (default: 1); intervals need 6; ends early when the command fails", 0 },
	{ "frequency", KEY_FREQUENCY, "N", 0, "Samples for each second of CPU time (default: 997)",
	  0 },
	{ "event", KEY_EVENT, "auto|cpu-clock", 0,
	  "What takes the samples (default: auto, cycles where there is a counter)", 0 },
	{ "label", KEY_LABEL, "TEXT", 0, "Name the run, for show and compare", 0 },
	{ "no-save", KEY_NO_SAVE, NULL, 0, "Print the result only", 0 },
	{ "output", 'o', "FILE", 0,
	  "Write the report to FILE ('-': stdout; default: text to stderr, csv and json to stdout)",
	  0 },
	OPTION_FORMAT,
	OPTION_COLOR,
	{ "sysroot", KEY_SYSROOT, "DIR", 0,
	  "Take the kernel's symbols from a recorded /proc below DIR", 0 },
	OPTION_HELP,
	{ 0 }
};
static const struct argp profile_argp = {
	.options = profile_options,
	.parser = parse_profile,
	.args_doc = "-- COMMAND [WORD]...",
	.doc = "Run COMMAND and tell what it and everything that it starts took: time, page "
	       "faults, context switches, memory, page tables; and in which functions the kernel "
	       "spent its time: address, symbol, ticks, ticks per byte. Without permission to "
	       "sample, all but the last, with the reason and the remedy.\v"
	       "The command's input, output, signals and exit status are its own: 127 it is not "
	       "found, 126 it cannot be executed, a signal that ended it ends pagetoll, too.\n\n"
	       "  pagetoll profile --label before -- ./job\n"
	       "  pagetoll profile --label after -- ./job\n"
	       "  pagetoll compare before after",
};
const struct verb verb_profile = {
	.name = "profile",
	.summary = "Tell where a command's time goes, in the kernel by function",
	.operand = OPERAND_COMMAND,
	.argp = &profile_argp,
	.run = run_profile,
};
