// SPDX-License-Identifier: MIT
/*
 * What every verb prints with. stdout holds the result and nothing else, and a result that could
 * not be written is an error; stderr has messages, with control characters of foreign text removed.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

enum { COLUMNS = 80 };

static void on_failed_write(int sig)
{
	(void)sig;
}

void cli_streams_init(void)
{
	/* A handler and not SIG_IGN: ignoring would be inherited by the workers. */
	struct sigaction sa = { .sa_handler = on_failed_write, .sa_flags = SA_RESTART };

	/*
	 * A closed descriptor would be given to the first file opened, and results would be
	 * written into it. A read-only stdout makes writing the result fail, as it must.
	 */
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
	}
	sigemptyset(&sa.sa_mask);
	sigaction(SIGPIPE, &sa, NULL);
	/* A file-size limit is a full disk: write() tells, and what was measured is still printed.
	 */
	sigaction(SIGXFSZ, &sa, NULL);
}

int cli_print(const char *text, size_t n)
{
	while (n) {
		ssize_t k = write(STDOUT_FILENO, text, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			if (errno != EPIPE)
				fprintf(stderr, "pagetoll: cannot write the result: %s\n",
					strerror(errno));
			return CLI_FATAL;
		}
		text += k;
		n -= (size_t)k;
	}
	return CLI_DONE;
}

int cli_print_str(struct str *s)
{
	int rc;

	if (s->failed) {
		fputs("pagetoll: out of memory\n", stderr);
		rc = CLI_FATAL;
	} else {
		rc = cli_print(str_text(s), s->len);
	}
	str_done(s);
	return rc;
}

int cli_print_json(json_t *doc)
{
	char *text = doc ? json_dumps(doc, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
	struct str s = { 0 };

	json_decref(doc);
	if (text) {
		str_add(&s, text);
		str_add(&s, "\n");
	} else {
		s.failed = true;
	}
	free(text);
	return cli_print_str(&s);
}

__attribute__((format(printf, 3, 0))) static void message(const struct common *c, const char *kind,
							  const char *fmt, va_list ap)
{
	struct str line = { 0 };
	char *raw = NULL;

	str_addf(&line, "pagetoll%s%s: %s", c && c->verb ? " " : "",
		 c && c->verb ? c->verb->name : "", kind);
	if (vasprintf(&raw, fmt, ap) >= 0)
		escape_terminal(&line, raw);
	free(raw);
	fprintf(stderr, "%s\n", str_text(&line));
	str_done(&line);
}

void cli_warn(const struct common *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(c, "warning: ", fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 0))) static void print_json_error(int code, const char *fmt,
								   va_list ap)
{
	char *raw = NULL;

	if (vasprintf(&raw, fmt, ap) < 0)
		return;
	(void)cli_print_json(json_pack("{s:{s:i,s:o}}", "error", "exit_code", code, "message",
				       cli_json_text(raw)));
	free(raw);
}

int cli_fail(const struct common *c, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(c, "", fmt, ap);
	va_end(ap);
	if (c && c->json_errors) {
		va_start(ap, fmt);
		print_json_error(code, fmt, ap);
		va_end(ap);
	}
	return code;
}

void cli_usage(const struct common *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(c, "", fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try 'pagetoll %s%s--help'.\n", c && c->verb ? c->verb->name : "",
		c && c->verb ? " " : "");
	if (c && c->json_errors) {
		va_start(ap, fmt);
		print_json_error(CLI_USAGE, fmt, ap);
		va_end(ap);
	}
	exit(CLI_USAGE);
}

json_t *cli_json_text(const char *s)
{
	json_t *j = json_string(s);
	struct str clean = { 0 };

	if (j)
		return j;
	escape_terminal(&clean, s);
	j = json_string(str_text(&clean));
	str_done(&clean);
	return j;
}

json_t *cli_json_text_or_null(const char *s)
{
	return s ? cli_json_text(s) : json_null();
}

/*
 * A line break in @text is a blank; it stays one before a blank line (paragraphs) and before a line
 * that is indented (code).
 */
static bool is_hard_break(const char *text, const char *p)
{
	return p[1] == '\n' || p[1] == ' ' || (p > text && p[-1] == '\n');
}

static void add_word(struct str *out, const char *word, size_t n, size_t indent, size_t *column,
		     bool *empty)
{
	struct str w = { 0 };
	size_t width;

	str_add_n(&w, word, n);
	width = str_columns(str_text(&w));
	if (!*empty && *column + 1 + width > COLUMNS) {
		str_addf(out, "\n%*s", (int)indent, "");
		*column = indent;
		*empty = true;
	}
	str_addf(out, "%s%s", *empty ? "" : " ", str_text(&w));
	*column += width + (*empty ? 0 : 1);
	*empty = false;
	str_done(&w);
}

void cli_wrap_at(struct str *out, const char *text, size_t start, size_t indent)
{
	const char *begin = text;
	size_t column = start;
	bool empty = true; /* no word on this line yet */

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (n)
			add_word(out, text, n, indent, &column, &empty);
		text += n;
		if (*text == '\n' && is_hard_break(begin, text)) {
			size_t blanks = text[1] == '\n' ? 0 : indent + strspn(text + 1, " ");

			str_addf(out, "\n%*s", (int)blanks, "");
			column = blanks ? blanks : indent;
			empty = true;
		}
		text += *text != '\0';
	}
	str_add(out, "\n");
}

void cli_wrap(struct str *out, const char *text, size_t indent)
{
	str_addf(out, "%*s", (int)indent, "");
	cli_wrap_at(out, text, indent, indent);
}

void cli_did_you_mean(struct str *out, const char *prefix, const char *word,
		      const char *const *names)
{
	const char *best = NULL;
	unsigned best_distance = (unsigned)strlen(word) / 3 + 1;

	for (; *names; names++) {
		unsigned d = text_distance(word, *names);

		if (d <= best_distance && d < strlen(*names)) {
			best = *names;
			best_distance = d ? d - 1 : 0;
		}
	}
	if (best)
		str_addf(out, "; did you mean '%s%s'?", prefix, best);
}

bool cli_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

static bool use_colour(const struct common *c)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (c->colour != COLOUR_AUTO)
		return c->colour == COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

struct report_options cli_report_options(const struct common *c)
{
	return (struct report_options){ .colour = use_colour(c), .utf8 = cli_is_utf8() };
}

int cli_machine(const struct common *c, struct sysroot *ret_sr, struct machine *ret_m)
{
	struct err e = { 0 };

	if (sysroot_init(ret_sr, c->sysroot, &e))
		return cli_fail(c, CLI_FATAL, "%s", e.msg);
	if (machine_read(ret_sr, ret_m, &e))
		return cli_fail(c, CLI_FATAL, "cannot read the machine: %s", e.msg);
	return CLI_DONE;
}
