// SPDX-License-Identifier: MIT
/* What a parameter takes, in words: for `info` and the manual. */
#include "cli/param_words.h"

#include <string.h>

#include "base/units.h"

void param_accepted(struct str *out, const struct param *p)
{
	char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES];

	switch (p->type) {
	case PARAM_COUNT:
		str_addf(out, "a count, %llu to %llu", (unsigned long long)p->min,
			 (unsigned long long)p->max);
		break;
	case PARAM_BYTES:
		str_addf(out, "a size, %s to %s", format_size(low, p->min),
			 format_size(high, p->max));
		break;
	case PARAM_STRIDE:
		str_add(out, "a size or page, base-page, leaf-table, pmd-table, pud-table, "
			     "p4d-table, and an "
			     "offset: 32m+128, leaf-table+page");
		break;
	case PARAM_PAGE:
		str_add(out, "base, auto, thp, hugetlb, hugetlb-2m, hugetlb-1g, or a size (4k, "
			     "64k); see 'pagetoll list'");
		break;
	case PARAM_CHOICE:
		break;
	case PARAM_CPU:
		str_add(out, "a CPU number or auto");
		break;
	case PARAM_NODE:
		str_add(out, strcmp(p->name, "node") == 0
				     ? "a node number with CPUs, local, remote, each"
				     : "a node number, local, remote");
		break;
	}
	for (size_t i = 0; p->choices && p->choices[i]; i++)
		str_addf(out, "%s%s", out->len ? ", " : "", p->choices[i]);
}

const char *param_swept(const struct param *p)
{
	switch (p->role) {
	case ROLE_INNER:
		return "swept inside one process";
	case ROLE_FROM:
		return "a fresh process for each value; row of a matrix";
	case ROLE_TO:
		return "a fresh process for each value; column of a matrix";
	case ROLE_OUTER:
		break;
	}
	return "a fresh process for each value";
}
