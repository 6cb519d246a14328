// SPDX-License-Identifier: MIT
#include "cli/machine_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MACHINE_BYTES_MAX = 1 << 20 };

static int read_file(const char *path, struct str *text, struct err *e)
{
	FILE *f = fopen(path, "re");
	char chunk[4096];
	size_t n;

	if (!f)
		return err_set(e, errno, "%s: %s", path, strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0 && text->len <= MACHINE_BYTES_MAX)
		str_add_n(text, chunk, n);
	if (ferror(f))
		err_set(e, EIO, "%s: cannot be read", path);
	else if (text->len > MACHINE_BYTES_MAX)
		err_set(e, EFBIG, "%s: larger than 1 MiB: no machine", path);
	fclose(f);
	return e->code ? -e->code : 0;
}

static void unknown_machine(const struct common *c, const char *name)
{
	const char *names[64] = { 0 };
	struct str hint = { 0 }, all = { 0 };
	size_t k = 0;

	for (const struct sim_embedded *x = sim_embedded_machines; x->name && k < 63; x++) {
		str_addf(&all, "%s%s", k ? ", " : "", x->name);
		names[k++] = x->name;
	}
	cli_did_you_mean(&hint, "", name, names);
	cli_usage(c,
		  "there is no machine '%s'%s; there are %s, or give a file (with a '/' or "
		  ".json in its name)",
		  name, str_text(&hint), str_text(&all));
}

int described_machine(const struct common *c, const char *name, struct sim_machine **ret)
{
	struct str text = { 0 };
	struct err e = { 0 };
	int rc;

	for (const struct sim_embedded *x = sim_embedded_machines; x->name; x++)
		if (strcmp(x->name, name) == 0)
			return sim_machine_read(x->data, x->n, ret, &e) < 0
				       ? cli_fail(c, CLI_FATAL, "%s: %s", name, e.msg)
				       : CLI_DONE;
	if (!strchr(name, '/') && !strstr(name, ".json"))
		unknown_machine(c, name);
	rc = read_file(name, &text, &e);
	if (rc == 0) {
		rc = sim_machine_read(str_text(&text), text.len, ret, &e);
		if (rc < 0)
			err_prefix(&e, "%s: ", name);
	}
	str_done(&text);
	return rc < 0 ? cli_fail(c, CLI_USAGE, "%s", e.msg) : CLI_DONE;
}
