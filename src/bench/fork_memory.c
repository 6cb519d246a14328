/* SPDX-License-Identifier: MIT */
/* Memory and children of the fork family. Leaves out what is timed. */
#include "bench/fork_memory.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/shared_huge.h"
#include "host/clock.h"
#include "mem/linux_abi.h"
#include "mem/proof.h"

/* Shares below which evidence is contrary. */
static const double MOSTLY = 0.95;

const char *const fork_memory_words[] = { "anon", "file", "shared", NULL };

void fork_memory_init(struct fork_memory *f, const struct bench_ctx *ctx)
{
	const char *word = bench_text(ctx, "memory");

	*f = (struct fork_memory){ .region = REGION_NONE,
				   .file = TEMPFILE_NONE,
				   .segment = SEGMENT_NONE,
				   .page_bytes = bench_u64(ctx, "page.bytes") };
	for (int i = 0; fork_memory_words[i]; i++)
		if (strcmp(word, fork_memory_words[i]) == 0)
			f->kind = (enum fork_kind)i;
}

static int make_anonymous(struct fork_memory *f, enum page_kind kind, struct err *e)
{
	struct region_spec spec = { .span_bytes = f->bytes,
				    .kind = kind,
				    .page_bytes = f->page_bytes,
				    .backing = BACKING_DISTINCT,
				    .align_bytes = UINT64_C(1) << 30,
				    .data_node = -1,
				    .table_node = -1 };
	int result = region_map(&spec, &f->region, e);

	if (result == 0)
		result = region_populate_all(&f->region, f->bytes, e);
	f->base = f->region.base;
	return result;
}

static int map_file(struct fork_memory *f, struct err *e)
{
	void *map = mmap(NULL, f->bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, f->file.fd, 0);

	if (map == MAP_FAILED)
		return err_set(e, errno, "mapping a file: %s", strerror(errno));
	f->base = map;
	return 0;
}

static int map_shared(struct fork_memory *f, struct err *e)
{
	int result = segment_map(&f->segment, &f->map, e);

	if (result < 0)
		return result;
	f->base = f->map.base;
	if (madvise(f->base, f->bytes, MADV_POPULATE_WRITE) < 0)
		return err_set(e, errno, "mapping the pages of a segment: %s", strerror(errno));
	return 0;
}

static int failed(struct bench_ctx *ctx, const struct err *e)
{
	if (bench_page_kind(ctx) == PAGE_KIND_HUGETLB && e->code == ENOMEM)
		return bench_skip(ctx, "%s", e->msg);
	return bench_fail(ctx, e->code, "%s", e->msg);
}

int fork_memory_back(struct bench_ctx *ctx, struct fork_memory *f, uint64_t bytes)
{
	struct err e = { 0 };
	int result = 0;

	fork_memory_done(f);
	if (f->kind == FORK_SHARED && bench_skip_without_shared_huge(ctx) != 0)
		return 1;
	f->bytes = (bytes + f->page_bytes - 1) / f->page_bytes * f->page_bytes;
	if (f->kind == FORK_FILE)
		result = tempfile_create(f->bytes, TEMPFILE_PIECE_BYTES, &f->file, &e);
	else if (f->kind == FORK_SHARED)
		result = segment_create(bench_page_kind(ctx), f->page_bytes, f->bytes, &f->segment,
					&e);
	return result < 0 ? failed(ctx, &e) : 0;
}

int fork_memory_map(struct bench_ctx *ctx, struct fork_memory *f)
{
	struct err e = { 0 };
	int result;

	if (f->kind == FORK_ANON)
		result = make_anonymous(f, bench_page_kind(ctx), &e);
	else
		result = f->kind == FORK_FILE ? map_file(f, &e) : map_shared(f, &e);
	if (result == 0)
		return 0;
	fork_memory_unmap(f);
	return failed(ctx, &e);
}

int fork_memory_make(struct bench_ctx *ctx, struct fork_memory *f, uint64_t bytes)
{
	return fork_memory_back(ctx, f, bytes) != 0 || fork_memory_map(ctx, f) != 0;
}

void fork_memory_unmap(struct fork_memory *f)
{
	if (f->kind == FORK_ANON)
		region_done(&f->region);
	else if (f->kind == FORK_SHARED)
		segment_unmap(&f->map);
	else if (f->base)
		munmap(f->base, f->bytes);
	f->base = NULL;
}

void fork_memory_done(struct fork_memory *f)
{
	if (f->page_bytes == 0)
		return; /* never initialised */
	fork_memory_unmap(f);
	segment_done(&f->segment);
	tempfile_done(&f->file);
}

int fork_memory_prove(struct bench_ctx *ctx, const struct fork_memory *f)
{
	struct region as_region = { .base = f->base, .spec = { .span_bytes = f->bytes } };
	enum page_kind kind = bench_page_kind(ctx);
	struct proof_pages p;
	int result = proof_pages(&as_region, &p, NULL);

	if (f->kind == FORK_FILE)
		bench_proof_text(ctx, "filesystem", f->file.filesystem);
	if (result < 0) {
		bench_unproven(ctx, "what is mapped: smaps cannot be read (%s)", strerror(-result));
		return 0;
	}
	bench_proof_int(ctx, "rss_bytes", p.rss_bytes);
	bench_proof_int(ctx, "huge_bytes", p.huge_bytes);
	if (kind != PAGE_KIND_HUGETLB && (double)p.rss_bytes < MOSTLY * (double)f->bytes)
		return bench_invalid(ctx, "only %jd of %ju bytes are resident",
				     (intmax_t)p.rss_bytes, (uintmax_t)f->bytes);
	if (kind == PAGE_KIND_BASE && p.huge_bytes > 0)
		return bench_invalid(ctx, "%jd bytes are huge pages, small ones were asked for",
				     (intmax_t)p.huge_bytes);
	if ((kind == PAGE_KIND_THP || kind == PAGE_KIND_HUGETLB) &&
	    (double)p.huge_bytes < MOSTLY * (double)f->bytes)
		return bench_invalid(ctx, "only %jd of %ju bytes are huge pages",
				     (intmax_t)p.huge_bytes, (uintmax_t)f->bytes);
	return 0;
}

int fork_memory_cost(const struct machine *m, const struct bench_setting *s, uint64_t bytes,
		     unsigned copies, struct bench_cost *ret_cost, struct err *e)
{
	const struct page_size *p = machine_page(m, attrs_text(&s->given, "page", ""));
	const char *memory = attrs_text(&s->given, "memory", "anon");

	if (p && strcmp(memory, "file") == 0 && p->kind != PAGE_KIND_BASE)
		return err_set(e, EINVAL,
			       "page=%s memory=file: the file system chooses the pages of a file; "
			       "use page=base",
			       p->name);
	if (p && strcmp(memory, "shared") == 0 && p->kind == PAGE_KIND_MTHP)
		return err_set(e, EINVAL,
			       "page=%s memory=shared: shared memory has base, thp or hugetlb "
			       "pages",
			       p->name);
	*ret_cost = (struct bench_cost){
		.arena_bytes = copies * bytes,
		.table_bytes = copies * (bytes / m->leaf_table_span + 3) * m->page_bytes,
		.faults = copies * bytes / m->page_bytes,
		.processes = 1,
	};
	return 0;
}

int fork_memory_grid(struct u64_array *ret_values, uint64_t max, struct err *e)
{
	int result = 0;

	for (uint64_t b = UINT64_C(1) << 20; b <= max && result == 0; b *= 4)
		result = u64_array_add(ret_values, b);
	return result < 0 ? err_set(e, -result, "no memory for the grid") : 0;
}

/* --- children --------------------------------------------------------------------------------- */

int fork_child_pipes(struct bench_ctx *ctx, struct fork_child *c, int child_ends[2])
{
	int tell[2], go[2], code;

	if (pipe(tell) < 0)
		return bench_fail(ctx, errno, "a pipe for the child (see ulimit -n)");
	if (pipe(go) < 0) {
		code = errno;
		close(tell[0]);
		close(tell[1]);
		return bench_fail(ctx, code, "a pipe for the child (see ulimit -n)");
	}
	*c = (struct fork_child){ .told = tell[0], .go = go[1] };
	child_ends[0] = tell[1];
	child_ends[1] = go[0];
	return 0;
}

void fork_child_wait(const int child_ends[2], int64_t tells)
{
	char byte;

	if (write(child_ends[0], &tells, sizeof(tells)) == (ssize_t)sizeof(tells))
		while (read(child_ends[1], &byte, 1) < 0 && errno == EINTR)
			;
	_exit(0);
}

int fork_child_greet(struct bench_ctx *ctx, struct fork_child *c, const int child_ends[2],
		     int64_t *ret_tells)
{
	ssize_t n = -1;

	if (c->pid > 0) {
		do
			n = read(c->told, ret_tells, sizeof(*ret_tells));
		while (n < 0 && errno == EINTR);
	}
	close(child_ends[0]);
	close(child_ends[1]);
	close(c->told);
	if (n == (ssize_t)sizeof(*ret_tells))
		return 0;
	close(c->go);
	if (c->pid > 0)
		waitpid(c->pid, NULL, 0);
	c->pid = 0;
	return bench_fail(ctx, EAGAIN,
			  "the child could not be started or ended early (see ulimit -u, pids.max "
			  "of the control group, vm.overcommit_memory and free memory)");
}

int64_t fork_child_end(struct fork_child *c)
{
	int64_t start = clock_now_ns(), ns;

	if (write(c->go, "e", 1) != 1)
		kill(c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	ns = clock_now_ns() - start;
	close(c->go);
	c->pid = 0;
	return ns;
}
