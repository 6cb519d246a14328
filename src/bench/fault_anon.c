/* SPDX-License-Identifier: MIT */
/*
 * fault.anon - page faults of anonymous memory, and what populating saves.
 *
 * Measures:  mmap, the call that fills (if any), the first touches, and munmap; each apart.
 * Excludes:  what the program does with the pages.
 * Trust:     faults by the kernel's count for the thread, resident size by smaps.
 */
#include "bench/fault.h"

static const struct param params[] = {
	FAULT_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"A mapping of anonymous memory is made, its pages are touched for the first time, and it\n"
	"is unmapped. page_ns is all of that per base page mapped, fault_ns the touches per fault\n"
	"that they took: with huge pages, or populated mappings, the two are not alike. The first\n"
	"pass of a process is apart (first_page_ns): in a virtual machine it can pay for the host's\n"
	"memory, too.\n"
	"\n"
	"access=read maps the zero page everywhere and allocates nothing; access=write allocates\n"
	"and clears a page a fault; access=read-write does one after the other and faults twice.\n"
	"fill=... populates all of the mapping by one call: cheaper for each page, but for pages\n"
	"that are never used as well. used=auto measures the whole curve, and where it crosses\n"
	"that of fill=demand is the break-even (fact fault.break_even). threads=N touches from\n"
	"several CPUs: mapping=one shares a mapping and its lock, mapping=each does not.";

static const char *const examples[] = {
	"pagetoll run fault.anon access=read,write,read-write",
	"pagetoll run fault.anon access=write page=base,thp fill=demand,populate-write",
	"pagetoll run fault.anon access=write used=auto spread=scattered fill=demand,populate-write",
	"pagetoll run fault.anon access=write threads=1,2 mapping=one,each",
	NULL,
};

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	(void)max_inner;
	return fault_cost(FAULT_ANON, m, s, ret_cost, e);
}

static int setup(struct bench_ctx *ctx, void *state)
{
	return fault_setup(ctx, state, FAULT_ANON);
}

const struct bench bench_fault_anon = {
	.schema = { .name = "fault.anon",
		    .summary = "page faults of anonymous memory, and what populating saves",
		    .revision = 1,
		    .params = params,
		    .metrics = fault_metrics },
	.description = description,
	.examples = examples,
	.smoke = "size=2m",
	.faults_are_measured = true,
	.state_size = sizeof(struct fault_state),
	.grid = fault_grid,
	.cost = cost,
	.setup = setup,
	.prepare = fault_prepare,
	.sample = fault_sample,
	.check = fault_check,
	.teardown = fault_teardown,
};
