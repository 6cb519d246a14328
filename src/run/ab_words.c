// SPDX-License-Identifier: MIT
/*
 * What an arm changes, from words. Left out: whether a parameter exists (the planner knows).
 */
#include "run/ab.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/str.h"

static int no_memory(struct err *e)
{
	return err_set(e, ENOMEM, "out of memory");
}

static bool is_env_name(const char *word, size_t n)
{
	return n > 0 && !(word[0] >= '0' && word[0] <= '9') &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") >= n;
}

static int twice(const char *name, struct err *e)
{
	return err_set(e, EINVAL, "%.80s is given twice in one arm", name);
}

static int add_env(struct arena *a, struct ab_arm *arm, const char *word, size_t n_name,
		   struct err *e)
{
	for (size_t i = 0; i < arm->n_env; i++)
		if (strncmp(arm->env[i], word, n_name + 1) == 0)
			return twice(word, e);
	/* Two: the array ends with NULL. */
	for (size_t n = arm->n_env; n <= arm->n_env + 1; n++)
		if (arena_grow(a, &arm->env, n, &arm->cap_env, sizeof(*arm->env)) < 0)
			return no_memory(e);
	arm->env[arm->n_env++] = word;
	arm->env[arm->n_env] = NULL;
	return 0;
}

static int add_setting(struct arena *a, struct ab_arm *arm, const struct setting_kind *k,
		       const char *value, struct err *e)
{
	char text[SETTING_TEXT_BYTES];
	const char *kept;
	int rc = setting_parse(k, value, text, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < arm->n_settings; i++)
		if (arm->settings[i].kind == k)
			return twice(k->name, e);
	if (arm->n_settings == SETTINGS_MAX_CHANGED)
		return err_set(e, EINVAL, "more than %d system settings", SETTINGS_MAX_CHANGED);
	kept = arena_strdup(a, text);
	if (!kept || arena_grow(a, &arm->settings, arm->n_settings, &arm->cap_settings,
				sizeof(*arm->settings)) < 0)
		return no_memory(e);
	arm->settings[arm->n_settings++] = (struct ab_setting){ .kind = k, .value = kept };
	return 0;
}

static int add_param(struct arena *a, struct ab_arm *arm, const char *name, const char *value,
		     struct err *e)
{
	if (!*value)
		return err_set(e, EINVAL, "\"%s=\" has no value", name);
	if (strchr(value, ',') || strstr(value, ".."))
		return err_set(e, EINVAL,
			       "%s=%s: an arm has one value; lists belong to the common words",
			       name, value);
	for (size_t i = 0; i < arm->n_params; i++)
		if (strcmp(arm->params[i].name, name) == 0)
			return twice(name, e);
	if (arena_grow(a, &arm->params, arm->n_params, &arm->cap_params, sizeof(*arm->params)) < 0)
		return no_memory(e);
	arm->params[arm->n_params++] = (struct assignment){ .name = name, .value = value };
	return 0;
}

/* A word that is no environment variable, changed in place. */
static int add_word(struct arena *a, struct ab_arm *arm, char *word, struct err *e)
{
	const struct setting_kind *k;
	char *value = strchr(word, '=');

	if (!value || value == word)
		return err_set(e, EINVAL,
			       "\"%s\" is not NAME=VALUE: a parameter (page=4k), a system setting "
			       "(thp=always), or an environment variable (GLIBC_TUNABLES=...)",
			       word);
	*value++ = '\0';
	k = setting_find(word);
	return k ? add_setting(a, arm, k, value, e) : add_param(a, arm, word, value, e);
}

static int add_argument(struct arena *a, struct ab_arm *arm, const char *arg, struct err *e)
{
	char *rest = arena_strdup(a, arg);
	int rc = rest ? 0 : no_memory(e);

	while (rc == 0 && rest) {
		size_t n = strcspn(rest, "=");
		char *word;

		if (*rest == ' ') {
			rest++;
			continue;
		}
		if (rest[n] == '=' && is_env_name(rest, n))
			return add_env(a, arm, rest, n, e);
		word = strsep(&rest, " ");
		if (*word)
			rc = add_word(a, arm, word, e);
	}
	return rc;
}

static int join_text(struct arena *a, char *const *args, size_t n, struct ab_arm *arm,
		     struct err *e)
{
	struct str text = { 0 }, clean = { 0 };
	bool is_clean;

	for (size_t i = 0; i < n; i++)
		str_addf(&text, "%s%s", i ? " " : "", args[i]);
	escape_terminal(&clean, str_text(&text));
	is_clean = strcmp(str_text(&text), str_text(&clean)) == 0;
	arm->text = text.failed || clean.failed
			    ? NULL
			    : arena_strdup(a, text.len ? text.data : "(nothing)");
	str_done(&text);
	str_done(&clean);
	if (!arm->text)
		return no_memory(e);
	/* It goes into the run file, which is UTF-8, and to terminals. */
	return is_clean ? 0 : err_set(e, EINVAL, "control characters or invalid UTF-8 in an arm");
}

int ab_arm_parse(struct arena *a, char *const *args, size_t n, struct ab_arm *ret, struct err *e)
{
	struct ab_arm arm = { 0 };
	int rc = join_text(a, args, n, &arm, e);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_argument(a, &arm, args[i], e);
	if (rc == 0)
		*ret = arm;
	return rc;
}

static const char *value_of(const struct ab_arm *arm, const struct setting_kind *k)
{
	for (size_t i = 0; i < arm->n_settings; i++)
		if (arm->settings[i].kind == k)
			return arm->settings[i].value;
	return NULL;
}

/* What one arm sets, the other must set as well: "as it was" would be what the first one left. */
static int check_settings(const struct ab_arm *x, const struct ab_arm *y, char name, struct err *e)
{
	for (size_t i = 0; i < x->n_settings; i++) {
		const struct setting_kind *k = x->settings[i].kind;

		if (!value_of(y, k))
			return err_set(e, EINVAL,
				       "%s=%s stands in one arm only; give the other its value as "
				       "well: -%c %s=VALUE",
				       k->name, x->settings[i].value, name, k->name);
	}
	return 0;
}

static bool same_settings(const struct ab_arm *x, const struct ab_arm *y)
{
	for (size_t i = 0; i < x->n_settings; i++)
		if (strcmp(value_of(y, x->settings[i].kind), x->settings[i].value) != 0)
			return false;
	return true;
}

static bool has_env(const struct ab_arm *arm, const char *word)
{
	for (size_t i = 0; i < arm->n_env; i++)
		if (strcmp(arm->env[i], word) == 0)
			return true;
	return false;
}

static bool same_env(const struct ab_arm *x, const struct ab_arm *y)
{
	for (size_t i = 0; i < x->n_env; i++)
		if (!has_env(y, x->env[i]))
			return false;
	return x->n_env == y->n_env;
}

static bool has_param(const struct ab_arm *arm, const struct assignment *p)
{
	for (size_t i = 0; i < arm->n_params; i++)
		if (strcmp(arm->params[i].name, p->name) == 0 &&
		    strcmp(arm->params[i].value, p->value) == 0)
			return true;
	return false;
}

static bool same_params(const struct ab_arm *x, const struct ab_arm *y)
{
	for (size_t i = 0; i < x->n_params; i++)
		if (!has_param(y, &x->params[i]))
			return false;
	return x->n_params == y->n_params;
}

int ab_arms_check(const struct ab_arm arms[2], struct err *e)
{
	int rc = check_settings(&arms[0], &arms[1], 'B', e);

	if (rc == 0)
		rc = check_settings(&arms[1], &arms[0], 'A', e);
	if (rc < 0)
		return rc;
	if (same_settings(&arms[0], &arms[1]) && same_env(&arms[0], &arms[1]) &&
	    same_params(&arms[0], &arms[1]))
		return err_set(e, EINVAL,
			       "A and B are alike; to learn what differs without a difference: "
			       "pagetoll ab --aa");
	return 0;
}

/* --- requests ----------------------------------------------------------------------------------
 */

static bool is_overridden(const struct ab_arm *arm, const char *name)
{
	for (size_t i = 0; i < arm->n_params; i++)
		if (strcmp(arm->params[i].name, name) == 0)
			return true;
	return false;
}

/* @t without what the arm sets, with room for all that it sets. */
static int copy_target(struct arena *a, const struct target *t, const struct ab_arm *arm,
		       struct target *ret)
{
	struct target to = { .name = t->name };

	to.cap_assigns = t->n_assigns + arm->n_params + 1;
	to.assigns = arena_alloc(a, to.cap_assigns * sizeof(*to.assigns));
	if (!to.assigns)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_assigns; i++)
		if (!is_overridden(arm, t->assigns[i].name))
			to.assigns[to.n_assigns++] = t->assigns[i];
	*ret = to;
	return 0;
}

int ab_request(struct arena *a, const struct request *common, const struct ab_arm *arm,
	       struct request *ret, struct err *e)
{
	struct request q = *common;

	q.cap_targets = common->n_targets + 1;
	q.targets = arena_alloc(a, q.cap_targets * sizeof(*q.targets));
	if (!q.targets)
		return no_memory(e);
	for (size_t i = 0; i < common->n_targets; i++)
		if (copy_target(a, &common->targets[i], arm, &q.targets[i]) < 0)
			return no_memory(e);
	if (q.n_targets == 0 && copy_target(a, &(struct target){ 0 }, arm, &q.targets[0]) < 0)
		return no_memory(e);
	q.n_targets = q.n_targets ? q.n_targets : 1;
	for (size_t i = 0; i < arm->n_params; i++)
		q.targets[0].assigns[q.targets[0].n_assigns++] = arm->params[i];
	*ret = q;
	return 0;
}

/* --- words as one text -------------------------------------------------------------------------
 */

const char *ab_join(struct arena *a, char *const *words, size_t n)
{
	struct str text = { 0 };
	const char *kept = NULL;

	for (size_t i = 0; i < n; i++) {
		str_add(&text, i ? " " : "");
		escape_word(&text, words[i]);
	}
	if (!text.failed)
		kept = arena_strdup(a, str_text(&text));
	str_done(&text);
	return kept;
}

int ab_split(struct arena *a, const char *text, char ***ret_words, size_t *ret_n, struct err *e)
{
	char *rest = arena_strdup(a, text), *word, **words = NULL;
	size_t n = 0, cap = 0;

	if (!rest)
		return no_memory(e);
	while ((word = strsep(&rest, " ")) != NULL) {
		int rc;

		if (!*word)
			continue;
		rc = unescape_word(word, e);
		if (rc < 0)
			return rc;
		if (arena_grow(a, &words, n, &cap, sizeof(*words)) < 0)
			return no_memory(e);
		words[n++] = word;
	}
	*ret_words = words;
	*ret_n = n;
	return 0;
}
