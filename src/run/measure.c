/* SPDX-License-Identifier: MIT */
/*
 * From a worker's result to a measure of the run: everything is copied into the run's arena. A
 * metric without values says why.
 */
#include "run/measure.h"

#include <errno.h>
#include <string.h>

static int no_memory(struct err *e)
{
	return err_set(e, ENOMEM, "no memory for what was measured");
}

static int fill_series(struct run *run, struct series *s, const struct metric *m,
		       const struct metric_values *v, const char *why_not)
{
	s->metric = arena_strdup(&run->arena, m->name);
	s->origin = ORIGIN_MEASURED;
	s->form = m->form;
	if (!s->metric)
		return -ENOMEM;
	if (m->form == FORM_EXACT && v->has_exact) {
		s->integers = arena_alloc(&run->arena, sizeof(*s->integers));
		if (!s->integers)
			return -ENOMEM;
		s->integers[0] = v->exact;
		s->n = 1;
		return 0;
	}
	if (m->form == FORM_COUNT && v->has_count) {
		s->integers = arena_alloc(&run->arena, 2 * sizeof(*s->integers));
		if (!s->integers)
			return -ENOMEM;
		s->integers[0] = v->events;
		s->integers[1] = v->exposure;
		s->n = 2;
		return 0;
	}
	if (m->form == FORM_SAMPLES && v->n > 0) {
		s->values = arena_alloc(&run->arena, v->n * sizeof(*s->values));
		if (!s->values)
			return -ENOMEM;
		memcpy(s->values, v->samples, v->n * sizeof(*s->values));
		s->n = v->n;
		return 0;
	}
	s->null_reason = arena_strdup(&run->arena, v->null_reason ? v->null_reason : why_not);
	return s->null_reason ? 0 : -ENOMEM;
}

static int fill_setting(struct run *run, struct measure *m, const struct invocation_spec *s,
			const struct bench_result *r)
{
	if (attrs_copy(&run->arena, &m->setting, &s->setting.given) < 0)
		return -ENOMEM;
	if (!r->has_inner || !s->inner)
		return 0;
	return attrs_set_int(&run->arena, &m->setting, s->inner, (int64_t)r->inner_value);
}

static int fill_texts(struct run *run, struct measure *m, const struct invocation_spec *s,
		      const struct bench_result *r)
{
	m->bench = arena_strdup(&run->arena, s->bench->schema.name);
	m->reason = arena_strdup(&run->arena, r->reason);
	m->unproven = arena_strdup(&run->arena, r->unproven);
	if (!m->bench || (r->reason && !m->reason) || (r->unproven && !m->unproven))
		return -ENOMEM;
	return 0;
}

int measure_from_result(struct run *run, const struct invocation_spec *s,
			const struct bench_result *r, const struct measure **ret, struct err *e)
{
	struct measure *m = run_add_measure(run);

	if (!m)
		return no_memory(e);
	m->invocation = s->invocation;
	m->verdict = (enum verdict)r->verdict;
	m->start_unix_ns = r->start_unix_ns;
	m->duration_ns = r->duration_ns;
	if (fill_texts(run, m, s, r) < 0 || fill_setting(run, m, s, r) < 0 ||
	    attrs_copy(&run->arena, &m->proof, &r->proof) < 0 ||
	    attrs_copy(&run->arena, &m->taints, &r->taints) < 0)
		goto fail;
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct metric_values *v = &r->values[i];
		bool has_any = v->n > 0 || v->has_exact || v->has_count || v->null_reason;
		struct series *series;

		/* A point that ended early owes no metric an explanation: its reason is there. */
		if (!has_any && r->verdict != VERDICT_OK)
			continue;
		series = measure_add_series(run, m);
		if (!series ||
		    fill_series(run, series, &r->metrics[i], v, "the benchmark gave no value") < 0)
			goto fail;
	}
	*ret = m;
	return 0;
fail:
	run->n_measures--; /* a half-copied measure must not be seen */
	return no_memory(e);
}
