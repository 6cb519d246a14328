/* SPDX-License-Identifier: MIT */
/*
 * Filling caches and TLBs with other things. Reads, not writes: dirty lines would have to be
 * written back later, inside what is timed. Leaves out eviction sets: knowing physical addresses
 * would need privilege, and streaming is enough. Sources: cache sizes,
 * Documentation/ABI/testing/sysfs-devices-system-cpu of Linux 6.18; last-level caches that do not
 * contain the private ones (why both sizes are added), AMD and Intel optimization manuals.
 */
#include "mem/evict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arch_code.h"
#include "base/units.h"
#include "host/advertised.h"
#include "host/clock.h"
#include "mem/chase_loops.h"
#include "mem/linux_abi.h"

enum { STREAM_BLOCK = 512, LINE = 64, CACHE_INDEXES = 8, LEVELS = 8, MEMORY_ROUNDS = 9 };
static const uint64_t MIB = UINT64_C(1) << 20;
/* Where nothing is told. */
static const uint64_t LLC_GUESS = UINT64_C(32) << 20;
static const uint64_t PRIVATE_GUESS = UINT64_C(1) << 20;
static const uint64_t CODE_LEAST = UINT64_C(8) << 20;
static const uint64_t TLB_PAGES_GUESS = 4096;

/* --- sizes --- */

/* @level_bytes[i]: the data or unified cache of level i, 0: none. */
static void sizes_from(const uint64_t level_bytes[LEVELS], struct evict_sizes *ret)
{
	struct evict_sizes s = { 0 };
	struct advertised a;
	struct cpuid_leaf leaves[64];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), llc;
	size_t n = advertised_read_leaves(leaves, sizeof(leaves) / sizeof(leaves[0]));
	unsigned entries;
	int last = 0;

	for (int i = 1; i < LEVELS; i++)
		last = level_bytes[i] ? i : last;
	for (int i = 1; i < last; i++)
		s.private_bytes += level_bytes[i];
	s.llc_bytes = last ? level_bytes[last] : 0;
	if (!s.private_bytes)
		s.private_bytes = PRIVATE_GUESS;
	llc = s.llc_bytes ? s.llc_bytes : LLC_GUESS;
	s.data_bytes = (2 * (llc + s.private_bytes) + page - 1) / page * page;
	s.code_bytes = 4 * s.private_bytes > CODE_LEAST ? 4 * s.private_bytes : CODE_LEAST;
	s.code_bytes = (s.code_bytes + MIB - 1) / MIB * MIB;
	advertised_decode(leaves, n, &a);
	entries = advertised_entries(&a, 2, page);
	s.tlb_pages = entries ? 2 * (uint64_t)entries : TLB_PAGES_GUESS;
	*ret = s;
}

void evict_sizes_of(const struct machine *m, uint32_t cpu, struct evict_sizes *ret)
{
	uint64_t level_bytes[LEVELS] = { 0 };

	for (unsigned i = 1; i < LEVELS; i++) {
		const struct cache *c = machine_cache(m, cpu, i);

		level_bytes[i] = c ? c->size_bytes : 0;
	}
	sizes_from(level_bytes, ret);
}

void evict_sizes_read(const struct sysroot *sr, uint32_t cpu, struct evict_sizes *ret)
{
	uint64_t level_bytes[LEVELS] = { 0 };

	for (int i = 0; i < CACHE_INDEXES; i++) {
		char path[128], text[32];
		uint64_t level, bytes;
		int n = snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/cache/index%d/",
				 cpu, i);

		snprintf(path + n, sizeof(path) - (size_t)n, "type");
		if (sysroot_read_line(sr, path, text, sizeof(text), NULL) < 0 ||
		    strcmp(text, "Instruction") == 0)
			continue;
		snprintf(path + n, sizeof(path) - (size_t)n, "level");
		if (sysroot_read_u64(sr, path, &level, NULL) < 0 || level >= LEVELS)
			continue;
		snprintf(path + n, sizeof(path) - (size_t)n, "size");
		if (sysroot_read_line(sr, path, text, sizeof(text), NULL) == 0 &&
		    parse_size(text, &bytes, NULL) == 0)
			level_bytes[level] = bytes;
	}
	sizes_from(level_bytes, ret);
}

uint64_t evict_bytes(const struct evict_sizes *s, unsigned kinds)
{
	uint64_t bytes = EVICT_PROBE_LINES * (uint64_t)sysconf(_SC_PAGESIZE);

	if (kinds & EVICT_DATA)
		bytes += s->data_bytes;
	if (kinds & EVICT_CODE)
		bytes += s->code_bytes;
	return bytes; /* the pages of the TLB kind are all the zero page */
}

/* --- mapping --- */

/* NULL with the reason in @e. Small pages of their own, and no part of what fork() copies. */
static char *map_bytes(uint64_t bytes, const char *what, struct err *e)
{
	char size[UNITS_TEXT_BYTES];
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error = p == MAP_FAILED ? errno : 0;

	if (!error) {
		madvise(p, bytes, MADV_NOHUGEPAGE);
		madvise(p, bytes, MADV_DONTFORK);
		if (madvise(p, bytes, MADV_POPULATE_WRITE) < 0 && errno != EINVAL) {
			error = errno;
			munmap(p, bytes);
		}
	}
	if (error) {
		err_set(e, error, "eviction of %s needs %s of memory: %s", what,
			format_size_human(size, (double)bytes), strerror(error));
		return NULL;
	}
	memset(p, 1, bytes);
	return p;
}

static int map_code(struct evict *v, struct err *e)
{
	uint64_t lines = v->sizes.code_bytes / ARCH_CODE_LINE;
	int error;

	if (!arch_has_code())
		return err_set(e, ENOTSUP,
			       "eviction of instructions is written for x86-64 and arm64 only; "
			       "evict=data works here");
	v->code = map_bytes(v->sizes.code_bytes, "instructions", e);
	if (!v->code)
		return -ENOMEM;
	for (uint64_t i = 0; i < lines; i++)
		arch_write_line((unsigned char *)v->code + i * ARCH_CODE_LINE, i + 1 == lines);
	__builtin___clear_cache(v->code, v->code + v->sizes.code_bytes);
	if (mprotect(v->code, v->sizes.code_bytes, PROT_READ | PROT_EXEC) == 0)
		return 0;
	error = errno;
	return err_set(e, error,
		       "written code may not be made executable here (%s: SELinux execmem, or a "
		       "filter of system calls); evict=data works without",
		       strerror(error));
}

static int map_pages(struct evict *v, struct err *e)
{
	uint64_t bytes = v->sizes.tlb_pages * v->page_bytes;
	char *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return err_set(e, errno, "no address space of %ju bytes: %s", (uintmax_t)bytes,
			       strerror(errno));
	madvise(p, bytes, MADV_NOHUGEPAGE);
	madvise(p, bytes, MADV_DONTFORK);
	v->pages = p;
	evict_tlb(v); /* populates */
	return 0;
}

/*
 * The probe: one line of each of a few pages, in an order that no prefetcher follows, far from the
 * line that touches the page beforehand.
 */
static int map_probe(struct evict *v, struct err *e)
{
	enum { STEP = 7 }; /* prime to the number of lines: visits all */
	uint64_t page = v->page_bytes;
	void *at[EVICT_PROBE_LINES];

	v->probe = map_bytes(EVICT_PROBE_LINES * page, "the probe", e);
	if (!v->probe)
		return -ENOMEM;
	for (unsigned i = 0; i < EVICT_PROBE_LINES; i++)
		at[i] = v->probe + i * page + page / 2 + (i * 5 % EVICT_PROBE_LINES) * 2 * LINE;
	for (unsigned i = 0; i < EVICT_PROBE_LINES; i++)
		*(void **)at[i * STEP % EVICT_PROBE_LINES] = at[(i + 1) * STEP % EVICT_PROBE_LINES];
	v->probe_first = at[0];
	return 0;
}

int evict_map(const struct evict_sizes *s, unsigned kinds, struct evict *ret, struct err *e)
{
	struct evict v = { .sizes = *s, .kinds = kinds };
	struct err why = { 0 };
	int rc;

	v.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	rc = map_probe(&v, &why);
	if (rc == 0 && (kinds & EVICT_DATA)) {
		v.data = map_bytes(s->data_bytes, "data", &why);
		rc = v.data ? 0 : -ENOMEM;
	}
	if (rc == 0 && (kinds & EVICT_CODE))
		rc = map_code(&v, &why);
	if (rc == 0 && (kinds & EVICT_TLB))
		rc = map_pages(&v, &why);
	if (rc < 0) {
		evict_done(&v);
		return err_set(e, why.code, "%s", why.msg);
	}
	*ret = v;
	return 0;
}

static void unmap(char **p, uint64_t bytes)
{
	if (*p)
		munmap(*p, bytes);
	*p = NULL;
}

void evict_done(struct evict *v)
{
	unmap(&v->data, v->sizes.data_bytes);
	unmap(&v->code, v->sizes.code_bytes);
	unmap(&v->pages, v->sizes.tlb_pages * v->page_bytes);
	unmap(&v->probe, EVICT_PROBE_LINES * v->page_bytes);
}

void evict_inherit(const struct evict *v, bool yes)
{
	int advice = yes ? MADV_DOFORK : MADV_DONTFORK;

	if (v->data)
		madvise(v->data, v->sizes.data_bytes, advice);
	if (v->code)
		madvise(v->code, v->sizes.code_bytes, advice);
	if (v->pages)
		madvise(v->pages, v->sizes.tlb_pages * v->page_bytes, advice);
}

/* --- evicting --- */

void evict_stream(const void *base, size_t bytes)
{
	loop_stream(base, bytes);
	loop_stream(base, bytes);
}

void evict_data(const struct evict *v)
{
	if (v->data)
		evict_stream(v->data, v->sizes.data_bytes / STREAM_BLOCK * STREAM_BLOCK);
}

void evict_code(const struct evict *v)
{
	void (*run)(void);

	if (!v->code)
		return;
	memcpy(&run, &v->code, sizeof(run)); /* an object pointer is no function pointer in C */
	run();
}

void evict_tlb(const struct evict *v)
{
	if (v->pages)
		loop_pages(v->pages, v->sizes.tlb_pages, v->page_bytes);
}

void evict_now(const struct evict *v)
{
	/* Data last: streaming leaves the L1 instruction cache and its TLB full of the jumps, and
	 * takes their lines out of everything below. */
	evict_tlb(v);
	evict_code(v);
	evict_data(v);
}

/* --- probe --- */

static void touch_probe(const struct evict *v)
{
	for (unsigned i = 0; i < EVICT_PROBE_LINES; i++)
		*(volatile const char *)(v->probe + i * v->page_bytes);
}

static double time_probe(const struct evict *v)
{
	int64_t start;

	touch_probe(v);
	clock_now_ns(); /* its code and data are warm from here on */
	start = clock_now_ns();
	chase_links(v->probe_first, EVICT_PROBE_LINES);
	return (double)(clock_now_ns() - start) / EVICT_PROBE_LINES;
}

double evict_probe_ns(const struct evict *v)
{
	return time_probe(v);
}

double evict_memory_ns(const struct evict *v)
{
	double least = INFINITY;

	if (!arch_has_flush())
		return NAN;
	for (int round = 0; round < MEMORY_ROUNDS; round++) {
		touch_probe(v);
		for (unsigned i = 0; i < EVICT_PROBE_LINES; i++)
			arch_flush_line(v->probe + i * v->page_bytes + v->page_bytes / 2 +
					(i * 5 % EVICT_PROBE_LINES) * 2 * LINE);
		least = fmin(least, time_probe(v));
	}
	return least;
}
