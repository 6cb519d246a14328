/* SPDX-License-Identifier: MIT */
/*
 * The command line: what every verb shares. A verb is one file cmd_VERB.c with one exported
 * `const struct verb`, and one row in the table of main.c; its options are an argp table from which
 * help and completion are generated as well. The command line decides nothing of its own: it
 * parses, calls and prints.
 */
#ifndef PAGETOLL_CLI_CLI_H
#define PAGETOLL_CLI_CLI_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "host/machine.h"
#include "host/sysroot.h"
#include "report/report.h"

/* Stable: scripts and `git bisect run` rely on them. */
enum exit_code {
	CLI_DONE = 0,
	CLI_CHECK_FAILED = 1,   /* a self-check failed, or B is worse (--fail-on) */
	CLI_NOT_MEASURED = 125, /* nothing could be measured or compared, nothing ran, no verdict */
	CLI_FATAL = 128,
	CLI_USAGE = 129,
};

/* What a verb's operands are, for completion. */
enum operand {
	OPERAND_NONE,
	OPERAND_WORDS, /* [NAME=VALUE]... [TARGET [NAME=VALUE]...]... */
	OPERAND_BENCH,
	OPERAND_RUN,
	OPERAND_RUNS,    /* one or more of them */
	OPERAND_COMMAND, /* of another program, with its words */
	OPERAND_SHELL,
	OPERAND_VERB,
};

struct verb {
	const char *name;
	const char *summary; /* one line, no full stop */
	enum operand operand;
	/* Options, args_doc, doc. An option's `arg` says what completes it: "a|b|c" a choice,
	 * "FILE" a file, "DIR" a folder, "NAME=..." a parameter and its values, "BENCH", "MACHINE"
	 * and "RUN" one of them. */
	const struct argp *argp;
	/* @argv[0] is the verb. Returns the exit status. */
	int (*run)(const struct verb *v, int argc, char **argv);
};

/* All verbs in the order of help, ended by NULL; in main.c. */
extern const struct verb *const verb_table[];
const struct verb *verb_find(const char *name);

/* --- options --- */

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };
enum colour_mode { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Keys of options that have no letter; verbs number their own from KEY_VERB. */
enum { KEY_FORMAT = 0x100, KEY_COLOR, KEY_SYSROOT, KEY_VERB = 0x140 };

/* Rows for the option tables. */
#define OPTION_FORMAT                                                                             \
	{                                                                                         \
		"format", KEY_FORMAT, "text|csv|json", 0, "Form of the result (default: text)", 0 \
	}
#define OPTION_COLOR                                                                      \
	{                                                                                 \
		"color", KEY_COLOR, "auto|always|never", 0,                               \
			"Colours in text; auto: on a terminal, unless NO_COLOR is set", 0 \
	}
#define OPTION_SYSROOT                                                                 \
	{                                                                              \
		"sysroot", KEY_SYSROOT, "DIR", 0,                                      \
			"Read the machine from a recorded /proc and /sys below DIR", 0 \
	}
#define OPTION_HELP                                                  \
	{                                                            \
		"help", 'h', NULL, 0, "Print this help and exit", -1 \
	}

/* First member of every verb's parsed command line. */
struct common {
	const struct verb *verb;
	enum format format;
	bool json_errors; /* --format json was asked for: errors are documents too */
	enum colour_mode colour;
	const char *sysroot; /* NULL: this machine */
	char **words;        /* operands; live until the program ends */
	size_t n_words;
};

/*
 * Parses a verb's command line into @input, whose first member is a `struct common`. Usage errors
 * end the program with status 129; --help prints and ends it with 0. Long options must be spelled
 * out. The verb's own argp parser handles its keys and leaves the rest to common_option().
 */
void cli_parse(const struct verb *v, int argc, char **argv, void *input);
error_t common_option(int key, char *arg, struct argp_state *state);
/* Index of @arg in a "a|b|c" list; a usage error (with near names) ends the program. */
size_t cli_choice(const struct common *c, const char *option, const char *choices, const char *arg);
/* -1 unless exactly @n operands were given; a usage error naming @what ends the program. */
void cli_need_words(const struct common *c, size_t n, const char *what);

/* Prints a verb's help; returns the exit status. */
int cli_help(const struct verb *v);

/* --- output --- */

/* Makes descriptors 0 to 2 exist and broken pipes an error instead of a signal. */
void cli_streams_init(void);
/* Writes all of @text to stdout; 0, or CLI_FATAL with a message (none for a broken pipe). */
int cli_print(const char *text, size_t n);
int cli_print_str(struct str *s); /* the same; also ends the string */
int cli_print_json(json_t *doc);  /* the same; also releases the document */
/*
 * A file that becomes visible under its name when it is closed, whole, instead of the old one; what
 * is no regular file, a link for instance, is written to in place.
 */
struct cli_file {
	const char *path; /* borrowed */
	char *partial;    /* NULL: written in place */
	int fd;
};
/* 0 or negative errno; then there is nothing to close. */
int cli_file_open(struct cli_file *f, const char *path);
int cli_file_write(const struct cli_file *f, const char *text, size_t n); /* 0 or negative errno */
int cli_file_close(struct cli_file *f, bool keep); /* the same; without @keep the old one stays */
/* @s as the file @path, whole or not at all; CLI_DONE or the exit status after a message. */
int cli_write_file(const struct common *c, const char *path, const struct str *s);

/* "pagetoll VERB: text" on stderr, without control characters. */
void cli_warn(const struct common *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The same as an error; if JSON was asked for, stdout gets an object with the error. Returns @code.
 */
int cli_fail(const struct common *c, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A usage error: message, where help is, exit 129. */
void cli_usage(const struct common *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* JSON text of any bytes: invalid UTF-8 is replaced. NULL only without memory. */
json_t *cli_json_text(const char *s);
/* null for NULL. */
json_t *cli_json_text_or_null(const char *s);

/* Appends @text wrapped at 80 columns; lines after the first start at @indent. Paragraphs stay. */
void cli_wrap(struct str *out, const char *text, size_t indent);
/* The same for a text whose first line starts at column @start. */
void cli_wrap_at(struct str *out, const char *text, size_t start, size_t indent);

/*
 * Appends "; did you mean 'X'?" for the nearest of @names (NULL-terminated), if one is near;
 * @prefix stands before X.
 */
void cli_did_you_mean(struct str *out, const char *prefix, const char *word,
		      const char *const *names);

struct report_options cli_report_options(const struct common *c);
bool cli_is_utf8(void);

/* The version with its build facts, as in the header of a run. */
const char *cli_version(void);
int cli_print_version(void);

/* --- the machine --- */

/* Opens @c's sysroot and reads the machine; CLI_DONE or the exit status after a message. */
int cli_machine(const struct common *c, struct sysroot *ret_sr, struct machine *ret_m);

#endif
