/* SPDX-License-Identifier: MIT */
/* Options of run and ab: presets, budgets, seeds, labels. */
#include "cli/take.h"

#include <stdbool.h>
#include <string.h>

#include "base/escape.h"
#include "base/str.h"
#include "base/units.h"
#include "store/library.h"

const struct preset *take_preset(const struct common *c, const char *arg)
{
	const struct preset *found = preset_find(arg);
	struct str all = { 0 };

	if (found)
		return found;
	for (const struct preset *p = presets; p->name; p++)
		str_addf(&all, "%s%s", all.len ? ", " : "", p->name);
	cli_usage(c, "--preset: '%s' is not one of %s", arg, str_text(&all));
}

double take_budget(const struct common *c, const char *arg)
{
	struct err e = { 0 };
	uint64_t ns = 0;

	if (parse_time_ns(arg, &ns, &e))
		cli_usage(c, "--budget: %s", e.msg);
	if (ns < 1000000000)
		cli_usage(c, "--budget: '%s' is less than 1s", arg);
	return (double)ns / 1e9;
}

uint64_t take_seed(const struct common *c, const char *arg)
{
	struct err e = { 0 };
	uint64_t seed = 0;

	if (parse_u64(arg, &seed, &e))
		cli_usage(c, "--seed: %s", e.msg);
	return seed;
}

const char *take_label(const struct common *c, const char *arg)
{
	struct str clean = { 0 };
	struct err e = { 0 };
	bool same;

	escape_terminal(&clean, arg);
	same = strcmp(str_text(&clean), arg) == 0;
	str_done(&clean);
	if (!same)
		cli_usage(c, "--label: '%s' holds control characters or is no UTF-8", arg);
	if (library_check_label(arg, &e))
		cli_usage(c, "--label: %s", e.msg);
	return arg;
}
