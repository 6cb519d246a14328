// SPDX-License-Identifier: MIT
/*
 * At the start of what measures: kernel settings that an experiment changed and, killed, could not
 * put back (host/settings.h has the journal).
 */
#include "cli/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/settings.h"

/* One place for the machine, whatever library its users keep: the settings are the machine's. */
static const char *journal_dir(void)
{
	const char *dir = getenv("PAGETOLL_RUN");

	return dir && *dir ? dir : "/run/pagetoll";
}

char *cli_settings_journal(struct err *e)
{
	char *path = NULL;

	if (asprintf(&path, "%s/settings.journal", journal_dir()) < 0) {
		err_set(e, ENOMEM, "out of memory");
		return NULL;
	}
	return path;
}

char *cli_settings_journal_made(struct err *e)
{
	const char *dir = journal_dir();

	if (mkdir(dir, 0755) < 0 && errno != EEXIST) {
		err_set(e, errno, "cannot create the folder %s: %s (%s)", dir, strerror(errno),
			geteuid() == 0 ? "PAGETOLL_RUN names another one"
				       : "system settings need root: use sudo");
		return NULL;
	}
	return cli_settings_journal(e);
}

void cli_recover_settings(const struct common *c)
{
	char *journal = cli_settings_journal(NULL);
	struct str said = { 0 };
	struct err e = { 0 };
	struct sysroot sr;
	bool busy = false;

	if (journal && sysroot_init(&sr, NULL, NULL) == 0) {
		if (settings_recover(&sr, journal, &said, &busy, &e) < 0)
			cli_warn(c, "%s", e.msg);
		if (said.len)
			cli_warn(c, "%s", str_text(&said));
		if (busy)
			cli_warn(c, "another pagetoll has system settings changed at the moment: "
				    "what is measured now is measured under them");
	}
	str_done(&said);
	free(journal);
}

static void add_left(const struct common *c, struct run *r, const struct setting_left *left)
{
	struct finding *f;

	if (!r) {
		cli_warn(
			c,
			"an experiment that was killed left %s at %s, which was %s: 'pagetoll run' "
			"and 'pagetoll ab' restore it, as root; or: echo %s > /%s",
			left->kind->name, left->now, left->before, left->before, left->kind->path);
		return;
	}
	f = run_add_finding(r);
	if (!f)
		return;
	*f = (struct finding){
		.id = "settings-left",
		.severity = SEVERITY_WARNING,
		.what = arena_printf(&r->arena,
				     "an experiment that was killed left %s at %s, which was %s",
				     left->kind->name, left->now, left->before),
		.effect = "everything is measured, and works, under a setting that nobody chose",
		.remedy = arena_printf(&r->arena,
				       "'pagetoll run' and 'pagetoll ab' restore it, as root; or: "
				       "echo %s > /%s",
				       left->before, left->kind->path),
	};
	if (!f->what || !f->remedy)
		r->n_findings--;
}

void cli_name_left_settings(const struct common *c, struct run *r)
{
	struct setting_left left[SETTINGS_MAX_CHANGED];
	char *journal = cli_settings_journal(NULL);
	struct err e = { 0 };
	struct sysroot sr;
	bool busy = false;
	size_t n = 0;

	if (journal && sysroot_init(&sr, NULL, NULL) == 0) {
		if (settings_left(&sr, journal, left, &n, &busy, &e) < 0)
			cli_warn(c, "%s", e.msg);
		for (size_t i = 0; i < n; i++)
			add_left(c, r, &left[i]);
		if (busy)
			cli_warn(c, "another pagetoll has system settings changed at the moment");
	}
	free(journal);
}
