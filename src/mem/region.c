/* SPDX-License-Identifier: MIT */
/*
 * Mapping and populating. Sources: mm/memory.c (do_anonymous_page, zero page), mm/huge_memory.c
 * (huge zero page, splitting a mapping by mprotect of a part), mm/mempolicy.c; Linux 6.12.
 */
#include "mem/region.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "host/counters.h"
#include "host/sysroot.h"
#include "mem/linux_abi.h"
#include "mem/policy.h"
#include "mem/proof.h"

static int log2_of(uint64_t v)
{
	return 63 - __builtin_clzll(v);
}

/* -EINVAL for pairs that do not exist. */
static int check_spec(const struct region_spec *s, struct err *e)
{
	if (s->backing == BACKING_ZERO && s->kind != PAGE_KIND_BASE && s->kind != PAGE_KIND_THP)
		return err_set(e, EINVAL,
			       "backing=zero: only base pages and THP have a shared zero page; "
			       "use backing=distinct for this page size");
	if ((s->backing == BACKING_CONTIGUOUS || s->backing == BACKING_MEMFD) &&
	    s->kind != PAGE_KIND_BASE)
		return err_set(
			e, EINVAL,
			"backing=contiguous and backing=memfd are for base pages: use page=base");
	return 0;
}

static int protection(const struct region_spec *s)
{
	return s->backing == BACKING_ZERO ? PROT_READ : PROT_READ | PROT_WRITE;
}

static int map_anonymous(struct region *r, struct err *e)
{
	uint64_t base_page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t leaf = base_page * (base_page / sizeof(uint64_t));
	const struct region_spec *s = &r->spec;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char size[UNITS_TEXT_BYTES];

	/* Up to the end of its last leaf table, which no other mapping may share. */
	r->map_bytes = (s->span_bytes + leaf - 1) / leaf * leaf + s->align_bytes;
	if (s->kind == PAGE_KIND_HUGETLB)
		flags |= MAP_HUGETLB | (log2_of(s->page_bytes) << MAP_HUGE_SHIFT);
	r->map = mmap((void *)(uintptr_t)s->hint, r->map_bytes, protection(s), flags, -1, 0);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return err_set(
			e, errno,
			"mapping %s of address space: %s (see ulimit -v, vm.overcommit_memory, "
			"and for hugetlb the pool in nr_hugepages)",
			format_size(size, r->map_bytes), strerror(errno));
	}
	r->base = (char *)(((uintptr_t)r->map + s->align_bytes - 1) &
			   ~(uintptr_t)(s->align_bytes - 1));
	return 0;
}

/* madvise() whose EINVAL only means that the kernel has no THP at all. */
static int advise(struct region *r, int advice, const char *name, struct err *e)
{
	if (madvise(r->base, r->spec.span_bytes, advice) < 0 &&
	    !(errno == EINVAL && advice == MADV_NOHUGEPAGE))
		return err_set(e, errno, "madvise(%s): %s", name, strerror(errno));
	return 0;
}

/*
 * A range of this page size must not merge with its neighbours, or the kernel takes the larger size
 * that fits: every second one is excluded from core dumps, which makes them different mappings.
 */
static int separate_mthp(struct region *r, struct err *e)
{
	for (uint64_t at = 0; at < r->spec.span_bytes; at += 2 * r->spec.page_bytes) {
		if (madvise(r->base + at, r->spec.page_bytes, MADV_DONTDUMP) < 0)
			return err_set(e, errno,
				       "separating mappings of %ju bytes: %s (each takes one of "
				       "vm.max_map_count)",
				       (uintmax_t)r->spec.page_bytes, strerror(errno));
	}
	return 0;
}

static int choose_page_size(struct region *r, struct err *e)
{
	int ret;

	switch (r->spec.kind) {
	case PAGE_KIND_HUGETLB:
		return 0;
	case PAGE_KIND_BASE:
		if (r->spec.backing == BACKING_CONTIGUOUS)
			return advise(r, MADV_HUGEPAGE, "MADV_HUGEPAGE", e);
		return advise(r, MADV_NOHUGEPAGE, "MADV_NOHUGEPAGE", e);
	case PAGE_KIND_MTHP:
		ret = advise(r, MADV_HUGEPAGE, "MADV_HUGEPAGE", e);
		return ret < 0 ? ret : separate_mthp(r, e);
	case PAGE_KIND_THP:
	default:
		return advise(r, MADV_HUGEPAGE, "MADV_HUGEPAGE", e);
	}
}

static int create_memfd(struct region *r, struct err *e)
{
	uint64_t bytes = REGION_MEMFD_CHUNK_PAGES * r->spec.page_bytes;

	r->fd = memfd_create("pagetoll", MFD_CLOEXEC);
	if (r->fd < 0)
		return err_set(e, errno, "memfd_create: %s", strerror(errno));
	if (ftruncate(r->fd, (off_t)bytes) < 0)
		return err_set(e, errno, "sizing a memfd to %ju bytes: %s", (uintmax_t)bytes,
			       strerror(errno));
	return 0;
}

int region_map(const struct region_spec *spec, struct region *ret, struct err *e)
{
	struct region r = REGION_NONE;
	int result;

	r.spec = *spec;
	result = check_spec(spec, e);
	if (result == 0)
		result = map_anonymous(&r, e);
	if (result == 0)
		result = choose_page_size(&r, e);
	if (result == 0 && spec->backing == BACKING_MEMFD)
		result = create_memfd(&r, e);
	if (result == 0 && spec->data_node >= 0)
		r.data_error =
			policy_bind_mapping(r.base, spec->span_bytes, (uint32_t)spec->data_node);
	if (result < 0) {
		region_done(&r);
		return result;
	}
	*ret = r;
	return 0;
}

static void begin_populate(struct region *r, struct thread_counts *before)
{
	struct proof_counted now;

	r->table_bytes_before = proof_table_bytes();
	r->tables_counted =
		r->spec.table_node >= 0 && proof_count_tables(r->spec.table_node, &now) == 0;
	if (r->tables_counted) {
		r->tables_on_node = -now.on_node;
		r->tables_elsewhere = -now.elsewhere;
	}
	if (r->spec.table_node >= 0)
		r->table_error = policy_bind_task((uint32_t)r->spec.table_node);
	counters_thread(before);
}

static void end_populate(struct region *r, const struct thread_counts *before)
{
	struct thread_counts after;
	struct proof_counted now;

	counters_thread(&after);
	if (r->tables_counted && proof_count_tables(r->spec.table_node, &now) == 0) {
		r->tables_on_node += now.on_node;
		r->tables_elsewhere += now.elsewhere;
	} else {
		r->tables_counted = false;
	}
	if (r->spec.table_node >= 0 && r->table_error == 0)
		policy_reset_task();
	r->faults += after.minor_faults - before->minor_faults;
	r->table_bytes_after = proof_table_bytes();
}

/* Hugetlb pages that are promised and not there would end us by SIGBUS: ask for them instead. */
static int touch_hugetlb(struct region *r, const uint64_t *offsets, size_t n, struct err *e)
{
	uint64_t page = r->spec.page_bytes, last = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = offsets[i] & ~(page - 1);

		if (at == last)
			continue;
		last = at;
		if (madvise(r->base + at, page, MADV_POPULATE_WRITE) < 0)
			return err_set(e, errno == EFAULT ? ENOMEM : errno,
				       "hugetlb page %zu of %zu could not be had: the pool of "
				       "%ju-byte pages "
				       "is exhausted or the hugetlb cgroup limit is reached",
				       i + 1, n, (uintmax_t)page);
	}
	return 0;
}

/* Maps the memfd's chunk below every element that is not mapped yet. */
static int map_memfd(struct region *r, const uint64_t *offsets, size_t n, struct err *e)
{
	uint64_t page = r->spec.page_bytes, chunk = REGION_MEMFD_CHUNK_PAGES * page;
	uint64_t mapped_to = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = offsets[i] & ~(page - 1);

		if (at < mapped_to)
			continue;
		/* Elements side by side share a mapping of the whole chunk, others get their page.
		 */
		bool dense = i + 1 < n && offsets[i + 1] - offsets[i] < 2 * page;
		uint64_t bytes = dense && at + chunk <= r->spec.span_bytes ? chunk : page;
		off_t from = bytes == page ? (off_t)((i % REGION_MEMFD_CHUNK_PAGES) * page) : 0;

		if (mmap(r->base + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, r->fd,
			 from) == MAP_FAILED)
			return err_set(e, errno, "mapping %zu of a memfd: %s (vm.max_map_count?)",
				       i + 1, strerror(errno));
		mapped_to = at + bytes;
	}
	return 0;
}

static void touch_each(struct region *r, const uint64_t *offsets, size_t n)
{
	/* volatile: each access must happen, though nobody uses its value */
	if (r->spec.backing == BACKING_ZERO) {
		for (size_t i = 0; i < n; i++)
			(void)*(volatile const char *)(r->base + offsets[i]);
		return;
	}
	for (size_t i = 0; i < n; i++)
		*(volatile char *)(r->base + offsets[i]) = 0;
}

/*
 * Splits the mapping of every huge page by making its first small page different and equal again:
 * the frames stay where they are, contiguous, and are mapped one by one.
 */
static int split_huge(struct region *r, uint64_t bytes, uint64_t huge, struct err *e)
{
	uint64_t page = r->spec.page_bytes;

	for (uint64_t at = 0; at < bytes; at += huge) {
		if (mprotect(r->base + at, page, PROT_READ) < 0 ||
		    mprotect(r->base + at, page, PROT_READ | PROT_WRITE) < 0)
			return err_set(e, errno, "splitting a huge page: %s", strerror(errno));
	}
	return 0;
}

static int populate_contiguous(struct region *r, const uint64_t *offsets, size_t n, struct err *e)
{
	struct sysroot sr;
	uint64_t huge = 0, bytes = 0;

	if (sysroot_init(&sr, NULL, e) < 0 ||
	    sysroot_read_u64(&sr, "sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &huge, e) <
		    0 ||
	    huge == 0)
		return err_set(e, ENODEV, "backing=contiguous needs transparent huge pages");
	for (size_t i = 0; i < n; i++)
		if (offsets[i] >= bytes)
			bytes = (offsets[i] / huge + 1) * huge;
	if (bytes > r->spec.span_bytes)
		bytes = r->spec.span_bytes;
	for (uint64_t at = 0; at < bytes; at += r->spec.page_bytes)
		*(volatile char *)(r->base + at) = 0;
	return split_huge(r, bytes, huge, e);
}

int region_populate(struct region *r, const uint64_t *offsets, size_t n, struct err *e)
{
	struct thread_counts before;
	int result = 0;

	begin_populate(r, &before);
	if (r->spec.backing == BACKING_MEMFD)
		result = map_memfd(r, offsets, n, e);
	if (result == 0 && r->spec.kind == PAGE_KIND_HUGETLB)
		result = touch_hugetlb(r, offsets, n, e);
	else if (result == 0 && r->spec.backing == BACKING_CONTIGUOUS)
		result = populate_contiguous(r, offsets, n, e);
	else if (result == 0)
		touch_each(r, offsets, n);
	end_populate(r, &before);
	return result;
}

int region_populate_all(struct region *r, uint64_t bytes, struct err *e)
{
	const uint64_t step = UINT64_C(1) << 30;
	struct thread_counts before;
	int result = 0;

	begin_populate(r, &before);
	for (uint64_t at = 0; at < bytes && result == 0; at += step) {
		uint64_t part = bytes - at < step ? bytes - at : step;

		if (madvise(r->base + at, part, MADV_POPULATE_WRITE) == 0)
			continue;
		if (errno == EINVAL && r->spec.kind != PAGE_KIND_HUGETLB) {
			/* before Linux 5.14 */
			for (uint64_t i = 0; i < part; i += r->spec.page_bytes)
				*(volatile char *)(r->base + at + i) = 0;
			continue;
		}
		/* EFAULT: a hugetlb page that was promised and is not there */
		int code = errno == EFAULT ? ENOMEM : errno;

		result = err_set(
			e, code,
			"populating %ju bytes: %s (free memory, the hugetlb pool of the node, "
			"or a limit of the control group is exhausted)",
			(uintmax_t)bytes, strerror(code));
	}
	end_populate(r, &before);
	return result;
}

void region_done(struct region *r)
{
	if (r->map) {
		munmap(r->map, r->map_bytes);
		if (r->fd >= 0)
			close(r->fd);
	}
	*r = REGION_NONE;
}
