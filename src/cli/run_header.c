// SPDX-License-Identifier: MIT
#include "cli/run_header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/escape.h"
#include "base/rng.h"
#include "base/str.h"
#include "cli/cli.h"
#include "host/clock.h"
#include "host/doctor.h"

uint64_t random_seed(void)
{
	uint64_t bits;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) == (ssize_t)sizeof(bits))
		return bits;
	return rng_mix64((uint64_t)clock_unix_ns());
}

/* So that a shell reads the word back as it was. */
static void add_quoted(struct str *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=,./:~@%";

	if (*word && word[strspn(word, plain)] == '\0') {
		str_add(out, word);
		return;
	}
	str_add(out, "'");
	for (; *word; word++) {
		if (*word == '\'')
			str_add(out, "'\\''");
		else
			str_add_n(out, word, 1);
	}
	str_add(out, "'");
}

static const char *command_line(struct arena *a, int argc, char **argv)
{
	struct str raw = { 0 }, clean = { 0 };
	const char *text = NULL;

	str_add(&raw, "pagetoll");
	for (int i = 0; i < argc; i++) {
		str_add(&raw, " ");
		add_quoted(&raw, argv[i]);
	}
	escape_terminal(&clean, str_text(&raw)); /* a run file holds valid UTF-8 only */
	if (!raw.failed && !clean.failed)
		text = arena_strdup(a, str_text(&clean));
	str_done(&raw);
	str_done(&clean);
	return text;
}

static int add_context(struct run *r, const struct plan *p)
{
	struct clock_quality clock;
	char seed[24];
	int rc;

	clock_measure(&clock);
	snprintf(seed, sizeof(seed), "%" PRIu64, p->seed);
	rc = attrs_set_real(&r->arena, &r->context, "timer_cost_ns", clock.cost_ns);
	if (rc == 0)
		rc = attrs_set_real(&r->arena, &r->context, "timer_resolution_ns",
				    clock.resolution_ns);
	/* As text: JSON readers round integers beyond 2^53. */
	if (rc == 0)
		rc = attrs_set_text(&r->arena, &r->context, "seed", seed);
	if (rc == 0)
		rc = attrs_set_real(&r->arena, &r->context, "budget_seconds", p->budget_seconds);
	return rc;
}

/* Where a grid ends earlier than it would, and why: "capped.1", "capped.2"... */
static int add_notes(struct run *r, const struct plan *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct planned *q = &p->v[i];
		const char *name, *text;

		if (!q->note)
			continue;
		name = arena_printf(&r->arena, "capped.%u", ++n);
		text = arena_printf(&r->arena, "%s page=%s: %s", q->bench->schema.name,
				    attrs_text(&q->setting.given, "page", "?"), q->note);
		if (!name || !text || attrs_set_text(&r->arena, &r->context, name, text) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_schemas(struct run *r, const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		int rc = run_add_schema(r, &p->v[i].bench->schema);

		if (rc)
			return rc;
	}
	return 0;
}

int run_header_begin(struct run *r, const struct sysroot *sr, const struct machine *m,
		     const char *label, int argc, char **argv, struct err *e)
{
	char id[27];
	int rc;

	r->schema_version = RUN_SCHEMA_VERSION;
	r->start_unix_ns = clock_unix_ns();
	run_make_id(id, r->start_unix_ns, random_seed());
	r->id = arena_strdup(&r->arena, id);
	r->source = "measured here";
	r->label = label ? arena_strdup(&r->arena, label) : NULL;
	r->origin = ORIGIN_MEASURED;
	r->version = cli_version();
	r->command = command_line(&r->arena, argc, argv);
	if (!r->id || !r->command || (label && !r->label))
		return err_set(e, ENOMEM, "out of memory");
	rc = fingerprint_read(sr, m, r, e);
	if (rc == 0)
		rc = doctor_examine(sr, m, r, e);
	return rc ? err_set(e, -rc, "cannot describe the run: %s", strerror(-rc)) : 0;
}

int run_header_fill(struct run *r, const struct plan *p, const struct sysroot *sr,
		    const struct machine *m, const char *label, int argc, char **argv,
		    struct err *e)
{
	int rc = run_header_begin(r, sr, m, label, argc, argv, e);

	r->preset = p->preset->name;
	if (rc == 0)
		rc = add_context(r, p);
	if (rc == 0)
		rc = add_notes(r, p);
	if (rc == 0)
		rc = add_schemas(r, p);
	return rc ? err_set(e, -rc, "cannot describe the run: %s", strerror(-rc)) : 0;
}
