/* SPDX-License-Identifier: MIT */
/*
 * The pieces of a pass over a mapping, each timed. Sources: mmap(2), madvise(2); mm/madvise.c,
 * mm/memory.c (faults that populating takes count like others; Linux 6.12).
 */
#include <errno.h>
#include <sys/mman.h>

#include "bench/fault.h"
#include "host/clock.h"
#include "host/counters.h"
#include "mem/linux_abi.h"

/* Of all mappings' starts: huge pages need theirs, and equal addresses make runs alike. */
static const uint64_t ALIGN = UINT64_C(1) << 30;

static int failed(struct fault_part *p, const char *what)
{
	p->code = -errno;
	p->failed = what;
	return p->code;
}

/* Finds room once, for all parts; it is given back, and each pass maps there again. */
int fault_reserve(const struct fault_spec *s, struct fault_part *parts, size_t n)
{
	uint64_t each = (s->bytes + ALIGN - 1) & ~(ALIGN - 1);
	void *room = mmap(NULL, each * n + ALIGN, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start;

	if (room == MAP_FAILED)
		return failed(&parts[0], "mmap");
	start = (char *)(((uintptr_t)room + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
	for (size_t i = 0; i < n; i++)
		parts[i].hint = start + each * i;
	munmap(room, each * n + ALIGN);
	return 0;
}

static int map_flags(const struct fault_spec *s)
{
	int flags = s->kind == FAULT_SHM ? MAP_SHARED : MAP_PRIVATE;

	if (s->kind == FAULT_ANON)
		flags |= MAP_ANONYMOUS;
	if (s->kind == FAULT_ANON && s->page_kind == PAGE_KIND_HUGETLB)
		flags |= MAP_HUGETLB | __builtin_ctzll(s->page_bytes) << MAP_HUGE_SHIFT;
	if (s->fill == FILL_MAP_POPULATE)
		flags |= MAP_POPULATE;
	return flags | MAP_FIXED_NOREPLACE;
}

int fault_map(const struct fault_spec *s, struct fault_part *p)
{
	int protection = s->access == ACCESS_READ ? PROT_READ : PROT_READ | PROT_WRITE;
	struct thread_counts before, after;
	int64_t start;
	void *at;

	p->took = (struct fault_took){ 0 };
	counters_thread(&before);
	start = clock_now_ns();
	at = mmap(p->hint, s->bytes, protection, map_flags(s), s->fd, 0);
	if (at == MAP_FAILED)
		return failed(p, "mmap");
	p->base = at;
	if (p->base != p->hint) { /* a kernel that does not know MAP_FIXED_NOREPLACE */
		errno = EEXIST;
		return failed(p, "mmap at a free address");
	}
	if ((s->page_kind == PAGE_KIND_THP || s->page_kind == PAGE_KIND_MTHP) &&
	    madvise(p->base, s->bytes, MADV_HUGEPAGE) < 0)
		return failed(p, "madvise(MADV_HUGEPAGE)");
	p->took.map_ns = clock_now_ns() - start;
	counters_thread(&after);
	p->took.fill_faults = after.minor_faults - before.minor_faults;
	p->took.major_faults = after.major_faults - before.major_faults;
	return 0;
}

int fault_fill(const struct fault_spec *s, struct fault_part *p)
{
	static const struct {
		int advice;
		const char *name;
	} calls[] = { [FILL_POPULATE_READ] = { MADV_POPULATE_READ, "madvise(MADV_POPULATE_READ)" },
		      [FILL_POPULATE_WRITE] = { MADV_POPULATE_WRITE,
						"madvise(MADV_POPULATE_WRITE)" },
		      [FILL_WILLNEED] = { MADV_WILLNEED, "madvise(MADV_WILLNEED)" } };
	struct thread_counts before, after;
	int64_t start;

	if (s->fill == FILL_DEMAND || s->fill == FILL_MAP_POPULATE)
		return 0;
	counters_thread(&before);
	start = clock_now_ns();
	if (madvise(p->base, s->bytes, calls[s->fill].advice) < 0)
		return failed(p, calls[s->fill].name);
	p->took.fill_ns = clock_now_ns() - start;
	counters_thread(&after);
	p->took.fill_faults += after.minor_faults - before.minor_faults;
	p->took.major_faults += after.major_faults - before.major_faults;
	return 0;
}

/* volatile: each access must happen, though nobody uses its value */
static void read_each(const struct fault_spec *s, char *base, const uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)*(volatile const char *)(base + list[i] * s->base_bytes);
}

static void write_each(const struct fault_spec *s, char *base, const uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*(volatile char *)(base + list[i] * s->base_bytes) = 1;
}

void fault_touch(const struct fault_spec *s, struct fault_part *p, const uint32_t *list, size_t n)
{
	struct thread_counts before, after;
	int64_t start;

	counters_thread(&before);
	start = clock_now_ns();
	if (s->access != ACCESS_WRITE)
		read_each(s, p->base, list, n);
	if (s->access != ACCESS_READ)
		write_each(s, p->base, list, n);
	p->took.touch_ns = clock_now_ns() - start;
	counters_thread(&after);
	p->took.touch_faults = after.minor_faults - before.minor_faults;
	p->took.major_faults += after.major_faults - before.major_faults;
}

void fault_unmap(const struct fault_spec *s, struct fault_part *p)
{
	int64_t start = clock_now_ns();

	if (p->base)
		munmap(p->base, s->bytes);
	p->base = NULL;
	p->took.unmap_ns = clock_now_ns() - start;
}
