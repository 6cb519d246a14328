// SPDX-License-Identifier: MIT
/*
 * What must be put back, on every way out. The journal is written and synced before the first
 * change and locked as long as its owner lives: a journal that can be locked by another belongs to
 * a process that died.
 *
 *   pagetoll-settings 1
 *   boot BOOT_ID
 *   was NAME VALUE
 *   wrote NAME VALUE
 *
 * Only names of the registry and values that they accept are taken from it. Sources: flock(2),
 * signal-safety(7).
 */
#include "host/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "pagetoll-settings 1";
static const char boot_path[] = "proc/sys/kernel/random/boot_id";

enum { JOURNAL_BYTES = 8192 };

/* --- the file ----------------------------------------------------------------------------------
 */

/*
 * Opens and locks. -EBUSY: its owner lives. The name may have gone, or stand for another file, by
 * the time the lock is had: then once more.
 */
static int open_locked(const char *path, int flags, int lock, int *ret_fd)
{
	for (int i = 0; i < 100; i++) {
		/* Whoever measures here may know what is changed. */
		int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0644);
		struct stat here, there;

		if (fd < 0)
			return -errno;
		if (flock(fd, lock | LOCK_NB) < 0) {
			int code = errno == EWOULDBLOCK ? EBUSY : errno;

			close(fd);
			return -code;
		}
		if (fstat(fd, &here) == 0 && stat(path, &there) == 0 &&
		    here.st_ino == there.st_ino && here.st_dev == there.st_dev) {
			*ret_fd = fd;
			return 0;
		}
		close(fd);
	}
	return -EBUSY;
}

static void add_boot(const struct sysroot *sr, struct str *out)
{
	char boot[80];

	if (sysroot_read_line(sr, boot_path, boot, sizeof(boot), NULL) == 0)
		str_addf(out, "boot %s\n", boot);
}

/*
 * Longer by what is appended only, so that a torn write never harms what stands there: the file is
 * never rewritten.
 */
static int append(int fd, const char *text)
{
	size_t n = strlen(text);

	if (lseek(fd, 0, SEEK_END) < 0)
		return -errno;
	while (n) {
		ssize_t k = write(fd, text, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? -errno : -EIO;
		text += k;
		n -= (size_t)k;
	}
	return fdatasync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

static int begin(struct settings *s, struct err *e)
{
	struct str text = { 0 };
	struct stat st;
	int rc;

	if (s->lock_fd >= 0)
		return 0;
	rc = open_locked(s->journal, O_RDWR | O_CREAT, LOCK_EX, &s->lock_fd);
	if (rc == -EBUSY)
		return err_set(e, EBUSY,
			       "another pagetoll has system settings changed at the moment (%s); "
			       "wait until it has ended",
			       s->journal);
	if (rc < 0)
		return err_set(e, -rc,
			       "cannot note what must be restored in %s: %s; nothing was changed",
			       s->journal, strerror(-rc));
	if (fstat(s->lock_fd, &st) == 0 && st.st_size > 0) {
		close(s->lock_fd);
		s->lock_fd = -1;
		return err_set(e, EBUSY, "%s names settings that still have to be restored",
			       s->journal);
	}
	(void)fchmod(s->lock_fd, 0644);
	str_addf(&text, "%s\n", first_line);
	add_boot(&s->sr, &text);
	rc = text.failed ? -ENOMEM : append(s->lock_fd, str_text(&text));
	str_done(&text);
	if (rc < 0)
		return err_set(e, -rc, "cannot write %s: %s; nothing was changed", s->journal,
			       strerror(-rc));
	return 0;
}

static void end(struct settings *s)
{
	if (s->lock_fd < 0)
		return;
	unlink(s->journal);
	close(s->lock_fd);
	s->lock_fd = -1;
}

/* --- changing ----------------------------------------------------------------------------------
 */

int settings_init(struct settings *s, const struct sysroot *sr, const char *journal, struct err *e)
{
	*s = (struct settings){ .sr = *sr, .journal = strdup(journal), .lock_fd = -1 };
	return s->journal ? 0 : err_set(e, ENOMEM, "out of memory");
}

void settings_done(struct settings *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->journal);
	*s = (struct settings){ .lock_fd = -1 };
}

static struct setting_change *find_change(struct settings *s, const struct setting_kind *k)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind == k)
			return &s->v[i];
	return NULL;
}

static int note(struct settings *s, const char *word, const struct setting_kind *k,
		const char *value, struct err *e)
{
	char line[SETTING_TEXT_BYTES + 64];
	int rc;

	snprintf(line, sizeof(line), "%s %s %s\n", word, k->name, value);
	rc = append(s->lock_fd, line);
	return rc < 0 ? err_set(e, -rc, "cannot write %s: %s; %s was not changed", s->journal,
				strerror(-rc), k->name)
		      : 0;
}

static int first_change(struct settings *s, const struct setting_kind *k,
			struct setting_change **ret, struct err *e)
{
	struct setting_change c = { .kind = k };
	int rc, n;

	if (s->n == SETTINGS_MAX_CHANGED)
		return err_set(e, EINVAL, "more than %d settings changed", SETTINGS_MAX_CHANGED);
	n = snprintf(c.full_path, sizeof(c.full_path), "%s/%s", s->sr.is_live ? "" : s->sr.dir,
		     k->path);
	if (n < 0 || (size_t)n >= sizeof(c.full_path))
		return err_set(e, ENAMETOOLONG, "%s/%s: the path is too long", s->sr.dir, k->path);
	rc = setting_read(&s->sr, k, c.before, e);
	/* Before the journal, so that a refusal leaves no trace. */
	if (rc == 0)
		rc = setting_may_write(&s->sr, k, e);
	if (rc == 0)
		rc = begin(s, e);
	if (rc == 0)
		rc = note(s, "was", k, c.before, e);
	if (rc < 0)
		return rc;
	s->v[s->n] = c;
	*ret = &s->v[s->n++];
	return 0;
}

static bool was_written(const struct setting_change *c, const char *value)
{
	for (size_t i = 0; i < c->n_written; i++)
		if (strcmp(c->written[i], value) == 0)
			return true;
	return false;
}

int settings_set(struct settings *s, const struct setting_kind *k, const char *value, struct err *e)
{
	struct setting_change *c = find_change(s, k);
	int rc = 0;

	if (!c)
		rc = first_change(s, k, &c, e);
	if (rc < 0)
		return rc;
	if (!was_written(c, value)) {
		if (c->n_written == sizeof(c->written) / sizeof(c->written[0]))
			return err_set(e, EINVAL, "%s: more than %d values in one experiment",
				       k->name, SETTINGS_MAX_VALUES);
		rc = note(s, "wrote", k, value, e);
		if (rc < 0)
			return rc;
		snprintf(c->written[c->n_written++], SETTING_TEXT_BYTES, "%s", value);
	}
	return setting_write(&s->sr, k, value, e);
}

int settings_put_back(struct settings *s, const struct setting_kind *k, struct err *e)
{
	const struct setting_change *c = find_change(s, k);

	return c ? setting_write(&s->sr, k, c->before, e) : 0;
}

int settings_restore(struct settings *s, struct err *e)
{
	int first = 0;

	for (size_t i = s->n; i-- > 0;) {
		const struct setting_change *c = &s->v[i];
		char now[SETTING_TEXT_BYTES];
		struct err why = { 0 };
		int rc = setting_read(&s->sr, c->kind, now, &why);

		if (rc == 0 && strcmp(now, c->before) != 0)
			rc = setting_write(&s->sr, c->kind, c->before, &why);
		if (rc < 0 && first == 0)
			first = err_set(e, -rc, "%s is not restored: %s; as root: echo %s > %s",
					c->kind->name, why.msg, c->before, c->full_path);
	}
	if (first < 0)
		return first;
	s->n = 0;
	end(s);
	return 0;
}

void settings_restore_now(const struct settings *s)
{
	bool all = true;

	for (size_t i = s->n; i-- > 0;) {
		size_t n = strlen(s->v[i].before);
		int fd = open(s->v[i].full_path, O_WRONLY | O_CLOEXEC);

		all = all && fd >= 0 && write(fd, s->v[i].before, n) == (ssize_t)n;
		if (fd >= 0)
			close(fd);
	}
	if (all && s->lock_fd >= 0)
		unlink(s->journal);
}

/* --- after a kill ------------------------------------------------------------------------------
 */

/* Appends the words of a "was" or "wrote" line; anything that is not ours is passed over. */
static void take_line(struct settings *s, char *line)
{
	char *rest = line, *word = strsep(&rest, " "), *name = strsep(&rest, " ");
	const struct setting_kind *k = name ? setting_find(name) : NULL;
	struct setting_change *c;
	char value[SETTING_TEXT_BYTES];

	if (!k || !rest || setting_parse(k, rest, value, NULL) < 0)
		return;
	c = find_change(s, k);
	if (strcmp(word, "was") == 0 && !c && s->n < SETTINGS_MAX_CHANGED) {
		s->v[s->n] = (struct setting_change){ .kind = k };
		memcpy(s->v[s->n++].before, value, sizeof(value));
	} else if (strcmp(word, "wrote") == 0 && c && c->n_written < SETTINGS_MAX_VALUES) {
		memcpy(c->written[c->n_written++], value, sizeof(value));
	}
}

/* Reads the journal into @s. False: nothing to do (no journal of ours, or of another boot). */
static bool read_journal(struct settings *s, char *text)
{
	char *rest = text, *line = strsep(&rest, "\n"), boot[80] = "";

	if (strcmp(line, first_line) != 0)
		return false;
	sysroot_read_line(&s->sr, boot_path, boot, sizeof(boot), NULL);
	while (rest && *rest && (line = strsep(&rest, "\n")) != NULL) {
		if (!rest)
			break; /* torn: what it was to announce was not done yet */
		if (strncmp(line, "boot ", 5) == 0 && strcmp(line + 5, boot) != 0)
			return false;
		take_line(s, line);
	}
	return s->n > 0;
}

static int recover_one(const struct settings *s, const struct setting_change *c, struct str *said,
		       struct err *e)
{
	char now[SETTING_TEXT_BYTES];
	int rc = setting_read(&s->sr, c->kind, now, e);

	if (rc < 0)
		return rc;
	if (strcmp(now, c->before) == 0) {
		str_addf(said, "%s%s is %s, as it was before an experiment that was killed",
			 said->len ? "; " : "", c->kind->name, now);
		return 0;
	}
	if (!was_written(c, now)) {
		str_addf(said,
			 "%s%s was %s before an experiment that was killed; since then somebody "
			 "has set it to %s, which stays",
			 said->len ? "; " : "", c->kind->name, c->before, now);
		return 0;
	}
	rc = setting_write(&s->sr, c->kind, c->before, e);
	if (rc < 0)
		return rc;
	str_addf(said, "%s%s is restored from %s to %s, which an experiment that was killed left",
		 said->len ? "; " : "", c->kind->name, now, c->before);
	return 0;
}

static int recover_all(struct settings *s, struct str *said, struct err *e)
{
	int first = 0;

	for (size_t i = s->n; i-- > 0;) {
		const struct setting_change *c = &s->v[i];
		struct err why = { 0 };
		int rc = recover_one(s, c, said, &why);

		if (rc < 0 && first == 0)
			first = err_set(e, -rc,
					"an experiment that was killed left %s changed, and it "
					"cannot be restored: %s; as root: echo %s > %s/%s",
					c->kind->name, why.msg, c->before,
					s->sr.is_live ? "" : s->sr.dir, c->kind->path);
	}
	return first;
}

static int cannot_open(const char *journal, int rc, struct err *e)
{
	return err_set(e, -rc,
		       "%s, which names system settings to restore, cannot be opened: %s; as root, "
		       "'pagetoll doctor' names them",
		       journal, strerror(-rc));
}

/* Nor is there one for who may not even look into the folder. */
static bool is_absent(const char *journal, int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || (rc < 0 && access(journal, F_OK) < 0);
}

static int read_text(int fd, const char *journal, char text[JOURNAL_BYTES + 1], struct err *e)
{
	ssize_t n = read(fd, text, JOURNAL_BYTES);

	if (n < 0)
		return err_set(e, errno, "%s: %s", journal, strerror(errno));
	text[n] = '\0';
	return 0;
}

int settings_left(const struct sysroot *sr, const char *journal,
		  struct setting_left ret[SETTINGS_MAX_CHANGED], size_t *ret_n, bool *ret_busy,
		  struct err *e)
{
	struct settings s = { .sr = *sr, .lock_fd = -1 };
	char text[JOURNAL_BYTES + 1];
	int rc = open_locked(journal, O_RDONLY, LOCK_SH, &s.lock_fd);

	*ret_n = 0;
	*ret_busy = rc == -EBUSY;
	if (is_absent(journal, rc) || rc == -EBUSY)
		return 0;
	if (rc < 0)
		return cannot_open(journal, rc, e);
	rc = read_text(s.lock_fd, journal, text, e);
	if (rc < 0 || !read_journal(&s, text))
		s.n = 0;
	for (size_t i = 0; i < s.n; i++) {
		struct setting_left left = { .kind = s.v[i].kind };

		memcpy(left.before, s.v[i].before, sizeof(left.before));
		if (setting_read(sr, left.kind, left.now, NULL) == 0 &&
		    strcmp(left.now, left.before) != 0 && was_written(&s.v[i], left.now))
			ret[(*ret_n)++] = left;
	}
	close(s.lock_fd);
	return rc;
}

/* For who may read the journal and not change what it tells of. */
static int refuse_recovery(const struct sysroot *sr, const char *journal, int rc, struct err *e)
{
	struct setting_left left[SETTINGS_MAX_CHANGED];
	bool busy = false;
	size_t n = 0;

	if (settings_left(sr, journal, left, &n, &busy, e) < 0)
		return -e->code;
	if (n == 0)
		return 0;
	return err_set(e, -rc,
		       "an experiment that was killed left %s at %s, which was %s%s; only root can "
		       "restore that: 'sudo pagetoll run' does, or: echo %s > %s/%s",
		       left[0].kind->name, left[0].now, left[0].before,
		       n > 1 ? " (and other settings: 'pagetoll doctor' names them)" : "",
		       left[0].before, sr->is_live ? "" : sr->dir, left[0].kind->path);
}

int settings_recover(const struct sysroot *sr, const char *journal, struct str *said,
		     bool *ret_busy, struct err *e)
{
	struct settings s = { .sr = *sr, .lock_fd = -1 };
	char text[JOURNAL_BYTES + 1];
	int rc = open_locked(journal, O_RDWR, LOCK_EX, &s.lock_fd);

	*ret_busy = rc == -EBUSY;
	if (is_absent(journal, rc) || rc == -EBUSY)
		return 0;
	if (rc == -EACCES || rc == -EROFS)
		return refuse_recovery(sr, journal, rc, e);
	if (rc < 0)
		return cannot_open(journal, rc, e);
	rc = read_text(s.lock_fd, journal, text, e);
	if (rc == 0)
		rc = read_journal(&s, text) ? recover_all(&s, said, e) : 0;
	if (rc == 0)
		unlink(journal);
	close(s.lock_fd);
	return rc;
}
