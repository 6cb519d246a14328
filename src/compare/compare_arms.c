// SPDX-License-Identifier: MIT
/*
 * Arms of one experiment: a comparison by the parameter that the arm is (by.c), with the names that
 * the experiment's header gives the arms. Left out: how they were interleaved (run/ab.h).
 */
#include "compare/compare_arms.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "compare/parts.h"

/* "page=4k"; the header has the words with their blanks escaped. */
static const char *arm_name(struct arena *a, const struct run *r, const char *arm, const char *key)
{
	char *words = arena_strdup(a, attrs_text(&r->context, key, ""));

	if (!words || !*words || unescape_word(words, NULL) < 0)
		return arena_strdup(a, arm);
	return words;
}

/* Across reboots the arms are kernels. */
static const char *kernel_name(struct arena *a, const struct run *r, const char *arm)
{
	const char *kernel = arm_kernel(r, arm);

	return kernel ? kernel : arena_strdup(a, arm);
}

int compare_arms(const struct run *r, const struct compare_options *o, struct comparison *ret,
		 struct err *e)
{
	bool boots = strcmp(attrs_text(&r->context, "ab.mode", ""), "boots") == 0;
	struct comparison c;
	int rc = compare_by(r, "arm", "A", "B", o, &c, e);

	if (rc)
		return rc;
	c.name_a = boots ? kernel_name(&c.arena, r, "A") : arm_name(&c.arena, r, "A", "ab.a");
	c.name_b = boots ? kernel_name(&c.arena, r, "B") : arm_name(&c.arena, r, "B", "ab.b");
	if (!c.name_a || !c.name_b) {
		comparison_done(&c);
		return err_set(e, ENOMEM, "out of memory");
	}
	*ret = c;
	return 0;
}
