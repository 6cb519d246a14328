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

#include "host/settings.h"
#include "store/library.h"

char *cli_settings_journal(struct err *e)
{
	char *dir = library_dir(e), *path = NULL, *slash = dir ? strrchr(dir, '/') : NULL;

	if (!dir)
		return NULL;
	/* DATA/runs and DATA/settings.journal */
	if (slash)
		*slash = '\0';
	if (asprintf(&path, "%s/settings.journal", slash ? dir : ".") < 0) {
		path = NULL;
		err_set(e, ENOMEM, "out of memory");
	}
	free(dir);
	return path;
}

char *cli_settings_journal_made(struct err *e)
{
	char *run = NULL;
	int rc = library_new_path("none", &run, e); /* makes the folders, no file */

	free(run);
	return rc < 0 ? NULL : cli_settings_journal(e);
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
