/* SPDX-License-Identifier: MIT */
/* Common parts of the pointer chases: links, lists, repetitions, checksum. Proof is in
 * chase_proof.c. */
#include "bench/chase.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/clock.h"
#include "mem/chase_loops.h"
#include "mem/proof.h"

enum {
	SAMPLE_REFS = 60000, /* at least so many references a repetition */
	SAMPLE_REFS_MAX = 100000,
	LIST_MIN =
		256, /* a shorter list is repeated, so that its end is not seen every few loads */
};

const struct metric chase_metrics[] = {
	[M_REF_NS] = { "ref_ns", "time per reference", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_REF_CYCLES] = { "ref_cycles", "core cycles per reference", "cycles", BETTER_LOWER,
			   EST_MIN, FORM_SAMPLES },
	[M_ADD_NS] = { "add_ns",
		       "time per dependent addition around the repetition: one core cycle", "ns",
		       BETTER_NONE, EST_MIN, FORM_SAMPLES },
	[M_PAGE_TABLE_BYTES] = { "page_table_bytes", "page tables made for the region (VmPTE)",
				 "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ .name = NULL },
};

const char *const chase_order_words[] = { "random", "sequential", NULL };
const char *const chase_load_words[] = { "none", NULL };

enum chase_order chase_order_of(const struct bench_ctx *ctx)
{
	return strcmp(bench_text(ctx, "order"), "sequential") == 0 ? CHASE_SEQUENTIAL
								   : CHASE_RANDOM;
}

int chase_map_on(struct bench_ctx *ctx, struct chase_run *run, enum backing backing,
		 uint64_t span_bytes, int data_node, int table_node)
{
	struct region_spec spec = { .span_bytes = span_bytes,
				    .align_bytes = UINT64_C(1) << 21,
				    .data_node = data_node,
				    .table_node = table_node };

	/* Equal low address bits in every run, as far as the span goes, without reserving much
	 * more. */
	while (spec.align_bytes < bench_u64(ctx, "page.bytes") ||
	       (spec.align_bytes < span_bytes && spec.align_bytes < UINT64_C(1) << 30))
		spec.align_bytes *= 2;
	return chase_map_spec(ctx, run, backing, &spec);
}

int chase_map_spec(struct bench_ctx *ctx, struct chase_run *run, enum backing backing,
		   const struct region_spec *where)
{
	/* With one memory node there is nothing to choose, and the calls may be denied. */
	bool choose = proof_count_nodes() > 1;
	struct region_spec spec = *where;
	struct err e = { 0 };

	spec.kind = bench_page_kind(ctx);
	spec.page_bytes = bench_u64(ctx, "page.bytes");
	spec.backing = backing;
	spec.data_node = choose ? where->data_node : -1;
	spec.table_node = choose ? where->table_node : -1;
	run->region = REGION_NONE;
	if (region_map(&spec, &run->region, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	return 0;
}

int chase_map(struct bench_ctx *ctx, struct chase_run *run, enum backing backing,
	      uint64_t span_bytes)
{
	return chase_map_on(ctx, run, backing, span_bytes, (int)bench_u64(ctx, "data.node"),
			    (int)bench_u64(ctx, "page-tables.node"));
}

uint64_t chase_leaf_table_bytes(uint64_t bytes)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE);

	return bytes / (base * (base / sizeof(uint64_t))) * base;
}

int chase_populate_failed(struct bench_ctx *ctx, const struct chase_run *run, const struct err *e)
{
	if (e->code == ENOMEM && run->region.spec.kind == PAGE_KIND_HUGETLB)
		return bench_skip(ctx, "%s", e->msg);
	return bench_fail(ctx, e->code, "%s", e->msg);
}

int chase_start_load(struct bench_ctx *ctx, struct chase_run *run)
{
	const uint64_t bytes = UINT64_C(256) << 20;
	int node = (int)(int64_t)bench_u64(ctx, "load.node");
	int64_t cpu = (int64_t)bench_u64(ctx, "load.cpu");
	struct err e = { 0 };

	if (node < 0)
		return 0;
	if (cpu < 0)
		return bench_skip(ctx, "load=%d: no other CPU of that node is free for the load",
				  node);
	if (load_start((uint32_t)cpu, proof_count_nodes() < 2 ? -1 : node, bytes, &run->load, &e) <
	    0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	bench_proof_int(ctx, "load_cpu", cpu);
	bench_proof_int(ctx, "load_bytes", (int64_t)bytes);
	return 0;
}

uint64_t chase_run_offset(const struct chase_run *run, uint64_t i)
{
	return run->offsets ? run->offsets[i] : chase_offset(&run->chase, i);
}

void chase_link(struct chase_run *run)
{
	char *base = run->region.base;

	for (uint64_t i = 0; i < run->chase.n; i++) {
		char *from = base + chase_run_offset(run, i);
		char *to = base + chase_run_offset(run, chase_next(&run->chase, i));

		if (run->pair_bytes) {
			*(void **)(void *)from = from + run->pair_bytes;
			from += run->pair_bytes;
		}
		*(void **)(void *)from = to;
	}
	run->at = base + chase_run_offset(run, 0);
	run->steps = 0;
}

int chase_list_reserve(struct chase_run *run, size_t elements, struct err *e)
{
	size_t cap = elements < LIST_MIN ? 2 * LIST_MIN : elements;
	void *map = mmap(NULL, cap * sizeof(uintptr_t), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return err_set(e, errno, "no memory for a list of %zu addresses", cap);
	run->list = map;
	run->list_cap = cap;
	return 0;
}

void chase_list_fill(struct chase_run *run)
{
	uint64_t n = run->chase.n;
	uint64_t element = 0;

	for (uint64_t k = 0; k < n; k++) {
		run->list[k] = (uintptr_t)(run->region.base + chase_run_offset(run, element));
		element = chase_next(&run->chase, element);
	}
	run->list_n = n;
	while (run->list_n < LIST_MIN && run->list_n + n <= run->list_cap) {
		memcpy(run->list + run->list_n, run->list, n * sizeof(*run->list));
		run->list_n += n;
	}
	run->list_at = 0;
	run->list_sum = 0;
	run->words_read = 0;
}

/* References of one repetition: two rounds at least, but no endless ones. */
static uint64_t sample_refs(uint64_t n)
{
	uint64_t refs = 2 * n > SAMPLE_REFS ? 2 * n : SAMPLE_REFS;

	if (refs > SAMPLE_REFS_MAX)
		refs = SAMPLE_REFS_MAX;
	return refs / CHASE_UNROLL * CHASE_UNROLL;
}

uint64_t chase_advance(struct chase_run *run, uint64_t refs)
{
	if (!run->list) {
		run->at = chase_links(run->at, refs);
		run->steps += refs;
		return refs;
	}
	if (run->independent) {
		uint64_t rounds = refs > run->list_n ? refs / run->list_n : 1;

		run->list_sum += chase_list_independent(run->list, run->list_n, rounds);
		run->words_read += rounds * run->list_n;
		return rounds * run->list_n;
	}
	if (refs >= run->list_n) {
		uint64_t rounds = refs / run->list_n;

		run->list_sum += chase_list(run->list, run->list_n, rounds);
		return rounds * run->list_n;
	}
	if (refs > run->list_n - run->list_at)
		refs = run->list_n - run->list_at;
	run->list_sum += chase_list(run->list + run->list_at, refs, 1);
	run->list_at = (run->list_at + refs) % run->list_n;
	return refs;
}

void chase_warm(struct chase_run *run)
{
	chase_advance(run, sample_refs(run->chase.n));
}

int chase_sample(struct bench_ctx *ctx, void *state)
{
	struct chase_run *run = state;
	uint64_t refs = sample_refs(run->chase.n);
	int64_t start = clock_now_ns();
	uint64_t done = chase_advance(run, refs);
	double ns = (double)(clock_now_ns() - start) / (double)done;

	bench_value(ctx, M_REF_NS, ns);
	bench_value_cycles(ctx, M_REF_CYCLES, ns);
	return 0;
}

/* Where a linked chase must stand after run->steps steps. */
static const char *expected_position(const struct chase_run *run)
{
	uint64_t hops = run->pair_bytes ? run->steps / 2 : run->steps;
	const char *at = run->region.base + chase_run_offset(run, chase_element(&run->chase, hops));

	return run->pair_bytes && run->steps % 2 ? at + run->pair_bytes : at;
}

int chase_check(struct bench_ctx *ctx, void *state)
{
	const struct chase_run *run = state;
	/* Modulo 2^64 on both sides; words_read is a multiple of the elements. */
	uintptr_t sum = run->independent ? run->words_read / run->chase.n * run->word_sum : 0;
	bool right = run->list ? run->list_sum == sum : run->at == expected_position(run);

	bench_exact(ctx, M_PAGE_TABLE_BYTES,
		    run->region.table_bytes_after - run->region.table_bytes_before);
	bench_proof_text(ctx, "checksum", right ? "right" : "wrong");
	if (!right)
		return bench_invalid(
			ctx, run->independent ? "the words read do not sum up to what was written"
					      : "the chase does not stand where its steps lead");
	if (run->contrary[0])
		return bench_invalid(ctx, "%s", run->contrary);
	return 0;
}

void chase_teardown(struct bench_ctx *ctx, void *state)
{
	struct chase_run *run = state;

	(void)ctx;
	load_stop(&run->load);
	region_done(&run->region);
	if (run->list)
		munmap(run->list, run->list_cap * sizeof(*run->list));
	free(run->offsets);
	run->list = NULL;
	run->offsets = NULL;
}
