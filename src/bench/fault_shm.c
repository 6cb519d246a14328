/* SPDX-License-Identifier: MIT */
/*
 * fault.shm - page faults of shared memory.
 *
 * Measures:  mmap, the call that fills (if any), the first touches, and munmap; each apart.
 * Excludes:  what other processes that map it pay (tables.shared).
 * Trust:     faults by the kernel's count for the thread, resident size by smaps.
 */
#include "bench/fault.h"
#include "bench/shared_huge.h"

static const struct param params[] = {
	FAULT_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"A memory segment (memfd) is created anew, mapped shared, touched for the first time, and\n"
	"unmapped. A read allocates pages here, too: a hole of a shared segment has no zero page.\n"
	"page=thp needs /sys/kernel/mm/transparent_hugepage/shmem_enabled at advise or always.\n"
	"Parameters are those of fault.anon.";

static const char *const examples[] = {
	"pagetoll run fault.shm access=read,write",
	"pagetoll run fault.shm access=write fill=demand,populate-write page=base,thp",
	NULL,
};

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	(void)max_inner;
	return fault_cost(FAULT_SHM, m, s, ret_cost, e);
}

static int setup(struct bench_ctx *ctx, void *state)
{
	if (bench_skip_without_shared_huge(ctx) != 0)
		return 1;
	return fault_setup(ctx, state, FAULT_SHM);
}

const struct bench bench_fault_shm = {
	.schema = { .name = "fault.shm",
		    .summary = "page faults of shared memory",
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
