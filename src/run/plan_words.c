/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean": near names and lists of what is accepted, for messages. The distance is
 * text_distance() of base/escape.h; a third of the letters may be wrong.
 */
#include "run/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "record/schema.h"

const char *plan_suggest(char *buf, size_t bytes, const char *word, plan_name_fn name,
			 const void *list)
{
	unsigned best = (unsigned)(strnlen(word, 64) / 3) + 1;
	const char *near = NULL, *candidate;

	buf[0] = '\0';
	if (strnlen(word, 64) == 64)
		return buf;
	for (size_t i = 0; (candidate = name(list, i)) != NULL; i++) {
		unsigned d = text_distance(word, candidate);

		if (d < best) {
			best = d;
			near = candidate;
		}
	}
	if (near)
		snprintf(buf, bytes, " (did you mean \"%s\"?)", near);
	return buf;
}

const char *plan_list(char *buf, size_t bytes, plan_name_fn name, const void *list)
{
	size_t used = 0;
	const char *s;

	buf[0] = '\0';
	for (size_t i = 0; (s = name(list, i)) != NULL; i++) {
		int n = snprintf(buf + used, bytes - used, "%s%s", i ? ", " : "", s);

		if (n < 0 || (size_t)n >= bytes - used) {
			snprintf(buf + used, bytes - used, "%s", "...");
			break;
		}
		used += (size_t)n;
	}
	return buf;
}

const char *plan_name_of_text(const void *list, size_t i)
{
	const char *const *v = list;

	return v ? v[i] : NULL;
}

const char *plan_name_of_param(const void *list, size_t i)
{
	const struct param *v = list;

	return v[i].name;
}
