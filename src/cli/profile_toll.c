// SPDX-License-Identifier: MIT
#include "cli/profile_toll.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "infer/infer.h"
#include "record/runfile.h"
#include "report/report.h"
#include "store/index.h"
#include "store/library.h"

enum { NEWEST = 8 };

static bool is_known(const struct fact *f)
{
	return f && isfinite(f->value);
}

/* The walk for the smallest pages: the largest of the costs that were measured. */
static double walk_ns(const struct facts *f)
{
	double most = NAN;

	for (size_t i = 0; i < f->n; i++) {
		if (strcmp(f->v[i].id, "walk.memory_ns") == 0)
			most = fmax(most, f->v[i].value);
	}
	return most;
}

static bool take_facts(struct run *r, const struct run *toll)
{
	const struct fact *saving;
	struct report rep = { 0 };
	double walk;

	if (report_init(&rep, toll, NULL))
		return false;
	saving = facts_find(&rep.facts, "toll.huge_page_saving", NULL, NULL);
	walk = walk_ns(&rep.facts);
	if (is_known(saving))
		(void)attrs_set_real(&r->arena, &r->context, "toll.huge_page_saving_percent",
				     saving->value);
	if (isfinite(walk))
		(void)attrs_set_real(&r->arena, &r->context, "toll.walk_ns", walk);
	if (is_known(saving) || isfinite(walk))
		(void)attrs_set_text(&r->arena, &r->context, "toll.run", toll->id);
	report_done(&rep);
	return attrs_find(&r->context, "toll.run") != NULL;
}

static bool take_run(struct run *r, const char *path)
{
	struct run *toll;
	bool found;

	if (runfile_load(path, &toll, NULL))
		return false;
	found = attrs_equal(&toll->fingerprint, &r->fingerprint) && take_facts(r, toll);
	run_free(toll);
	return found;
}

void profile_add_toll(struct run *r)
{
	const struct index_filter filter = { .bench = "tlb.chase", .limit = NEWEST };
	struct index_entries entries = { 0 };
	struct arena arena = { 0 };
	struct index *x = NULL;
	char *dir = library_dir(NULL);

	/* No library yet: none is made for this. */
	if (dir && access(dir, F_OK) == 0 && index_open(dir, &x, NULL, NULL) == 0 &&
	    index_list(x, &filter, &arena, &entries, NULL) == 0) {
		for (size_t i = 0; i < entries.n; i++) {
			const struct index_entry *e = &entries.v[i];

			if (!e->unreadable && !e->file_is_gone && take_run(r, e->path))
				break;
		}
	}
	index_close(x);
	arena_done(&arena);
	free(dir);
}
