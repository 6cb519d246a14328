/* SPDX-License-Identifier: MIT */
/*
 * Pairs of CPUs: what "auto" means for parameters of the roles from and to, and what a pair is to
 * the worker. Which pairs there are is host/machine_distance's business.
 */
#include "run/plan.h"

#include <errno.h>
#include <string.h>

#include "host/machine_distance.h"

/* The CPU that a word names; false for auto and for what plan_resolve() will refuse. */
static bool named_cpu(const struct machine *m, const char *word, uint32_t *ret_id)
{
	const struct cpu *c;
	uint64_t id;

	if (parse_u64(word, &id, NULL) < 0 || id > UINT32_MAX)
		return false;
	c = machine_cpu(m, (uint32_t)id);
	if (!c || !c->online || !c->allowed)
		return false;
	*ret_id = c->id;
	return true;
}

static bool is_auto(const char *word)
{
	return strcmp(word, "auto") == 0;
}

/* @given without "pairs", with these ends. */
static int with_ends(struct arena *a, const struct bench_schema *s, const struct attrs *given,
		     const char *from, const char *to, struct attrs *ret)
{
	struct attrs out = { 0 };
	int rc = 0;

	for (size_t i = 0; i < given->n && rc == 0; i++) {
		const struct attr *v = &given->v[i];
		const struct param *p = schema_param(s, v->name);

		if (strcmp(v->name, PLAN_PAIRS) == 0)
			continue;
		if (v->kind == ATTR_INT)
			rc = attrs_set_int(a, &out, v->name, v->integer);
		else
			rc = attrs_set_text(a, &out, v->name,
					    p->role == ROLE_FROM ? from
					    : p->role == ROLE_TO ? to
								 : v->text);
	}
	*ret = out;
	return rc;
}

static int add_given(struct arena *a, const struct bench_schema *s, const struct attrs *given,
		     const char *from, const char *to, struct plan_givens *ret, struct err *e)
{
	if (arena_grow(a, &ret->v, ret->n, &ret->cap, sizeof(*ret->v)) < 0 ||
	    with_ends(a, s, given, from, to, &ret->v[ret->n]) < 0)
		return err_set(e, ENOMEM, "out of memory");
	ret->n++;
	return 0;
}

static int add_pairs(struct arena *a, const struct bench *b, const struct attrs *given,
		     const struct cpu_pairs *pairs, bool one_way, struct plan_givens *ret,
		     struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < pairs->n && rc == 0; i++) {
		const struct cpu_pair *p = &pairs->v[i];
		const char *from = arena_printf(a, "%u", p->from);
		const char *to = arena_printf(a, "%u", p->to);

		if (one_way && p->from > p->to)
			continue;
		if (!from || !to)
			return err_set(e, ENOMEM, "out of memory");
		rc = add_given(a, &b->schema, given, from, to, ret, e);
	}
	return rc;
}

int plan_pairs(struct arena *a, const struct machine *m, const struct bench *b,
	       const struct attrs *given, struct plan_givens *ret, struct err *e)
{
	const struct param *from = schema_role(&b->schema, ROLE_FROM);
	const struct param *to = schema_role(&b->schema, ROLE_TO);
	const char *from_word = from ? attrs_text(given, from->name, "") : "";
	const char *to_word = to ? attrs_text(given, to->name, "") : "";
	bool all = strcmp(attrs_text(given, PLAN_PAIRS, ""), "all") == 0;
	bool has_from, has_to;
	struct cpu_pairs pairs = { 0 };
	uint32_t from_id = 0, to_id = 0;
	struct err why = { 0 };
	int rc;

	has_from = named_cpu(m, from_word, &from_id);
	has_to = named_cpu(m, to_word, &to_id);
	if ((!has_from && !is_auto(from_word)) || (!has_to && !is_auto(to_word)))
		return add_given(a, &b->schema, given, from_word, to_word, ret, e);
	if (has_from && has_to && from_id == to_id)
		return 0; /* the diagonal of a product of lists */
	rc = machine_pairs(m, all ? PAIRS_ALL : PAIRS_CLASSES, has_from ? &from_id : NULL,
			   has_to ? &to_id : NULL, &pairs, &why);
	if (rc == -ENODEV) /* told again when the pair is resolved */
		return add_given(a, &b->schema, given, from_word, to_word, ret, e);
	if (rc < 0)
		return err_set(e, -rc, "%s", why.msg);
	rc = add_pairs(a, b, given, &pairs,
		       b->is_symmetric && b->is_symmetric(given) && !has_from && !has_to, ret, e);
	cpu_pairs_done(&pairs);
	return rc;
}

int plan_resolve_pair(struct arena *a, const struct machine *m, const struct bench *b,
		      struct bench_setting *s, const char **ret_skip, struct err *e)
{
	const struct param *from = schema_role(&b->schema, ROLE_FROM);
	const struct param *to = schema_role(&b->schema, ROLE_TO);
	struct cpu_pair pair;
	struct err why = { 0 };
	uint32_t ids[2], node = 0;
	int rc;

	if (!from || !to)
		return 0;
	if (is_auto(attrs_text(&s->given, from->name, "")) ||
	    is_auto(attrs_text(&s->given, to->name, ""))) {
		struct cpu_pairs none = { 0 };

		rc = machine_pairs(m, PAIRS_CLASSES, NULL, NULL, &none, &why);
		cpu_pairs_done(&none);
		*ret_skip = arena_strdup(a, rc < 0 ? why.msg : "no other CPU is left for a pair");
		return *ret_skip ? 0 : err_set(e, ENOMEM, "out of memory");
	}
	if (!named_cpu(m, attrs_text(&s->given, from->name, ""), &ids[0]) ||
	    !named_cpu(m, attrs_text(&s->given, to->name, ""), &ids[1]))
		return err_set(e, EINVAL, "%s and %s must be CPUs", from->name, to->name);
	rc = machine_pair(m, ids[0], ids[1], &pair, e);
	if (rc < 0)
		return rc;
	if (machine_local_node(m, ids[0], &node, NULL) < 0)
		node = m->nodes[0].id;
	if (attrs_set_text(a, &s->resolved, "pair.class", pair.name) < 0 ||
	    attrs_set_int(a, &s->resolved, "pair.node", node) < 0 ||
	    attrs_set_text(a, &s->resolved, "pair.guest", m->hypervisor) < 0)
		return err_set(e, ENOMEM, "out of memory");
	return 0;
}
