// SPDX-License-Identifier: MIT
/* See io.h. */
#include "base/io.h"

#include <errno.h>
#include <unistd.h>

int io_write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t k = write(fd, data, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? -errno : -EIO;
		data += k;
		n -= (size_t)k;
	}
	return 0;
}
