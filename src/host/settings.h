/* SPDX-License-Identifier: MIT */
/*
 * Settings of the running kernel that an experiment may change: which there are, what they accept,
 * how to write one and see that it holds, and how all of them come back. Nothing else in pagetoll
 * changes a machine.
 *
 * A changed setting is in a journal before it is changed: a file that names the setting, its value
 * before, and what was written. Who finds a journal whose owner has died puts the values back.
 */
#ifndef PAGETOLL_HOST_SETTINGS_H
#define PAGETOLL_HOST_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "host/sysroot.h"

enum setting_form {
	SETTING_CHOICE, /* "always [madvise] never" */
	SETTING_NUMBER,
	SETTING_SIZE, /* bytes, a power of two */
};

struct setting_kind {
	const char *name; /* as on the command line: "thp" */
	const char *path; /* below the sysroot */
	const char *summary;
	enum setting_form form;
	const char *const *choices; /* NULL-terminated, of CHOICE */
	uint64_t min, max;          /* of NUMBER and SIZE, inclusive */
	const char *absent;         /* what to do where the file is not there */
};
extern const struct setting_kind setting_kinds[]; /* ended by name NULL */

enum { SETTING_TEXT_BYTES = 64, SETTINGS_MAX_CHANGED = 8, SETTINGS_MAX_VALUES = 16 };

/* NULL when there is none of that exact name. */
const struct setting_kind *setting_find(const char *name);
/*
 * The canonical text (what is written to the kernel) of a value as typed. -EINVAL or -ERANGE with
 * what is accepted.
 */
int setting_parse(const struct setting_kind *k, const char *text, char ret[SETTING_TEXT_BYTES],
		  struct err *e);
/* The value now, in canonical form. -ENOENT with the remedy where the kernel has no such file. */
int setting_read(const struct sysroot *sr, const struct setting_kind *k,
		 char ret[SETTING_TEXT_BYTES], struct err *e);
/* Whether it can be written, without writing: as setting_write(). */
int setting_may_write(const struct sysroot *sr, const struct setting_kind *k, struct err *e);
/*
 * Writes a canonical value and reads it back. -EACCES, -EPERM or -EROFS with the remedy; -EIO when
 * the kernel took something else.
 */
int setting_write(const struct sysroot *sr, const struct setting_kind *k, const char *value,
		  struct err *e);

struct setting_change {
	const struct setting_kind *kind;
	char before[SETTING_TEXT_BYTES];
	char written[SETTINGS_MAX_VALUES]
		    [SETTING_TEXT_BYTES]; /* all values that were, or may have been, written */
	size_t n_written;
	char full_path[256]; /* for the signal handler */
};

/* All changes of one experiment, in force until settings_restore(). */
struct settings {
	struct sysroot sr;
	char *journal; /* owned; path */
	int lock_fd;   /* the journal, locked while this process lives; -1: nothing changed yet */
	struct setting_change v[SETTINGS_MAX_CHANGED];
	size_t n;
};

/* 0 or -ENOMEM. Changes nothing and creates no file. */
int settings_init(struct settings *s, const struct sysroot *sr, const char *journal, struct err *e);
/*
 * Sets @k to the canonical @value; the first change of a setting notes its value in the journal
 * before. -EBUSY while another process has settings changed; otherwise as setting_write(). At most
 * SETTINGS_MAX_VALUES values of one setting, -EINVAL for another.
 */
int settings_set(struct settings *s, const struct setting_kind *k, const char *value,
		 struct err *e);
/* Writes the value back that @k had before; stays noted. Nothing if it was not changed. */
int settings_put_back(struct settings *s, const struct setting_kind *k, struct err *e);
/*
 * Writes all values back, the last changed first, and sees that they hold; then the journal goes. A
 * failure names what is still changed and how to put it back; the rest is restored all the same.
 */
int settings_restore(struct settings *s, struct err *e);
/* The same with nothing but calls that a signal handler may make: no verification. */
void settings_restore_now(const struct settings *s);
void settings_done(struct settings *s); /* forgets; restores nothing */

/*
 * Puts back what a killed process left changed, as @journal tells, and removes the journal. @said
 * gets one sentence for each setting (restored, or left alone because somebody has set it to a
 * third value since), nothing when there was no such journal. *ret_busy: the journal's owner is
 * alive and has settings changed now. A journal of an earlier boot is only removed. Negative errno
 * when something could not be put back (the journal stays).
 */
int settings_recover(const struct sysroot *sr, const char *journal, struct str *said,
		     bool *ret_busy, struct err *e);

/* A setting that a killed process left changed. */
struct setting_left {
	const struct setting_kind *kind;
	char now[SETTING_TEXT_BYTES], before[SETTING_TEXT_BYTES];
};
/*
 * The same looked at, with nothing written and no right but that of reading: the settings that
 * still have a value which a killed process gave them. *ret_busy as above. -EACCES when the journal
 * cannot be read.
 */
int settings_left(const struct sysroot *sr, const char *journal,
		  struct setting_left ret[SETTINGS_MAX_CHANGED], size_t *ret_n, bool *ret_busy,
		  struct err *e);

#endif
