/* SPDX-License-Identifier: MIT */
/* Options of run and ab: presets, budgets, seeds, labels. */
#include "cli/take.h"

#include <stdbool.h>
#include <string.h>

#include "base/escape.h"
#include "base/str.h"
#include "base/units.h"
#include "store/library.h"

static const struct preset *take_preset(const struct common *c, const char *arg)
{
	const struct preset *found = preset_find(arg);
	struct str all = { 0 };

	if (found)
		return found;
	for (const struct preset *p = presets; p->name; p++)
		str_addf(&all, "%s%s", all.len ? ", " : "", p->name);
	cli_usage(c, "--preset: '%s' is not one of %s", arg, str_text(&all));
}

static double take_budget(const struct common *c, const char *arg)
{
	struct err e = { 0 };
	uint64_t ns = 0;

	if (parse_time_ns(arg, &ns, &e))
		cli_usage(c, "--budget: %s", e.msg);
	if (ns < 1000000000)
		cli_usage(c, "--budget: '%s' is less than 1s", arg);
	return (double)ns / 1e9;
}

static uint64_t take_seed(const struct common *c, const char *arg)
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

const char *take_file_name(const struct common *c, const char *option, const char *arg)
{
	if (!*arg)
		cli_usage(c, "%s: the file's name is empty", option);
	return arg;
}

const char *take_output(const struct common *c, const char *arg)
{
	return strcmp(take_file_name(c, "--output", arg), "-") == 0 ? NULL : arg;
}

bool take_how(struct how *how, const struct common *c, int key, const char *arg)
{
	switch (key) {
	case HOW_PRESET:
		how->preset = take_preset(c, arg);
		return true;
	case HOW_BUDGET:
		how->budget_seconds = take_budget(c, arg);
		return true;
	case HOW_LABEL:
		how->label = take_label(c, arg);
		return true;
	case HOW_SEED:
		how->seed = take_seed(c, arg);
		how->has_seed = true;
		return true;
	case 'o':
		how->output = take_file_name(c, "--output", arg);
		return true;
	case HOW_DRY_RUN:
		how->dry_run = true;
		return true;
	case HOW_NO_SAVE:
		how->no_save = true;
		return true;
	case 'q':
		how->quiet = true;
		return true;
	default:
		return false;
	}
}
