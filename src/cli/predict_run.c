// SPDX-License-Identifier: MIT
#include "cli/predict_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_header.h"
#include "host/clock.h"
#include "record/runfile.h"
#include "store/library.h"

static int add_machine(struct run *r, const struct sim_machine *m)
{
	if (attrs_set_text(&r->arena, &r->fingerprint, "model", m->summary) < 0 ||
	    attrs_set_int(&r->arena, &r->fingerprint, "page_bytes", (int64_t)m->core.page_bytes) <
		    0 ||
	    attrs_set_int(&r->arena, &r->context, "assumed_figures",
			  (int64_t)sim_machine_count_assumed(m)) < 0 ||
	    attrs_set_int(&r->arena, &r->context, "figures", (int64_t)m->n_origins) < 0)
		return -ENOMEM;
	return 0;
}

int predict_run_header(struct run *r, const struct sim_machine *m, const struct how *how,
		       uint64_t seed, int argc, char **argv, struct err *e)
{
	struct str command = { 0 };
	char id[27], seed_text[24];

	r->schema_version = RUN_SCHEMA_VERSION;
	r->start_unix_ns = r->end_unix_ns = clock_unix_ns();
	run_make_id(id, r->start_unix_ns, random_seed());
	str_add(&command, "pagetoll");
	for (int i = 0; i < argc; i++)
		str_addf(&command, " %s", argv[i]);
	r->id = arena_strdup(&r->arena, id);
	r->source = arena_printf(&r->arena, "predicted for the described machine %s",
				 m ? m->name : "(geometry alone)");
	r->label = how->label;
	r->origin = ORIGIN_PREDICTED;
	r->version = cli_version();
	r->command = arena_strdup(&r->arena, str_text(&command));
	r->has_footer = r->complete = true;
	r->stop_reason = "finished";
	str_done(&command);
	snprintf(seed_text, sizeof(seed_text), "%ju", (uintmax_t)seed);
	if (!r->id || !r->source || !r->command ||
	    attrs_set_text(&r->arena, &r->context, "seed", seed_text) < 0)
		return err_set(e, ENOMEM, "out of memory");
	return m && add_machine(r, m) < 0 ? err_set(e, ENOMEM, "out of memory") : 0;
}

static int write_run(const struct run *r, const char *path, struct err *e)
{
	struct runfile *f = NULL;
	int rc = runfile_create(path, r, &f, e);

	for (size_t i = 0; i < r->n_measures && rc == 0; i++)
		rc = runfile_append(f, &r->measures[i], e);
	if (rc == 0)
		rc = runfile_finish(f, r, e);
	runfile_close(f);
	return rc;
}

int predict_run_save(const struct common *c, const struct how *how, const struct run *r,
		     char **ret_path)
{
	struct err e = { 0 };
	int rc = 0;

	if (how->no_save)
		return CLI_DONE;
	if (how->output)
		*ret_path = strdup(how->output);
	else
		rc = library_new_path(r->id, ret_path, &e);
	if (rc == 0)
		rc = *ret_path ? write_run(r, *ret_path, &e) : -ENOMEM;
	if (rc == 0)
		return CLI_DONE;
	if (how->output)
		return cli_fail(c, CLI_FATAL, "cannot save to %s: %s", how->output, e.msg);
	free(*ret_path);
	*ret_path = NULL;
	cli_warn(c, "not saved: %s; use --output FILE or --no-save", e.msg);
	return CLI_DONE;
}

char **predict_words_after(char *const *words, size_t n, char *const *what_ifs, size_t n_what_ifs,
			   size_t *ret_n)
{
	char **all = calloc(n + n_what_ifs + 1, sizeof(*all));

	if (!all)
		return NULL;
	memcpy(all, words, n * sizeof(*all));
	for (size_t i = 0; i < n_what_ifs; i++) {
		const size_t len = strcspn(what_ifs[i], "=") + 1;
		size_t k = 0;

		while (k < n && strncmp(all[k], what_ifs[i], len) != 0)
			k++;
		all[k] = what_ifs[i];
		n = k == n ? n + 1 : n;
	}
	*ret_n = n;
	return all;
}
