/* SPDX-License-Identifier: MIT */
/* One experiment of `ab` from its words to the end of measuring. Used by cmd_ab.c only. */
#ifndef PAGETOLL_CLI_AB_SESSION_H
#define PAGETOLL_CLI_AB_SESSION_H

#include <signal.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/take.h"
#include "host/settings.h"
#include "record/runfile.h"
#include "run/ab.h"

enum { AB_WORDS_MAX = 64 };

struct ab_args {
	struct common common;
	struct how how; /* without a preset: default, or that of the experiment */
	unsigned invocations;
	const char *resume;
	char *words[2][AB_WORDS_MAX]; /* of -A and -B */
	size_t n_words[2];
	bool aa;
};

struct ab_session {
	const struct ab_args *args;
	int argc;
	char **argv; /* as typed */
	struct arena arena;
	struct sysroot sr;
	struct machine m; /* as it was found */
	enum ab_mode mode;
	struct ab_arm arms[2];
	struct request request; /* common words */
	struct ab_plan plan;
	struct settings settings;
	bool has_settings; /* initialised, and an arm has some */
	struct run *r;
	struct runfile *file; /* NULL: in memory only */
	char *path;           /* owned; of the file, NULL: none */
	bool is_resumed;
	/* As the arms have the machine; in mode BOOTS the first is that of now. Owned; NULL: the
	 * header's. */
	struct run *probes[2];
	struct environment environments[2];
	char *kernel;  /* owned; in mode BOOTS */
	char boot[80]; /* of now; "": unknown */
	struct progress progress;
	const volatile sig_atomic_t *stop;
};

/*
 * Each returns CLI_DONE or the exit status after a message; usage errors end the program. In this
 * order: what is meant, the plan of both arms, and measuring. ab_session_done() restores whatever
 * is still changed.
 */
int ab_session_begin(struct ab_session *s);
int ab_session_plan(struct ab_session *s);
/* *ret_measured: there is something to report also when the status is not CLI_DONE. */
int ab_session_measure(struct ab_session *s, bool *ret_measured);
int ab_session_restore(struct ab_session *s);
/* From here on signals stop the experiment, and never leave a setting changed. */
void ab_session_watch(struct ab_session *s);
void ab_session_done(struct ab_session *s);

#endif
