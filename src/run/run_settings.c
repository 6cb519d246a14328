// SPDX-License-Identifier: MIT
/* From parameters to settings of the kernel. Restoring them is the caller's. */
#include "run/run_settings.h"

#include <errno.h>
#include <string.h>

static const char *value_of(const struct planned *p, const struct param *param)
{
	return attrs_text(&p->setting.given, param->name, "keep");
}

bool run_settings_needed(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct param *param = p->v[i].bench->schema.params;

		for (; param->name; param++)
			if (param->setting && !p->v[i].skip_reason &&
			    strcmp(value_of(&p->v[i], param), "keep") != 0)
				return true;
	}
	return false;
}

static int enter_one(struct settings *s, const char *why, const struct planned *p,
		     const struct param *param, struct err *e)
{
	const struct setting_kind *k = setting_find(param->setting);
	const char *word = value_of(p, param);
	char value[SETTING_TEXT_BYTES];
	int rc;

	if (!k)
		return err_set(e, EINVAL, "%s: no such setting", param->setting);
	if (strcmp(word, "keep") == 0)
		return s ? settings_put_back(s, k, e) : 0;
	if (!s && why)
		return err_set(e, EPERM, "%s=%s changes a kernel setting: %s", param->name, word,
			       why);
	if (!s)
		return err_set(e, EINVAL,
			       "%s=%s changes a kernel setting, which only `run` does by a "
			       "parameter; in `ab` name the setting itself: %s=%s",
			       param->name, word, k->name, word);
	rc = setting_parse(k, word, value, e);
	return rc < 0 ? rc : settings_set(s, k, value, e);
}

int run_settings_enter(struct settings *s, const char *why, const struct planned *p, struct err *e)
{
	int rc = 0;

	for (const struct param *param = p->bench->schema.params; param->name && rc == 0; param++)
		if (param->setting)
			rc = enter_one(s, why, p, param, e);
	return rc;
}
