// SPDX-License-Identifier: MIT
/*
 * Loaded into a program under test (LD_PRELOAD), makes its surroundings hostile, as the environment
 * asks:
 *
 *	HOSTILE_CLOCK_NS=4000000     clock_gettime() tells multiples of so many ns
 *	HOSTILE_HUGETLB=refuse       mmap(MAP_HUGETLB) fails for want of memory
 *	HOSTILE_HUGETLB=unbacked     it succeeds, and touching the memory is SIGBUS
 *	HOSTILE_WORKER=fork:EAGAIN   calls that fail in the program's workers, not in itself
 *
 * Unbacked memory is a mapping past the end of an empty file: as for a huge page that was promised
 * and is not there, a touch is SIGBUS and MADV_POPULATE_WRITE is EFAULT (mmap(2), madvise(2)).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "deny_filter.h"

int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	const char *quantum = getenv("HOSTILE_CLOCK_NS");
	long long step = quantum ? atoll(quantum) : 0, ns;
	int rc;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	rc = real(id, t);
	if (rc == 0 && step > 0) {
		ns = t->tv_sec * 1000000000ll + t->tv_nsec;
		ns -= ns % step;
		t->tv_sec = ns / 1000000000ll;
		t->tv_nsec = ns % 1000000000ll;
	}
	return rc;
}

static void *map_unbacked(void *at, size_t bytes, int prot, int flags)
{
	int fd = memfd_create("unbacked", MFD_CLOEXEC);
	long map;

	if (fd < 0)
		return MAP_FAILED;
	flags &= ~(MAP_HUGETLB | MAP_ANONYMOUS | (int)(0x3fu << MAP_HUGE_SHIFT));
	map = syscall(SYS_mmap, at, bytes, prot, flags, fd, 0);
	close(fd);
	return (void *)map;
}

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	const char *how = getenv("HOSTILE_HUGETLB");

	if (how && (flags & MAP_HUGETLB) && strcmp(how, "refuse") == 0) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (how && (flags & MAP_HUGETLB) && (flags & MAP_ANONYMOUS))
		return map_unbacked(at, bytes, prot, flags);
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
}

static bool is_worker(void)
{
	char words[128] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, words, sizeof(words) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(words, (size_t)n, "__worker", 9) != NULL;
}

static void __attribute__((constructor)) begin(void)
{
	const char *rules = getenv("HOSTILE_WORKER");
	char copy[256];

	if (!rules || !is_worker())
		return;
	snprintf(copy, sizeof(copy), "%s", rules);
	if (deny_install(copy))
		abort();
}
