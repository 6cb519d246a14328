// SPDX-License-Identifier: MIT
/*
 * What a run file tells of an experiment so far: which points of which steps are there, and, across
 * reboots, which boots and kernels it has seen. Source: Documentation/admin-guide/sysctl/kernel.rst
 * (osrelease, version).
 */
#include "run/ab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ab_kernel_now(const struct sysroot *sr)
{
	char release[128], version[256], *text = NULL;

	if (sysroot_read_line(sr, "proc/sys/kernel/osrelease", release, sizeof(release), NULL) < 0)
		return NULL;
	if (sysroot_read_line(sr, "proc/sys/kernel/version", version, sizeof(version), NULL) < 0)
		version[0] = '\0';
	if (asprintf(&text, "%s%s%s", release, *version ? " " : "", version) < 0)
		return NULL;
	return text;
}

/* --- steps -------------------------------------------------------------------------------------
 */

static bool is_of_step(const struct measure *m, const struct planned *p, const struct ab_step *s)
{
	const struct attrs *given = &p->setting.given;

	if (!m->arm || m->arm[0] != "AB"[s->arm] || m->invocation != s->invocation ||
	    strcmp(m->bench, p->bench->schema.name) != 0)
		return false;
	for (size_t i = 0; i < given->n; i++) {
		const struct attr *x = &given->v[i], *y = attrs_find(&m->setting, x->name);

		if (!y || y->kind != x->kind ||
		    (x->kind == ATTR_TEXT ? strcmp(x->text, y->text) != 0
					  : x->integer != y->integer))
			return false;
	}
	return true;
}

/* Whether the inner value is in @r; @ret_ended: the invocation as a whole is told to have failed.
 */
static bool step_has(const struct run *r, const struct planned *p, const struct ab_step *s,
		     uint64_t inner, bool *ret_ended)
{
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		const struct attr *v;

		if (!is_of_step(m, p, s))
			continue;
		v = p->inner ? attrs_find(&m->setting, p->inner) : NULL;
		if (!v)
			*ret_ended = true;
		if (!p->inner || (v && v->kind == ATTR_INT && (uint64_t)v->integer == inner))
			return true;
	}
	return false;
}

int ab_step_missing(const struct run *r, const struct ab_plan *p, const struct ab_step *s,
		    struct u64_array *missing, bool *ret_whole)
{
	const struct planned *pl = p->pairs[s->pair].p[s->arm];
	size_t n = pl->inner ? pl->grid.n : 1, absent = 0;
	bool ended = false;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = pl->inner ? pl->grid.v[i] : 0;

		if (step_has(r, pl, s, v, &ended))
			continue;
		absent++;
		if (missing && pl->inner && u64_array_add(missing, v) < 0)
			return -ENOMEM;
	}
	*ret_whole = absent == 0 || ended;
	return 0;
}

/* --- boots -------------------------------------------------------------------------------------
 */

static const char *boot_of(const struct run *r, const struct measure *m)
{
	const char *boot = m->boot_id ? m->boot_id : r->boot_id;

	return boot ? boot : "";
}

/* The first measure of each block tells its boot, its arm and its kernel. */
static const struct measure *first_of_block(const struct run *r, unsigned block)
{
	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].arm && r->measures[i].invocation / AB_PER_BOOT == block)
			return &r->measures[i];
	return NULL;
}

static int block_is_whole(const struct run *r, const struct ab_plan *p, unsigned block,
			  unsigned arm, bool *ret_whole)
{
	*ret_whole = true;
	for (size_t i = 0; i < p->n_pairs; i++) {
		for (unsigned k = 0; k < AB_PER_BOOT; k++) {
			struct ab_step s = { i, arm, block * AB_PER_BOOT + k };
			bool whole = false;

			if (p->pairs[i].skip_reason)
				continue;
			if (ab_step_missing(r, p, &s, NULL, &whole) < 0)
				return -ENOMEM;
			*ret_whole = *ret_whole && whole;
		}
	}
	return 0;
}

static int choose_arm(struct ab_boots *b, const char *kernel, unsigned *ret_arm, struct err *e)
{
	for (unsigned k = 0; k < 2; k++) {
		if (!b->kernels[k] || strcmp(b->kernels[k], kernel) == 0) {
			*ret_arm = k;
			return 0;
		}
	}
	return err_set(e, EINVAL,
		       "this is a third kernel: %.100s; the experiment compares A, %.100s, with B, "
		       "%.100s: boot one of them",
		       kernel, b->kernels[0], b->kernels[1]);
}

int ab_boots_look(const struct run *r, const struct ab_plan *p, const char *kernel,
		  const char *boot_id, struct ab_boots *ret, unsigned *ret_arm, struct err *e)
{
	struct ab_boots b = { 0 };
	const struct measure *m;
	unsigned block, arm = 0, block_now = 0, arm_now = 0;
	bool is_now = false, is_whole = false;

	for (block = 0; (m = first_of_block(r, block)) != NULL; block++) {
		bool whole = false;

		arm = m->arm[0] == 'B';
		if (!b.kernels[arm])
			b.kernels[arm] = attrs_text(&m->proof, "kernel", "?");
		if (block_is_whole(r, p, block, arm, &whole) < 0)
			return err_set(e, ENOMEM, "out of memory");
		b.n[arm] += whole;
		if (strcmp(boot_of(r, m), boot_id) != 0)
			continue;
		is_now = true;
		is_whole = whole;
		block_now = block;
		arm_now = arm;
	}
	b.block = is_now ? block_now : block;
	if (is_now && is_whole) {
		*ret = b;
		*ret_arm = arm_now;
		return err_set(e, EALREADY,
			       "this boot is measured already (block %u, arm %c); boot the other "
			       "kernel and call again",
			       block_now + 1, "AB"[arm_now]);
	}
	if (choose_arm(&b, kernel, ret_arm, e) < 0)
		return -EINVAL;
	*ret = b;
	return 0;
}
