/* SPDX-License-Identifier: MIT */
/* Evidence of the pointer chases: what backs the memory, where pages and page tables lie. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/chase.h"
#include "mem/proof.h"

enum { WITNESS_TABLES = 4096, WITNESS_ATTEMPTS = 4, TABLES_COUNTED_MIN = 256 };
enum { OTHERS_TABLES = 4 }; /* made while populating, for the stack or the heap */
/* Shares below which evidence is contrary: a few pages may differ, more may not. */
static const double MOSTLY = 0.95;

static void contrary(struct chase_run *run, const char *text)
{
	if (!run->contrary[0])
		snprintf(run->contrary, sizeof(run->contrary), "%s", text);
}

static void prove_huge_zero(struct bench_ctx *ctx, struct chase_run *run)
{
	int64_t faults = proof_huge_faults(&run->region, run->sample, run->n_sample,
					   (uint64_t)sysconf(_SC_PAGESIZE));

	bench_proof_int(ctx, "faults_inside_huge_pages", faults);
	if (faults > 0)
		contrary(run, "the zero pages are small ones: the kernel gave no huge zero page "
			      "(transparent_hugepage/use_zero_page)");
}

static void prove_page_size(struct bench_ctx *ctx, struct chase_run *run,
			    const struct proof_pages *p, uint64_t expected)
{
	const struct region_spec *s = &run->region.spec;
	char text[256];

	bench_proof_int(ctx, "rss_bytes", p->rss_bytes);
	bench_proof_int(ctx, "huge_bytes", p->huge_bytes);
	bench_proof_int(ctx, "kernel_page_bytes", p->kernel_page_bytes);
	if (s->backing == BACKING_ZERO) {
		if (p->rss_bytes > 0)
			contrary(run, "memory of its own lies where only zero pages should");
		if (s->kind == PAGE_KIND_THP)
			prove_huge_zero(ctx, run);
		return;
	}
	/* Before what is resident: a small page instead of each huge one is little memory, too. */
	if ((s->kind == PAGE_KIND_THP || s->kind == PAGE_KIND_HUGETLB) &&
	    (double)p->huge_bytes < MOSTLY * (double)expected) {
		snprintf(text, sizeof(text),
			 "only %.0f %% of the memory are huge pages (fragmented memory? see "
			 "thp_fault_fallback in /proc/vmstat)",
			 100.0 * (double)p->huge_bytes / (double)expected);
		contrary(run, text);
	}
	if (s->backing != BACKING_MEMFD && (double)p->rss_bytes < MOSTLY * (double)expected) {
		snprintf(text, sizeof(text), "only %jd of %ju bytes are resident",
			 (intmax_t)p->rss_bytes, (uintmax_t)expected);
		if (s->kind != PAGE_KIND_HUGETLB) /* not part of Rss */
			contrary(run, text);
	}
	if ((s->kind == PAGE_KIND_BASE || s->kind == PAGE_KIND_MTHP) && p->huge_bytes > 0) {
		snprintf(text, sizeof(text), "%jd bytes are huge pages, small ones were asked for",
			 (intmax_t)p->huge_bytes);
		contrary(run, text);
	}
}

/* Frames tell what smaps cannot: one shared page, contiguity, mTHP. */
static void prove_frames(struct bench_ctx *ctx, struct chase_run *run)
{
	const struct region_spec *s = &run->region.spec;
	bool dense = run->chase.stride_bytes == (uint64_t)sysconf(_SC_PAGESIZE);
	int64_t asked, frames, follow;
	int result;

	if (s->kind == PAGE_KIND_THP || s->kind == PAGE_KIND_HUGETLB)
		return;
	if (s->backing == BACKING_DISTINCT && s->kind == PAGE_KIND_BASE)
		return;
	result = proof_frames(&run->region, run->sample, run->n_sample, &asked, &frames, &follow);
	if (result < 0) {
		bench_unproven(
			ctx,
			"frames behind the pages: pagemap hides them (%s); run as root to see "
			"them",
			strerror(-result));
		return;
	}
	bench_proof_int(ctx, "frames_sampled", asked);
	bench_proof_int(ctx, "frames_different", frames);
	if (s->backing == BACKING_ZERO && frames > 1)
		contrary(run, "more than one frame lies behind the zero page");
	if (s->backing == BACKING_MEMFD && frames > REGION_MEMFD_CHUNK_PAGES)
		contrary(run, "more frames than the file has pages");
	if (s->backing == BACKING_CONTIGUOUS && dense) {
		bench_proof_int(ctx, "frames_following", follow);
		if ((double)follow < MOSTLY * (double)(asked - 1))
			contrary(run, "the frames are not contiguous");
	}
}

/* mTHP: the small pages of one element's page must have frames side by side, aligned to its size.
 */
static void prove_mthp(struct bench_ctx *ctx, struct chase_run *run)
{
	uint64_t base_page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t page = run->region.spec.page_bytes, each = page / base_page;
	uint64_t *inside = calloc(each, sizeof(*inside));
	int64_t whole = 0, sampled = 0;
	int result = inside ? 0 : -ENOMEM;

	for (size_t k = 0; k < run->n_sample && sampled < 64 && result == 0; k++) {
		int64_t asked, frames, follow;

		for (uint64_t i = 0; i < each; i++)
			inside[i] = (run->sample[k] & ~(page - 1)) + i * base_page;
		result = proof_frames(&run->region, inside, each, &asked, &frames, &follow);
		sampled++;
		whole += result == 0 && follow == asked - 1;
	}
	free(inside);
	if (result == -ENXIO)
		result = 0; /* a small page inside is not mapped at all: it counts as not whole */
	if (result < 0) {
		bench_unproven(ctx, "mTHP: pagemap hides the frames (%s)", strerror(-result));
		return;
	}
	bench_proof_int(ctx, "mthp_sampled", sampled);
	bench_proof_int(ctx, "mthp_whole", whole);
	if ((double)whole < MOSTLY * (double)sampled)
		contrary(run, "the kernel did not back the memory with pages of this mTHP size");
}

/* Every small page that is its own faults once; fewer faults mean that larger folios came. */
static void prove_faults(struct chase_run *run, uint64_t expected_bytes)
{
	const struct region *r = &run->region;
	uint64_t pages = expected_bytes / r->spec.page_bytes;
	char text[160];

	if (r->spec.kind != PAGE_KIND_BASE || r->spec.backing != BACKING_DISTINCT ||
	    (double)r->faults >= MOSTLY * (double)pages)
		return;
	snprintf(text, sizeof(text),
		 "%jd page faults populated %ju small pages: larger folios lie behind them",
		 (intmax_t)r->faults, (uintmax_t)pages);
	contrary(run, text);
}

static void prove_data_nodes(struct bench_ctx *ctx, struct chase_run *run)
{
	struct region *r = &run->region;
	struct proof_nodes p;
	int result;

	if (r->spec.data_node < 0 || r->spec.backing == BACKING_ZERO)
		return;
	if (r->data_error < 0)
		bench_unproven(ctx, "data placement: mbind is denied (%s)",
			       strerror(-r->data_error));
	result = proof_data_nodes(r, run->sample, run->n_sample, r->spec.data_node, &p);
	if (result < 0) {
		bench_unproven(ctx, "data placement: move_pages is denied (%s)", strerror(-result));
		return;
	}
	bench_proof_int(ctx, "data_pages_sampled", p.asked);
	bench_proof_int(ctx, "data_pages_on_node", p.on_node);
	if (p.on_node < p.asked)
		contrary(run, "data pages lie on another node than asked for");
}

void chase_prove_table_nodes(struct bench_ctx *ctx, struct chase_run *run)
{
	struct region *r = &run->region;
	struct proof_tables p = { 0 };
	struct err e = { 0 };
	bool right = false;

	if (r->spec.table_node < 0)
		return;
	if (r->table_error < 0) {
		bench_unproven(ctx, "page-table placement: set_mempolicy is denied (%s)",
			       strerror(-r->table_error));
		return;
	}
	/* Other processes' tables come and go in the same counters: a disturbed witness is
	 * repeated. */
	for (int attempt = 0; attempt < WITNESS_ATTEMPTS; attempt++) {
		if (proof_table_nodes(r->spec.table_node, (uint64_t)sysconf(_SC_PAGESIZE),
				      WITNESS_TABLES, &p, &e) < 0) {
			bench_unproven(ctx, "page-table placement: %s", e.msg);
			return;
		}
		right = (double)p.on_node >= MOSTLY * (double)p.tables &&
			p.elsewhere < p.tables / 2;
		if (right)
			break;
	}
	bench_proof_int(ctx, "witness_tables", p.tables);
	bench_proof_int(ctx, "witness_tables_on_node", p.on_node);
	bench_proof_int(ctx, "witness_tables_elsewhere", p.elsewhere);
	if (!right)
		contrary(run, "page tables lie on another node than asked for");
}

/*
 * The witness shows that the policy works, not that the measured region was populated under it: its
 * own tables must be seen too, where they are many enough to stand out. It cannot be repeated, so
 * only what other processes could hardly have caused on both sides counts as contrary.
 */
static void prove_own_tables(struct bench_ctx *ctx, struct chase_run *run, uint64_t expected)
{
	const struct region *r = &run->region;
	int64_t tables = (int64_t)(expected / (uint64_t)sysconf(_SC_PAGESIZE));

	if (!r->tables_counted || r->table_error < 0 || tables < TABLES_COUNTED_MIN)
		return;
	bench_proof_int(ctx, "own_tables", tables);
	bench_proof_int(ctx, "own_tables_on_node", r->tables_on_node);
	bench_proof_int(ctx, "own_tables_elsewhere", r->tables_elsewhere);
	if (r->tables_on_node < tables / 2 && r->tables_elsewhere > tables / 2)
		contrary(run, "the measured memory's page tables lie on another node than asked "
			      "for");
}

static void prove_tables(struct bench_ctx *ctx, struct chase_run *run, uint64_t expected)
{
	const struct region *r = &run->region;
	int64_t made = r->table_bytes_after - r->table_bytes_before;
	char text[160];

	if (r->table_bytes_before < 0 || r->table_bytes_after < 0) {
		bench_unproven(ctx, "page-table memory: VmPTE cannot be read");
		return;
	}
	bench_proof_int(ctx, "page_table_bytes", made);
	bench_proof_int(ctx, "page_tables_expected_bytes", (int64_t)expected);
	if ((double)made < MOSTLY * (double)expected) {
		snprintf(text, sizeof(text),
			 "%jd bytes of page tables were made, %ju were expected", (intmax_t)made,
			 (uintmax_t)expected);
		contrary(run, text);
	}
}

void chase_prove_no_more_tables(struct chase_run *run, uint64_t planned_bytes)
{
	const struct region *r = &run->region;
	int64_t made = r->table_bytes_after - r->table_bytes_before;
	char text[160];

	if (r->table_bytes_before < 0 || r->table_bytes_after < 0 ||
	    made <= (int64_t)planned_bytes + OTHERS_TABLES * sysconf(_SC_PAGESIZE))
		return;
	snprintf(text, sizeof(text), "%jd bytes of page tables were made, only %ju were planned",
		 (intmax_t)made, (uintmax_t)planned_bytes);
	contrary(run, text);
}

void chase_prove_pages(struct bench_ctx *ctx, struct chase_run *run, uint64_t expected_bytes,
		       uint64_t expected_tables)
{
	struct proof_pages pages;
	struct err e = { 0 };

	bench_proof_int(ctx, "populate_faults", run->region.faults);
	prove_faults(run, expected_bytes);
	prove_tables(ctx, run, expected_tables);
	if (proof_pages(&run->region, &pages, &e) < 0)
		bench_unproven(ctx, "page size: %s", e.msg);
	else
		prove_page_size(ctx, run, &pages, expected_bytes);
	if (run->region.spec.kind == PAGE_KIND_MTHP)
		prove_mthp(ctx, run);
	else
		prove_frames(ctx, run);
	prove_data_nodes(ctx, run);
	prove_own_tables(ctx, run, expected_tables);
}

void chase_prove(struct bench_ctx *ctx, struct chase_run *run, uint64_t expected_bytes,
		 uint64_t expected_tables)
{
	chase_prove_pages(ctx, run, expected_bytes, expected_tables);
	chase_prove_table_nodes(ctx, run);
}
