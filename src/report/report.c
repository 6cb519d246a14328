// SPDX-License-Identifier: MIT
/*
 * A run with its points, curves and facts. Facts are always recomputed: stored ones are a cache of
 * an older method.
 */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "infer/infer.h"
#include "report/render.h"

int report_init(struct report *rep, const struct run *r, struct err *e)
{
	struct report new = { .run = r };
	int ret = points_assemble(&new.arena, r, &new.points);
	if (ret == 0)
		ret = curves_assemble(&new.arena, r, &new.points, &new.curves);
	if (ret == 0)
		report_sort_curves(r, &new.curves);
	if (ret == 0)
		ret = infer_facts(&new.arena, r, &new.curves, &new.facts, e);
	if (ret < 0) {
		arena_done(&new.arena);
		err_set(e, -ret, "no report of run %.64s: %s", r->id ? r->id : "without an id",
			ret == -ENOMEM ? "memory ran out" : "its measures make no curves");
		return ret;
	}
	*rep = new;
	return 0;
}

void report_done(struct report *rep)
{
	arena_done(&rep->arena);
	*rep = (struct report){ 0 };
}

int report_find_metric(const struct report *rep, const char *metric, struct err *e)
{
	struct str list = { 0 };
	int ret;

	for (size_t i = 0; i < rep->curves.n; i++) {
		const struct bench_schema *s = run_schema(rep->run, rep->curves.v[i].bench);

		for (const struct metric *m = s ? s->metrics : NULL; m && m->name; m++) {
			if (strcmp(m->name, metric) == 0) {
				str_done(&list);
				return 0;
			}
			str_add_listed(&list, m->name);
		}
	}
	ret = err_set(e, ENOENT, "this run has no metric '%.64s'; it has %s", metric,
		      list.len ? str_text(&list) : "none");
	str_done(&list);
	return ret;
}
