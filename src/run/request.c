/* SPDX-License-Identifier: MIT */
/*
 * The positional words of `run`: targets and assignments, by form only. What the names and values
 * mean is the planner's business (plan.c, plan_values.c).
 */
#include "run/run_plan.h"

#include <errno.h>
#include <string.h>

/* Letters, digits and the joints of our names; anything else in a name is a typing error. */
static size_t name_length(const char *word)
{
	return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
}

static struct target *add_target(struct arena *a, struct request *q, const char *name)
{
	struct target *t;

	if (arena_grow(a, &q->targets, q->n_targets, &q->cap_targets, sizeof(*q->targets)) < 0)
		return NULL;
	t = &q->targets[q->n_targets++];
	*t = (struct target){ .name = name };
	return t;
}

static int add_assignment(struct arena *a, struct target *t, const char *word, size_t n_name,
			  struct err *e)
{
	const char *value = word + n_name + 1;
	char *name;

	if (n_name == 0)
		return err_set(e, EINVAL,
			       "\"%s\" has no name before \"=\"; accepted: NAME=VALUE, for example "
			       "page=4k",
			       word);
	if (*value == '\0')
		return err_set(e, EINVAL,
			       "\"%s\" has no value after \"=\"; accepted: NAME=VALUE, for example "
			       "page=4k",
			       word);
	name = arena_strdup(a, word);
	if (!name)
		return err_set(e, ENOMEM, "out of memory");
	name[n_name] = '\0';
	for (size_t i = 0; i < t->n_assigns; i++)
		if (strcmp(t->assigns[i].name, name) == 0)
			return err_set(e, EINVAL,
				       "%s is given twice (\"%s\" and \"%s\"); several values are "
				       "written %s=%s,%s",
				       name, t->assigns[i].value, value, name, t->assigns[i].value,
				       value);
	if (arena_grow(a, &t->assigns, t->n_assigns, &t->cap_assigns, sizeof(*t->assigns)) < 0)
		return err_set(e, ENOMEM, "out of memory");
	t->assigns[t->n_assigns++] = (struct assignment){ .name = name, .value = value };
	return 0;
}

int request_parse(struct arena *a, char *const *words, size_t n, struct request *ret, struct err *e)
{
	struct request q = *ret;
	struct target *t;

	q.targets = NULL;
	q.n_targets = q.cap_targets = 0;
	t = add_target(a, &q, NULL);
	if (!t)
		return err_set(e, ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		size_t n_name = name_length(words[i]);

		if (words[i][n_name] == '=') {
			int r = add_assignment(a, t, words[i], n_name, e);

			if (r < 0)
				return r;
		} else if (n_name > 0 && words[i][n_name] == '\0') {
			t = add_target(a, &q, words[i]);
			if (!t)
				return err_set(e, ENOMEM, "out of memory");
		} else {
			return err_set(e, EINVAL,
				       "\"%s\" is neither a target (tlb.chase, tlb, all) nor "
				       "NAME=VALUE (page=4k)",
				       words[i]);
		}
	}
	*ret = q;
	return 0;
}
