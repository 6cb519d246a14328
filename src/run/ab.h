/* SPDX-License-Identifier: MIT */
/*
 * Two arms, A and B, interleaved: what differs between them, the plan of both, the order of fresh
 * processes, and running it. Comparing the outcome is compare/'s business.
 *
 * An experiment of mode AB or AA has blocks: in each, for every pair of settings in random order,
 * four processes in the order ABBA or BAAB (drawn anew each time), so that drift hits both arms
 * alike. In mode BOOTS the arms are kernels: a block is one boot, and only the arm that runs now.
 * How many blocks there are is fixed before the first, never by looking at results. The order is a
 * function of seed and block: a continued experiment goes on as if it had never ended.
 */
#ifndef PAGETOLL_RUN_AB_H
#define PAGETOLL_RUN_AB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/settings.h"
#include "run/execute.h"
#include "run/run.h"

enum { AB_PER_BLOCK = 2 /* processes of one arm, setting and block */, AB_PER_BOOT = 4 };
enum { AB_BOOTS = 6 /* an arm: fewer give no interval */ };

enum ab_mode { AB_MODE_AB, AB_MODE_AA, AB_MODE_BOOTS };
const char *ab_mode_name(enum ab_mode m); /* "ab", "aa", "boots" */
int ab_mode_parse(const char *s, enum ab_mode *ret);

/* --- arms (ab_words.c) ------------------------------------------------------------------------ */

struct ab_setting {
	const struct setting_kind *kind;
	const char *value; /* canonical */
};

/* What one arm changes. All from the arena given. */
struct ab_arm {
	struct assignment *params; /* parameters of benchmarks */
	size_t n_params, cap_params;
	const char **env; /* "NAME=VALUE", NULL-terminated; NULL: none */
	size_t n_env, cap_env;
	struct ab_setting *settings;
	size_t n_settings, cap_settings;
	const char *text;  /* the words, joined by blanks: "page=thp", "(nothing)" */
	const char *pages; /* words of ab_arms_take_pages(), which @text has too; NULL: none */
};

/*
 * From the arguments of -A or -B. Each is a word NAME=VALUE, or several with blanks between them; a
 * name in capitals is an environment variable, whose value takes the rest of its argument with all
 * blanks. -EINVAL (form, a name twice, a list of values), -ERANGE, -ENOMEM.
 */
int ab_arm_parse(struct arena *a, char *const *args, size_t n, struct ab_arm *ret, struct err *e);
/* -EINVAL if the arms are alike, or if only one of them sets a system setting. */
int ab_arms_check(const struct ab_arm arms[2], struct err *e);
/*
 * The common request with an arm's parameters over it, in whatever place the common words set them.
 */
int ab_request(struct arena *a, const struct request *common, const struct ab_arm *arm,
	       struct request *ret, struct err *e);
/* Words joined by blanks so that ab_split() gives them back; NULL: no memory. */
const char *ab_join(struct arena *a, char *const *words, size_t n);
int ab_split(struct arena *a, const char *text, char ***ret_words, size_t *ret_n, struct err *e);

/* --- plan (ab_plan.c) ------------------------------------------------------------------------- */

struct ab_pair {
	struct planned *p[2];    /* of the arms' plans; both with the same grid */
	const char *skip_reason; /* NULL: runs */
};

struct ab_plan {
	enum ab_mode mode;
	struct plan plans[2];  /* owned; in the modes AA and BOOTS the second is empty */
	struct ab_pair *pairs; /* memory of plans[0].arena */
	size_t n_pairs;
	unsigned blocks;
	uint64_t seed;
	double budget_seconds; /* 0: none */
};

/* An even number of processes an arm: half as many again as `run` takes at least. */
unsigned ab_blocks(const struct preset *p, unsigned invocations);
/*
 * page=auto becomes a page size while a plan is made, and under thp=always another one than under
 * thp=never. Where the arms set the system, such sizes become parameters of theirs, in their text
 * too. -EINVAL: no one size for each arm; -ENOMEM.
 */
int ab_arms_take_pages(struct arena *arena, const struct plan *a, const struct plan *b,
		       struct ab_arm arms[2], struct err *e);
/*
 * Pairs the settings of two plans and takes them over (also on failure). @b NULL in the modes AA
 * and BOOTS. Automatic grids are cut to what both have. -EINVAL: the plans do not pair.
 */
int ab_plan_make(enum ab_mode mode, struct plan *a, struct plan *b, const struct ab_arm arms[2],
		 unsigned blocks, struct ab_plan *ret, struct err *e);
void ab_plan_done(struct ab_plan *p);
/* Expected seconds of one block. */
double ab_block_seconds(const struct ab_plan *p);

struct ab_step {
	size_t pair;
	unsigned arm; /* 0: A, 1: B */
	unsigned invocation;
};
/* Steps of one block; the same for the same seed. */
size_t ab_steps_per_block(const struct ab_plan *p);
/* -ENOMEM. @steps has room for ab_steps_per_block(). @arm: of the boot, in mode BOOTS. */
int ab_block_order(const struct ab_plan *p, unsigned block, unsigned arm, struct ab_step *steps);

/* Writes what continuing needs into the context of the header, and reads it back. */
struct ab_memory {
	enum ab_mode mode;
	const char *words, *a, *b; /* ab_join()ed */
	unsigned blocks;
	uint64_t seed;
	double budget_seconds;
};
int ab_remember(struct run *r, const struct ab_plan *p, const struct ab_memory *m, struct err *e);
/* -EINVAL: the run is no experiment of `ab`. */
int ab_recall(const struct run *r, struct ab_memory *ret, struct err *e);
/* Gives the pairs the grids that the run began with. -EINVAL when the plans do not match. */
int ab_recall_grids(const struct run *r, struct ab_plan *p, struct err *e);

/* --- running (ab.c) --------------------------------------------------------------------------- */

struct ab_job {
	struct ab_plan *plan;
	const struct ab_arm *arms; /* two */
	struct settings *settings; /* NULL: no arm has one */
	struct run *run;           /* may hold measures of before: those steps are not repeated */
	struct runfile *file;      /* NULL: in memory only */
	const char *boot_id;       /* of now, NULL: as the header's */
	/*
	 * Of the arms now, without arm and boot, as long as the run; NULL: the header's. In mode
	 * BOOTS the first is the only one: the arm is that of the kernel.
	 */
	const struct environment *environments[2];
	const char *kernel; /* in mode BOOTS: which runs; the run tells which arm that is */
	const struct run_hooks *hooks;
	const volatile sig_atomic_t *stop;
	struct execute_limits limits;
};

/* Patience for real runs. */
extern const struct execute_limits ab_limits;

/*
 * Runs what is still to do. Fills complete, stop_reason and end_unix_ns of the run, writes no
 * footer. System settings are changed by this function and left changed: settings_restore() is the
 * caller's. Errors as run_execute().
 */
int ab_execute(const struct ab_job *j, struct err *e);

/* Brings the system settings of an arm into force; nothing to do without any. */
int ab_enter_arm(struct settings *s, const struct ab_arm *arm, struct err *e);

/* --- boots (ab_boots.c) ----------------------------------------------------------------------- */

/* "6.1.0-13-amd64 #1 SMP ...": what tells two kernels apart; from @sr. malloc()ed, NULL: unknown.
 */
char *ab_kernel_now(const struct sysroot *sr);

/* What the boots so far were. */
struct ab_boots {
	const char *kernels[2]; /* NULL: not seen yet; borrowed from the run */
	unsigned n[2];          /* boots of each arm with a whole block */
	unsigned block;         /* of the boot now: its own, if it has measures, else the next */
};
/*
 * Looks through the run for boots; @kernel and @boot_id are of now. *ret_arm: which arm the kernel
 * is. -EINVAL: a third kernel; -EALREADY: this boot's block is whole.
 */
int ab_boots_look(const struct run *r, const struct ab_plan *p, const char *kernel,
		  const char *boot_id, struct ab_boots *ret, unsigned *ret_arm, struct err *e);

/* Whether all inner points of a step are in @r; the missing ones in @missing (may be NULL). */
int ab_step_missing(const struct run *r, const struct ab_plan *p, const struct ab_step *s,
		    struct u64_array *missing, bool *ret_whole);

#endif
