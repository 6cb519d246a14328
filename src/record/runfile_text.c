// SPDX-License-Identifier: MIT
/*
 * A run as text, in the form that runfile_write.c appends to files (docs/run-file.md). Left out:
 * files, and checks of what the run holds; the reader has them.
 */
#include "record/runfile_text.h"

#include <errno.h>
#include <stdlib.h>

#include "record/json.h"

/* Takes the reference to @body, which may be NULL: no memory. */
static void add_line(struct str *out, const char *type, json_t *body)
{
	json_t *line = json_object();
	char *text = NULL;

	if (body && json_object_set_new(line, "type", json_string(type)) == 0 &&
	    json_object_update(line, body) == 0)
		text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(line);
	json_decref(body);
	if (text) {
		str_add(out, text);
		str_add(out, "\n");
	} else {
		out->failed = true;
	}
	free(text);
}

int runfile_text(struct str *out, const struct run *r, struct err *e)
{
	add_line(out, "header", json_from_header(r));
	for (size_t i = 0; i < r->n_environments; i++)
		add_line(out, "environment", json_from_environment(&r->environments[i]));
	for (size_t i = 0; i < r->n_measures; i++)
		add_line(out, "measure", json_from_measure(&r->measures[i]));
	if (r->has_footer)
		add_line(out, "footer", json_from_footer(r));
	return out->failed ? err_set(e, ENOMEM, "out of memory") : 0;
}
