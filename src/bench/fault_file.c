/* SPDX-License-Identifier: MIT */
/*
 * fault.file - page faults of a file that is in memory already.
 *
 * Measures:  mmap, the call that fills (if any), the first touches, and munmap; each apart.
 * Excludes:  reading the file from a disk: it is written just before.
 * Trust:     faults by the kernel's count for the thread, resident size by smaps.
 */
#include "bench/exec_run.h"
#include "bench/fault.h"

static const char *const folios_words[] = { "large", "small", NULL };

static const struct param params[] = {
	FAULT_PARAMS,
	{ .name = "folios",
	  .summary = "written in large pieces, or page by page: what the page cache keeps it in",
	  .type = PARAM_CHOICE,
	  .def = "large",
	  .choices = folios_words },
	{ .name = "fault-around",
	  .summary = "what a fault on a file maps around it; written to the kernel, as root",
	  .type = PARAM_CHOICE,
	  .def = "keep",
	  .choices = exec_around_words,
	  .setting = "fault-around-bytes" },
	{ .name = NULL },
};

static const char description[] =
	"A private mapping of a file whose pages are in the page cache is made, touched, and\n"
	"unmapped. The file has no name; it lies in the folder of TMPDIR, whose file system the\n"
	"proof names: file systems differ in the size of the folios that they keep.\n"
	"\n"
	"A read fault maps the pages around it that are there (fault-around, 64 KiB unless\n"
	"changed): fault-around=4k,64k,2m sets that as root and puts it back. fill=map-populate\n"
	"and fill=populate-read map everything at once; fill=willneed only reads ahead. Which is\n"
	"better depends on how much of the mapping is used: used=auto with fill=demand and another\n"
	"fill gives the break-even. access=write copies each page.\n"
	"\n"
	"folios=large writes the file in pieces of 1 MiB: a file system with large folios keeps\n"
	"it so, and a fault maps a whole folio. folios=small writes it page by page. The proof\n"
	"large_folio_pages tells what it became.";

static const char *const examples[] = {
	"pagetoll run fault.file fill=demand,populate-read",
	"pagetoll run fault.file used=auto spread=prefix,scattered fill=demand,populate-read",
	"sudo pagetoll run fault.file fault-around=4k,64k,2m",
	NULL,
};

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	(void)max_inner;
	return fault_cost(FAULT_FILE, m, s, ret_cost, e);
}

static int setup(struct bench_ctx *ctx, void *state)
{
	int result = fault_setup(ctx, state, FAULT_FILE);

	exec_prove_around(ctx);
	return result;
}

const struct bench bench_fault_file = {
	.schema = { .name = "fault.file",
		    .summary = "page faults of a file that is in memory already",
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
