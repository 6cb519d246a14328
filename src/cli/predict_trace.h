/* SPDX-License-Identifier: MIT */
/* `pagetoll predict --trace`: files of traces through the simulation. */
#ifndef PAGETOLL_CLI_PREDICT_TRACE_H
#define PAGETOLL_CLI_PREDICT_TRACE_H

#include "cli/predict_setup.h"
#include "cli/take.h"
#include "predict/trace.h"

enum {
	KEY_TRACE = KEY_VERB + 0x60,
	KEY_TRACE_FORMAT,
	KEY_TRACE_THREADS,
	KEY_TRACE_REFERENCES,
	KEY_TRACE_WARM,
	KEY_TRACE_INSTRUCTIONS,
};
/* Rows for the option table. */
#define OPTIONS_TRACE                                                                                   \
	{ "trace",                                                                                      \
	  KEY_TRACE,                                                                                    \
	  "FILE",                                                                                       \
	  0,                                                                                            \
	  "Predict the references of a traced program, '-': from standard input; further files "        \
	  "are further threads",                                                                        \
	  0 },                                                                                          \
		{ "trace-format",                                                                       \
		  KEY_TRACE_FORMAT,                                                                     \
		  "auto|lackey|champsim|cloudsuite|drmemtrace",                                         \
		  0,                                                                                    \
		  "What the trace is (default: auto, told by its first bytes)",                         \
		  0 },                                                                                  \
		{ "threads",                                                                            \
		  KEY_TRACE_THREADS,                                                                    \
		  "spread|compact",                                                                     \
		  0,                                                                                    \
		  "Threads of a trace on one node after the other (default), or all on node 0",         \
		  0 },                                                                                  \
		{ "references",                                                                         \
		  KEY_TRACE_REFERENCES,                                                                 \
		  "N",                                                                                  \
		  0,                                                                                    \
		  "Stop a trace after N references that count",                                         \
		  0 },                                                                                  \
		{ "warm",                                                                               \
		  KEY_TRACE_WARM,                                                                       \
		  "N",                                                                                  \
		  0,                                                                                    \
		  "The first N references of a trace fill caches and TLBs, and do not count",           \
		  0 },                                                                                  \
	{                                                                                               \
		"instructions", KEY_TRACE_INSTRUCTIONS, NULL, 0,                                        \
			"Instruction fetches are references, too, through the same TLBs and caches as " \
			"data",                                                                         \
			0                                                                               \
	}

enum { TRACE_FILES_MAX = 256 };
struct trace_args {
	const char *files[TRACE_FILES_MAX]; /* borrowed from the command line */
	size_t n_files;
	enum trace_format format;
	struct replay_options options;
	const char *given; /* an option that needs --trace; NULL: none */
};
/* Whether @key is one of them; then it is taken. A bad value ends the program. */
bool take_trace(struct trace_args *a, const struct common *c, int key, const char *arg);
/* With --trace, words that are no NAME=VALUE are files; they leave @c. */
void take_trace_files(struct trace_args *a, struct common *c);

struct trace_request {
	const struct common *common;
	const struct how *how;
	const struct trace_args *trace;
	const struct sim_machine *machine;
	char *const *what_ifs;
	size_t n_what_ifs;
	struct run *run; /* empty */
	uint64_t seed;
};
/* Reads, simulates, saves, prints. Returns the exit status. */
int predict_trace(const struct trace_request *q, int argc, char **argv);

/* --- predict_trace_settings.c --- */

/* One setting that is simulated, or why it is not. */
struct trace_variant {
	char name[80];       /* of the change: "page=2m", "what if"; "" for the first one */
	const char *why_not; /* NULL: it is simulated, as number `index` */
	const char *arm;
	size_t index;
	struct attrs setting; /* in the arena of `before` */
	struct replay_setting replay;
};
enum { TRACE_VARIANTS_MAX = 5 };
struct trace_variants {
	struct predict_side before, after; /* their machines, and their words */
	struct trace_variant v[TRACE_VARIANTS_MAX];
	size_t n;
};
/*
 * The setting of the words, that of --what-if, and what huge pages, replicated tables and another
 * number of levels would change. -EINVAL, -ENOMEM. trace_variants_done() in any case.
 */
int trace_variants_init(struct trace_variants *t, const struct trace_request *q, struct err *e);
void trace_variants_done(struct trace_variants *t);

/* --- predict_trace_print.c --- */

struct trace_view {
	const struct trace_request *request;
	const struct trace_variants *variants;
	struct replay *replay;
	enum trace_format format; /* TRACE_AUTO: files of several formats */
	uint64_t prefetches;
	const char *incomplete; /* NULL: whole */
	bool limited;           /* by --references */
};
void predict_trace_print(struct str *out, const struct trace_view *v);

#endif
