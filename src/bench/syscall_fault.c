/* SPDX-License-Identifier: MIT */
/*
 * syscall.fault - one page fault on anonymous memory.
 *
 * Measures:  time of the first write to a small page: entry, allocation, clearing, mapping.
 * Excludes:  making page tables (one page of the leaf table stays mapped) and giving pages back.
 * Trust:     the kernel's count of faults is one a call.
 * Source:    no published test; the same path into the kernel, for what this program is about.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/syscall.h"

enum { PAGES = 256 };

struct state {
	struct syscall_run run; /* first: see syscall_sample() */
	char *map, *base;
	size_t map_bytes;
	uint64_t page_bytes, next;
};

static const struct param params[] = {
	SYSCALL_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"The first write to an anonymous small page: an exception instead of a system call,\n"
	"through the kernel's fault path, with the allocation and clearing of the page. The\n"
	"leaf page table is there already. Hot, the pages are those that were just given back\n"
	"(still in the CPU's list of free pages).\n" SYSCALL_DESCRIPTION;

static const char *const examples[] = {
	"pagetoll run syscall.fault",
	"pagetoll run syscall.fault evict=both,tlb",
	NULL,
};

static void write_page(void *arg)
{
	struct state *s = arg;

	*(volatile char *)(s->base + s->next * s->page_bytes) = 1;
	s->next++;
}

/* Page 0 stays, so that the kernel does not give back the table (CONFIG_PT_RECLAIM). */
static void give_back(void *arg)
{
	struct state *s = arg;

	madvise(s->base + s->page_bytes, PAGES * s->page_bytes, MADV_DONTNEED);
	s->next = 1;
}

static const struct syscall_call call = {
	.call = write_page, .most = PAGES, .renew = give_back, .entries = -1, .faults = 1
};

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), table = page * (page / 8);

	s->page_bytes = page;
	s->map_bytes = 2 * table;
	s->map = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		return bench_fail(ctx, errno, "no address space of %zu bytes", s->map_bytes);
	}
	s->base = s->map + (table - (uintptr_t)s->map % table) % table;
	madvise(s->map, s->map_bytes, MADV_NOHUGEPAGE);
	*(volatile char *)s->base = 1;
	s->next = 1;
	return syscall_setup(ctx, &s->run, &call, s);
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (s->map)
		munmap(s->map, s->map_bytes);
	s->map = NULL;
	syscall_teardown(ctx, state);
}

const struct bench bench_syscall_fault = {
	.schema = { .name = "syscall.fault",
		    .summary = "one page fault on anonymous memory",
		    .revision = 1,
		    .params = params,
		    .metrics = syscall_metrics },
	.description = description,
	.examples = examples,
	.smoke = "evict=tlb",
	.faults_are_measured = true,
	.state_size = sizeof(struct state),
	.cost = syscall_cost,
	.setup = setup,
	.prepare = syscall_prepare,
	.sample = syscall_sample,
	.check = syscall_check,
	.teardown = teardown,
};
