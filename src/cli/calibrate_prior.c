// SPDX-License-Identifier: MIT
#include "cli/calibrate_prior.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static bool has_word(const char *text, const char *word)
{
	return text && strstr(text, word);
}

/* "AMD" of AuthenticAMD; NULL: unknown. */
static const char *maker_of(const struct run *r)
{
	static const struct {
		const char *vendor, *word;
	} known[] = { { "AuthenticAMD", "AMD" },
		      { "GenuineIntel", "Intel" },
		      { "ARM", "Neoverse" },
		      { "Itanium", "Itanium" } };
	const char *vendor = attrs_text(&r->fingerprint, "vendor", NULL);
	const char *cpu = attrs_text(&r->fingerprint, "cpu", NULL);
	const char *arch = attrs_text(&r->fingerprint, "arch", NULL);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (has_word(vendor, known[i].vendor) || has_word(cpu, known[i].vendor))
			return known[i].word;
	if (has_word(arch, "aarch64"))
		return "Neoverse";
	return has_word(arch, "ia64") ? "Itanium" : NULL;
}

/* How much of what the run tells the machine has, and of what. */
static int likeness(const struct sim_machine *m, const struct run *r, struct str *why)
{
	static const char *const caches[] = { "cache.l1d_bytes", "cache.l2_bytes",
					      "cache.l3_bytes" };
	const char *cpu = attrs_text(&r->fingerprint, "cpu", "");
	int points = 0;
	char path[64];

	for (size_t i = 0; i < 3 && i < m->n_caches; i++) {
		const int64_t bytes = attrs_int(&r->fingerprint, caches[i], -1);

		if (bytes < 0 || (uint64_t)bytes != m->caches[i].size_bytes)
			continue;
		points += 2;
		str_addf(why, "%s%s", why->len ? ", " : "", m->caches[i].name);
	}
	for (size_t i = 0; i < m->n_tlbs; i++) {
		snprintf(path, sizeof(path), "advertised.dtlb%u.4k", m->tlbs[i].level);
		if (m->tlbs[i].pages[0] != m->core.page_bytes ||
		    attrs_int(&r->fingerprint, path, -1) != (int64_t)m->tlbs[i].shape.entries)
			continue;
		points += 2;
		str_addf(why, "%s%s", why->len ? ", " : "", m->tlbs[i].name);
	}
	for (const char *word = m->summary; word; word = strchr(word, ' ')) {
		char token[24];

		word += strspn(word, " (,");
		/* a model's number: "7763", "8480" */
		if (sscanf(word, "%23[0-9A-Za-z]", token) == 1 && strlen(token) >= 4 &&
		    strspn(token, "0123456789") >= 3 && strstr(cpu, token))
			points += 20;
	}
	return points;
}

struct sim_machine *prior_choose(const struct run *r, struct str *ret_why, struct err *e)
{
	const char *maker = maker_of(r);
	struct sim_machine *best = NULL;
	int most = -1;

	for (const struct sim_embedded *x = sim_embedded_machines; maker && x->name; x++) {
		struct sim_machine *m = NULL;
		struct str why = { 0 };
		int points;

		if (sim_machine_read(x->data, x->n, &m, e) < 0)
			break;
		points = has_word(m->summary, maker) ? likeness(m, r, &why) : -1;
		if (points > most) {
			sim_machine_free(best);
			best = m;
			m = NULL;
			most = points;
			str_clear(ret_why);
			str_addf(ret_why, "%s; alike: %s", maker, why.len ? str_text(&why) : "-");
		}
		sim_machine_free(m);
		str_done(&why);
	}
	if (!best)
		err_set(e, EINVAL,
			"no described machine is by the maker of this CPU (%s); name the nearest "
			"with --machine ('pagetoll predict --machines' lists them)",
			attrs_text(&r->fingerprint, "vendor",
				   attrs_text(&r->fingerprint, "cpu", "the run does not tell")));
	return best;
}

static int set_cache(struct sim_machine *m, size_t i, int64_t bytes, const char *source)
{
	struct sim_cache *c = &m->caches[i];
	const uint64_t before = c->size_bytes;
	char path[48];

	if (bytes <= 0 || (uint64_t)bytes == before)
		return 0;
	c->size_bytes = (uint64_t)bytes;
	if (sim_machine_check(m, NULL) < 0) {
		c->size_bytes = before; /* not of these ways: another kind of cache */
		return 0;
	}
	snprintf(path, sizeof(path), "caches[%zu].size", i);
	return sim_machine_set_source(m, path, source);
}

int prior_adapt(struct sim_machine *m, const struct run *r, const char *source, struct err *e)
{
	static const char *const caches[] = { "cache.l1d_bytes", "cache.l2_bytes",
					      "cache.l3_bytes" };
	const int64_t page = attrs_int(&r->fingerprint, "page_bytes", 0);
	const int64_t levels = attrs_int(&r->fingerprint, "paging_levels", 0);
	const int64_t nodes = attrs_int(&r->fingerprint, "nodes", 0);
	char has[UNITS_TEXT_BYTES], wants[UNITS_TEXT_BYTES];
	int rc = 0;

	if (page > 0 && (uint64_t)page != m->core.page_bytes)
		return err_set(
			e, EINVAL,
			"the run has base pages of %s, %s of %s; name another with --machine",
			format_size(has, (uint64_t)page), m->name,
			format_size(wants, m->core.page_bytes));
	for (size_t i = 0; i < 3 && i < m->n_caches && rc == 0; i++)
		rc = set_cache(m, i, attrs_int(&r->fingerprint, caches[i], 0), source);
	if (rc == 0 && levels >= 2 && levels <= SIM_LEVELS_MAX &&
	    levels != (int64_t)m->core.levels) {
		m->core.levels = (uint32_t)levels;
		rc = sim_machine_set_source(m, "core.levels", source);
	}
	if (rc == 0 && nodes > (int64_t)m->memory.nodes && nodes <= SIM_NODES_MAX &&
	    !m->memory.latency_ns) {
		m->memory.nodes = (uint32_t)nodes;
		rc = sim_machine_set_source(m, "memory.nodes", source);
	}
	if (rc == 0 && sim_machine_check(m, e) < 0)
		return -EINVAL;
	return rc < 0 ? err_set(e, ENOMEM, "out of memory") : 0;
}
