/* SPDX-License-Identifier: MIT */
/*
 * The presets: how long and how exactly `run` measures. An interval of the median needs at least
 * six invocations (exact, from order statistics), so that `quick` gives none and is marked.
 */
#include "run/run_plan.h"

#include <string.h>

const struct preset presets[] = {
	{
		.name = "quick",
		.summary =
			"under 30 seconds, three invocations at most, no intervals: a first look",
		.min_invocations = 3,
		.max_invocations = 3,
		.interval_target = 0.05,
		.budget_seconds = 25,
		.samples = 10,
		.point_seconds = 0.01,
	},
	{
		.name = "default",
		.summary = "about 2 minutes, 8 invocations or more, intervals within 2 %",
		.min_invocations = 8,
		.max_invocations = 24,
		.interval_target = 0.02,
		.budget_seconds = 130,
		.samples = 25,
		.point_seconds = 0.03,
	},
	{
		.name = "rigorous",
		.summary = "up to 15 minutes, 12 invocations or more, intervals within 1 %",
		.min_invocations = 12,
		.max_invocations = 60,
		.interval_target = 0.01,
		.budget_seconds = 900,
		.samples = 40,
		.point_seconds = 0.1,
	},
	{ .name = NULL },
};

const struct preset *preset_find(const char *name)
{
	for (const struct preset *p = presets; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}
