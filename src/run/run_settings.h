/* SPDX-License-Identifier: MIT */
/* Parameters that stand for a setting of the kernel: the machine is set for one invocation. */
#ifndef PAGETOLL_RUN_RUN_SETTINGS_H
#define PAGETOLL_RUN_RUN_SETTINGS_H

#include <stdbool.h>

#include "host/settings.h"
#include "run/run_plan.h"

/* Whether any setting of the plan that can run changes the machine. */
bool run_settings_needed(const struct plan *p);

/*
 * Gives every kernel setting that a parameter of @p stands for the parameter's value; "keep": the
 * value before. @s NULL: nothing may be changed, @why (NULL: the caller is `ab`). -EPERM, -EACCES,
 * -ENOENT and others of settings_set() with the remedy.
 */
int run_settings_enter(struct settings *s, const char *why, const struct planned *p, struct err *e);

#endif
