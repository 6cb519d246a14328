// SPDX-License-Identifier: MIT
/*
 * Arms of one experiment, on the same rows, tests and verdicts as every comparison (parts.h). Left
 * out: how they were interleaved (run/ab.h).
 */
#include "compare/compare_arms.h"

#include <errno.h>
#include <string.h>

#include "compare/parts.h"

enum { DROPPED_MAX = 32 };

/* Names of parameters that the arms set, from the header, into @names. */
static int dropped_names(struct arena *a, const struct run *r, const char *names[DROPPED_MAX + 1])
{
	char *rest = arena_strdup(a, attrs_text(&r->context, "ab.params", "")), *name;
	size_t n = 0;

	if (!rest)
		return -ENOMEM;
	while ((name = strsep(&rest, " ")) != NULL && n < DROPPED_MAX)
		if (*name)
			names[n++] = name;
	names[n] = NULL;
	return 0;
}

static const char *arm_name(struct arena *a, const struct run *r, const char *arm, const char *key)
{
	const char *words = attrs_text(&r->context, key, NULL);

	if (!words || !*words)
		return arm;
	return arena_printf(a, "%s: %s", arm, words);
}

static int begin_side(struct side *s, const struct run *const *r, const char *arm,
		      const char *const *dropped, struct err *e)
{
	struct side_source from = {
		.runs = r, .n_runs = 1, .parameter = "arm", .value = arm, .dropped = dropped
	};
	int rc = side_init(s, &from);

	if (rc == -ENOENT)
		return err_set(e, EINVAL, "the run has no measures of an arm %s", arm);
	return rc ? err_set(e, -rc, "out of memory") : 0;
}

int compare_arms(const struct run *r, const struct compare_options *o, struct comparison *ret,
		 struct err *e)
{
	bool boots = strcmp(attrs_text(&r->context, "ab.mode", ""), "boots") == 0;
	enum unit unit = boots ? UNIT_BOOT : UNIT_INVOCATION;
	const char *dropped[DROPPED_MAX + 1];
	struct side a = { 0 }, b = { 0 };
	struct comparison c = { 0 };
	int rc;

	comparison_begin(&c, o);
	c.between_runs = false;
	c.factor = "arm";
	c.name_a = arm_name(&c.arena, r, "A", "ab.a");
	c.name_b = arm_name(&c.arena, r, "B", "ab.b");
	rc = c.name_a && c.name_b ? dropped_names(&c.arena, r, dropped) : -ENOMEM;
	if (rc)
		rc = err_set(e, ENOMEM, "out of memory");
	if (rc == 0)
		rc = begin_side(&a, &r, "A", dropped, e);
	if (rc == 0)
		rc = begin_side(&b, &r, "B", dropped, e);
	if (rc == 0)
		rc = side_infer(&a, unit, e);
	if (rc == 0)
		rc = side_infer(&b, unit, e);
	if (rc == 0) {
		/* Inside one boot, boots are no part of the question. */
		c.one_boot_a = boots && a.n_boots == 1;
		c.one_boot_b = boots && b.n_boots == 1;
		rc = comparison_fill(&c, &a, &b, unit, e);
	}
	side_done(&a);
	side_done(&b);
	if (rc) {
		comparison_done(&c);
		return rc;
	}
	*ret = c;
	return 0;
}
