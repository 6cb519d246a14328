// SPDX-License-Identifier: MIT
/* The words of a trace's prediction, and the settings that are simulated side by side. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/tables.h"
#include "base/units.h"
#include "cli/predict_run.h"
#include "cli/predict_trace.h"

static int no_such(struct err *e, const char *word, const char *accepted)
{
	return err_set(e, EINVAL, "%s; accepted: %s", word, accepted);
}

/* The value, where the word is NAME=. */
static const char *value_of(const char *word, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static int set_place(const char *word, const char *value, bool replicable, enum replay_place *ret,
		     uint32_t *ret_node, struct err *e)
{
	uint64_t node;

	if (strcmp(value, "local") == 0)
		*ret = REPLAY_FIRST_TOUCH;
	else if (strcmp(value, "interleaved") == 0)
		*ret = REPLAY_INTERLEAVED;
	else if (replicable && strcmp(value, "replicated") == 0)
		*ret = REPLAY_REPLICATED;
	else if (parse_u64(value, &node, NULL) == 0 && node < SIM_NODES_MAX) {
		*ret = REPLAY_NODE;
		*ret_node = (uint32_t)node;
	} else {
		return no_such(e, word,
			       replicable ? "local (the node of the thread that needed it first), "
					    "a node, interleaved, replicated"
					  : "local (the node of the thread that touched it first), "
					    "a node, interleaved");
	}
	return 0;
}

static int set_page(const struct sim_machine *m, const char *word, const char *value, uint64_t *ret,
		    struct err *e)
{
	int rc = 0;

	if (strcmp(value, "base") == 0)
		*ret = m->core.page_bytes;
	else if (strcmp(value, "thp") == 0)
		*ret = tables_span(m->core.page_bytes, 0);
	else
		rc = parse_size(value, ret, e);
	if (rc < 0)
		err_prefix(e, "%s: ", word);
	else if (*ret < m->core.page_bytes || (*ret & (*ret - 1)))
		rc = no_such(e, word, "base, thp, or a size that page tables map, as 2m or 1g");
	return rc;
}

static int set_loads(const char *word, const char *value, bool *ret, struct err *e)
{
	if (strcmp(value, "dependent") != 0 && strcmp(value, "independent") != 0)
		return no_such(e, word, "dependent, independent");
	*ret = strcmp(value, "independent") == 0;
	return 0;
}

static int set_word(struct replay_setting *s, const char *word, struct err *e)
{
	const char *value;

	if ((value = value_of(word, "page")))
		return set_page(s->machine, word, value, &s->page_bytes, e);
	if ((value = value_of(word, "page-tables")))
		return set_place(word, value, true, &s->tables, &s->tables_node, e);
	if ((value = value_of(word, "data")))
		return set_place(word, value, false, &s->data, &s->data_node, e);
	if ((value = value_of(word, "loads")))
		return set_loads(word, value, &s->overlap, e);
	return err_set(e, EINVAL,
		       "'%s' sets nothing of a trace; accepted: page, page-tables, data, loads, "
		       "levels, nested, host-page, table-align, far-side, dtlb-entries",
		       word);
}

static int read_side(struct predict_side *side, const struct trace_request *q, char *const *words,
		     size_t n, struct replay_setting *ret, struct err *e)
{
	struct replay_setting s = { .seed = q->seed };
	char **rest = NULL;
	size_t n_rest = 0;
	int rc = predict_side_words(side, q->machine, words, n, q->seed, &rest, &n_rest, e);

	if (rc == 0)
		rc = predict_side_check(side, NULL, e);
	if (rc < 0)
		return rc;
	s.machine = side->machine;
	s.page_bytes = side->machine->core.page_bytes;
	s.levels = side->model.levels ? side->model.levels : side->machine->core.levels;
	s.host_levels = side->model.host_levels;
	s.host_page_bytes = side->model.host_page_bytes;
	s.table_align_bytes = side->model.table_align_bytes;
	if (side->table_policy)
		s.tables = strcmp(side->table_policy, "replicated") == 0 ? REPLAY_REPLICATED
									 : REPLAY_INTERLEAVED;
	for (size_t i = 0; i < n_rest && rc == 0; i++)
		rc = set_word(&s, rest[i], e);
	*ret = s;
	return rc;
}

/* --- what is simulated --- */

static int set_attr_place(struct arena *a, struct attrs *to, const char *name,
			  enum replay_place place, uint32_t node)
{
	char text[16];

	if (place != REPLAY_NODE)
		return attrs_set_text(a, to, name, replay_place_name(place));
	snprintf(text, sizeof(text), "%u", node);
	return attrs_set_text(a, to, name, text);
}

static int fill_setting(struct trace_variants *t, struct trace_variant *v,
			const struct predict_side *side)
{
	struct arena *a = &t->before.arena;
	int rc = attrs_set_int(a, &v->setting, "page", (int64_t)v->replay.page_bytes);

	if (rc == 0)
		rc = attrs_set_int(a, &v->setting, "levels", v->replay.levels);
	if (rc == 0)
		rc = set_attr_place(a, &v->setting, "page-tables", v->replay.tables,
				    v->replay.tables_node);
	if (rc == 0)
		rc = set_attr_place(a, &v->setting, "data", v->replay.data, v->replay.data_node);
	if (rc == 0)
		rc = attrs_set_text(a, &v->setting, "loads",
				    v->replay.overlap ? "independent" : "dependent");
	for (size_t i = 0; i < side->extra.n && rc == 0; i++)
		if (strcmp(side->extra.v[i].name, "levels") != 0)
			rc = attrs_set_text(a, &v->setting, side->extra.v[i].name,
					    side->extra.v[i].text);
	return rc;
}

/* Another setting, which begins as the first one. */
static struct trace_variant *add(struct trace_variants *t)
{
	struct trace_variant *v = &t->v[t->n++];

	*v = (struct trace_variant){ .replay = t->v[0].replay };
	return v;
}

static void add_huge(struct trace_variants *t)
{
	struct trace_variant *v = add(t);
	struct replay_setting *s = &v->replay;
	const uint64_t base = s->machine->core.page_bytes, huge = tables_span(base, 0);
	char size[UNITS_TEXT_BYTES];

	snprintf(v->name, sizeof(v->name), "page=%s", format_size(size, huge));
	if (s->page_bytes != base)
		v->why_not = "pages are larger than base pages already";
	else if (s->levels < 3)
		v->why_not = "needs tables of 3 levels or more";
	else if (!replay_tlbs_hold(s->machine, huge))
		v->why_not = "the machine's TLBs do not hold such pages";
	s->page_bytes = huge;
}

static void add_replicated(struct trace_variants *t)
{
	struct trace_variant *v = add(t);

	snprintf(v->name, sizeof(v->name), "page-tables=replicated");
	if (v->replay.machine->memory.nodes < 2)
		v->why_not = "the machine has one node";
	else if (v->replay.tables == REPLAY_REPLICATED)
		v->why_not = "page tables are replicated already";
	v->replay.tables = REPLAY_REPLICATED;
}

static void add_levels(struct trace_variants *t)
{
	struct trace_variant *v = add(t);

	v->replay.levels += v->replay.levels < SIM_LEVELS_MAX ? 1 : -1u;
	snprintf(v->name, sizeof(v->name), "levels=%u", v->replay.levels);
}

static int add_what_if(struct trace_variants *t, const struct trace_request *q, struct err *e)
{
	struct trace_variant *v = add(t);
	size_t n = 0, at = 0;
	char **words = predict_words_after(q->common->words, q->common->n_words, q->what_ifs,
					   q->n_what_ifs, &n);
	int rc = words ? read_side(&t->after, q, words, n, &v->replay, e)
		       : err_set(e, ENOMEM, "out of memory");

	for (size_t i = 0; i < q->n_what_ifs && at < sizeof(v->name) - 1; i++)
		at += (size_t)snprintf(v->name + at, sizeof(v->name) - at, "%s%s", i ? " " : "",
				       q->what_ifs[i]);
	t->v[0].arm = "A";
	v->arm = "B";
	free(words);
	return rc;
}

int trace_variants_init(struct trace_variants *t, const struct trace_request *q, struct err *e)
{
	int rc;

	memset(t, 0, sizeof(*t));
	rc = read_side(&t->before, q, q->common->words, q->common->n_words, &t->v[0].replay, e);
	t->n = 1;
	if (rc == 0 && q->n_what_ifs)
		rc = add_what_if(t, q, e);
	if (rc < 0)
		return rc;
	add_huge(t);
	add_replicated(t);
	add_levels(t);
	for (size_t i = 0, index = 0; i < t->n && rc == 0; i++) {
		const bool after = t->v[i].arm && strcmp(t->v[i].arm, "B") == 0;

		t->v[i].index = t->v[i].why_not ? 0 : index++;
		rc = fill_setting(t, &t->v[i], after ? &t->after : &t->before);
	}
	return rc < 0 ? err_set(e, ENOMEM, "out of memory") : 0;
}

void trace_variants_done(struct trace_variants *t)
{
	predict_side_done(&t->before);
	predict_side_done(&t->after);
}
