/* SPDX-License-Identifier: MIT */
/* Reading /proc/self/pagemap, 8 bytes a page. */
#include "host/pagemap.h"

#include <errno.h>
#include <unistd.h>

#include "host/sysroot.h"

int pagemap_open(int *ret_fd, struct err *e)
{
	struct sysroot sr;
	int rc = sysroot_init(&sr, NULL, e);

	return rc < 0 ? rc : sysroot_open(&sr, "proc/self/pagemap", ret_fd, e);
}

int pagemap_frame(int fd, const void *address, uint64_t *ret_frame)
{
	const uint64_t present = UINT64_C(1) << 63, frame_bits = (UINT64_C(1) << 55) - 1;
	uint64_t entry, page = (uintptr_t)address / (uint64_t)sysconf(_SC_PAGESIZE);
	ssize_t n = pread(fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry)));

	if (n != (ssize_t)sizeof(entry))
		return n < 0 ? -errno : -EIO;
	if (!(entry & present))
		return -ENXIO;
	if (!(entry & frame_bits))
		return -EPERM;
	*ret_frame = entry & frame_bits;
	return 0;
}
