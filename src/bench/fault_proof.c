/* SPDX-License-Identifier: MIT */
/*
 * Evidence of the fault family: one more pass, held before it is unmapped, and what smaps says of
 * it; and the faults that all passes of the point took.
 */
#include <string.h>

#include "bench/fault.h"
#include "mem/proof.h"

/* Shares within which evidence agrees. */
static const double MOSTLY = 0.95, HARDLY = 0.05;

/* Whether the call that fills leaves nothing to fault for this access. */
static bool fill_covers(const struct fault_spec *s)
{
	switch (s->fill) {
	case FILL_MAP_POPULATE:
	case FILL_POPULATE_WRITE:
		return true;
	case FILL_POPULATE_READ:
		return s->access == ACCESS_READ;
	case FILL_DEMAND:
	case FILL_WILLNEED:
		break;
	}
	return false;
}

/* Anonymous pages that were only read are the zero page, which is not resident. */
static bool only_zero_pages(const struct fault_spec *s)
{
	return s->kind == FAULT_ANON && s->access == ACCESS_READ &&
	       s->page_kind != PAGE_KIND_HUGETLB;
}

static int prove_faults(struct bench_ctx *ctx, const struct fault_state *s)
{
	double touches = (double)s->touches, faults = (double)s->faults_on_touch;
	bool small = s->spec.page_kind == PAGE_KIND_BASE;

	bench_proof_int(ctx, "touches", s->touches);
	bench_proof_int(ctx, "touch_faults", s->faults_on_touch);
	bench_proof_int(ctx, "fill_faults", s->faults_on_fill);
	if (fill_covers(&s->spec) && faults > HARDLY * touches + 16)
		return bench_invalid(ctx,
				     "%jd faults for %jd touches of pages that were to be there "
				     "already",
				     (intmax_t)s->faults_on_touch, (intmax_t)s->touches);
	if (s->spec.kind == FAULT_ANON && s->spec.fill == FILL_DEMAND && small &&
	    faults < MOSTLY * touches)
		return bench_invalid(ctx, "only %jd faults for %jd touches: larger pages came in",
				     (intmax_t)s->faults_on_touch, (intmax_t)s->touches);
	return 0;
}

static int prove_huge(struct bench_ctx *ctx, const struct fault_state *s,
		      const struct proof_pages *p)
{
	enum page_kind kind = s->spec.page_kind;
	bool whole = s->used == s->pages && !only_zero_pages(&s->spec);

	if ((kind == PAGE_KIND_BASE || kind == PAGE_KIND_MTHP) && p->huge_bytes > 0 &&
	    s->spec.kind != FAULT_FILE)
		return bench_invalid(ctx, "%jd bytes are huge pages, others were asked for",
				     (intmax_t)p->huge_bytes);
	if ((kind == PAGE_KIND_THP || kind == PAGE_KIND_HUGETLB) && whole &&
	    (double)p->huge_bytes < MOSTLY * (double)s->spec.bytes)
		return bench_invalid(ctx, "only %jd of %ju bytes are huge pages",
				     (intmax_t)p->huge_bytes, (uintmax_t)s->spec.bytes);
	if (s->spec.kind == FAULT_FILE)
		bench_proof_int(ctx, "file_huge_bytes", p->huge_bytes);
	return 0;
}

static int prove_resident(struct bench_ctx *ctx, const struct fault_state *s,
			  const struct proof_pages *p)
{
	double used = (double)(s->used * s->spec.base_bytes), rss = (double)p->rss_bytes;

	if (s->spec.page_kind == PAGE_KIND_HUGETLB)
		return 0; /* not part of Rss */
	if (only_zero_pages(&s->spec) && rss > HARDLY * (double)s->spec.bytes)
		return bench_invalid(ctx, "%jd bytes are resident though all was only read",
				     (intmax_t)p->rss_bytes);
	if (!only_zero_pages(&s->spec) && rss < MOSTLY * used)
		return bench_invalid(ctx, "only %jd of %.0f bytes touched are resident",
				     (intmax_t)p->rss_bytes, used);
	return 0;
}

/* Where the page cache keeps the file in folios larger than a page, a fault maps more. */
static void prove_folios(struct bench_ctx *ctx, struct fault_state *s, const struct region *r)
{
	enum { SAMPLED = 256 };
	uint64_t offsets[SAMPLED];
	size_t n = s->used < SAMPLED ? s->used : SAMPLED;
	int64_t asked, large;
	int result;

	if (s->spec.kind != FAULT_FILE || n == 0 || s->spec.access != ACCESS_READ)
		return;
	for (size_t i = 0; i < n; i++)
		offsets[i] = s->list[s->used * i / n] * s->spec.base_bytes;
	result = proof_large_folios(r, offsets, n, &asked, &large);
	if (result < 0) {
		bench_unproven(ctx, "large folios: /proc/kpageflags hides them (%s); run as root",
			       strerror(-result));
		return;
	}
	bench_proof_int(ctx, "folio_pages_sampled", asked);
	bench_proof_int(ctx, "large_folio_pages", large);
}

int fault_prove(struct bench_ctx *ctx, struct fault_state *s)
{
	struct fault_part *part = &s->parts[0];
	struct region as_region = { .spec = { .span_bytes = s->spec.bytes } };
	struct proof_pages p;
	int result = -1;

	if (fault_map(&s->spec, part) == 0 && fault_fill(&s->spec, part) == 0) {
		fault_touch(&s->spec, part, s->list, s->used);
		as_region.base = part->base;
		result = proof_pages(&as_region, &p, NULL);
		prove_folios(ctx, s, &as_region);
	}
	fault_unmap(&s->spec, part);
	if (prove_faults(ctx, s) != 0)
		return 1;
	if (result < 0) {
		bench_unproven(ctx, "what is resident: smaps cannot be read (%s)",
			       part->code < 0 ? part->failed : strerror(-result));
		return 0;
	}
	bench_exact(ctx, M_RSS,
		    s->spec.page_kind == PAGE_KIND_HUGETLB ? p.huge_bytes : p.rss_bytes);
	bench_proof_int(ctx, "huge_bytes", p.huge_bytes);
	return prove_huge(ctx, s, &p) != 0 || prove_resident(ctx, s, &p) != 0;
}
