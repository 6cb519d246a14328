// SPDX-License-Identifier: MIT
/* A result as a file: written whole or not at all. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_stream(const struct common *c, const char *path, const struct str *s)
{
	FILE *f = fopen(path, "we");
	bool ok;

	if (!f)
		return cli_fail(c, CLI_FATAL, "cannot write %s: %s", path, strerror(errno));
	ok = fwrite(str_text(s), 1, s->len, f) == s->len && fflush(f) == 0;
	if (!ok)
		cli_fail(c, CLI_FATAL, "cannot write %s: %s", path, strerror(errno));
	if (fclose(f) && ok)
		return cli_fail(c, CLI_FATAL, "cannot write %s: %s", path, strerror(errno));
	return ok ? CLI_DONE : CLI_FATAL;
}

int cli_write_file(const struct common *c, const char *path, const struct str *s)
{
	struct stat st;
	char *partial = NULL;
	int rc;

	/* Devices and pipes cannot be replaced, only written to. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_stream(c, path, s);
	if (asprintf(&partial, "%s.part", path) < 0)
		return cli_fail(c, CLI_FATAL, "out of memory");
	rc = write_stream(c, partial, s);
	if (rc == CLI_DONE && rename(partial, path))
		rc = cli_fail(c, CLI_FATAL, "cannot write %s: %s", path, strerror(errno));
	if (rc != CLI_DONE)
		unlink(partial);
	free(partial);
	return rc;
}
