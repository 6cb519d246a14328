/* SPDX-License-Identifier: MIT */
/*
 * Shared segments. Leaves out System V shared memory: a memfd is the same kind of file (mm/shmem.c,
 * fs/hugetlbfs/inode.c; Linux 6.12) and cannot be left behind.
 */
#include "mem/segment.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "mem/linux_abi.h"

static unsigned int memfd_flags(enum page_kind kind, uint64_t page_bytes)
{
	unsigned int shift = (unsigned int)__builtin_ctzll(page_bytes);

	return kind == PAGE_KIND_HUGETLB ? MFD_CLOEXEC | MFD_HUGETLB | shift << MAP_HUGE_SHIFT
					 : MFD_CLOEXEC;
}

static int create_file(struct segment *s, struct err *e)
{
	char size[UNITS_TEXT_BYTES];

	s->fd = memfd_create("pagetoll", memfd_flags(s->kind, s->page_bytes));
	if (s->fd < 0)
		return err_set(e, errno, "memfd_create: %s", strerror(errno));
	if (ftruncate(s->fd, (off_t)s->bytes) < 0)
		return err_set(e, errno, "sizing a segment to %s: %s (see ulimit -f)",
			       format_size(size, s->bytes), strerror(errno));
	return 0;
}

static int fill(const struct segment *s, struct err *e)
{
	struct segment_map map;
	char size[UNITS_TEXT_BYTES];
	int result = segment_map(s, &map, e);

	if (result < 0)
		return result;
	if (madvise(map.base, s->bytes, MADV_POPULATE_WRITE) < 0) {
		/* EFAULT: a huge page that was promised and is not there */
		int code = errno == EFAULT ? ENOMEM : errno;

		result = err_set(e, code,
				 "filling a segment of %s: %s (free memory, the pool of huge "
				 "pages, or a limit of the control group is exhausted)",
				 format_size(size, s->bytes),
				 code == EINVAL ? "this kernel is older than Linux 5.14"
						: strerror(code));
	}
	segment_unmap(&map);
	return result;
}

int segment_create_empty(enum page_kind kind, uint64_t page_bytes, uint64_t bytes,
			 struct segment *ret, struct err *e)
{
	struct segment s = { .fd = -1, .bytes = bytes, .kind = kind, .page_bytes = page_bytes };
	int result;

	if (kind == PAGE_KIND_MTHP)
		return err_set(e, EINVAL,
			       "a segment cannot have pages of %ju bytes: use base, thp or hugetlb",
			       (uintmax_t)page_bytes);
	if (bytes == 0 || bytes % page_bytes)
		return err_set(e, EINVAL,
			       "a segment of %ju bytes is no whole number of pages of %ju bytes",
			       (uintmax_t)bytes, (uintmax_t)page_bytes);
	result = create_file(&s, e);
	if (result < 0) {
		segment_done(&s);
		return result;
	}
	*ret = s;
	return 0;
}

int segment_create(enum page_kind kind, uint64_t page_bytes, uint64_t bytes, struct segment *ret,
		   struct err *e)
{
	struct segment s = SEGMENT_NONE;
	int result = segment_create_empty(kind, page_bytes, bytes, &s, e);

	if (result == 0)
		result = fill(&s, e);
	if (result < 0) {
		segment_done(&s);
		return result;
	}
	*ret = s;
	return 0;
}

int segment_map(const struct segment *s, struct segment_map *ret, struct err *e)
{
	const uint64_t align = SEGMENT_ALIGN_BYTES;
	/* Whole units, so that no other mapping has tables in them. */
	struct segment_map m = { .reserved_bytes = (s->bytes + align - 1) / align * align + align };
	char size[UNITS_TEXT_BYTES];

	m.reserved = mmap(NULL, m.reserved_bytes, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m.reserved == MAP_FAILED)
		return err_set(e, errno, "mapping %s of address space: %s (see ulimit -v)",
			       format_size(size, m.reserved_bytes), strerror(errno));
	m.base = (char *)(((uintptr_t)m.reserved + align - 1) & ~(uintptr_t)(align - 1));
	if (mmap(m.base, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, s->fd, 0) ==
	    MAP_FAILED) {
		int code = errno;

		munmap(m.reserved, m.reserved_bytes);
		return err_set(e, code, "mapping a segment of %s: %s", format_size(size, s->bytes),
			       strerror(code));
	}
	if (s->kind != PAGE_KIND_HUGETLB)
		madvise(m.base, s->bytes,
			s->kind == PAGE_KIND_THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	*ret = m;
	return 0;
}

void segment_unmap(struct segment_map *m)
{
	if (m->base)
		munmap(m->reserved, m->reserved_bytes);
	*m = (struct segment_map){ 0 };
}

void segment_done(struct segment *s)
{
	if (s->fd >= 0)
		close(s->fd);
	*s = SEGMENT_NONE;
}
