// SPDX-License-Identifier: MIT
/*
 * Takes page faults and does nothing else: maps MIB of anonymous memory without huge pages, writes
 * to each page once, unmaps it, ROUNDS times.
 *
 *	fault MIB ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (!bytes || rounds < 1) {
		fprintf(stderr, "usage: fault MIB ROUNDS\n");
		return 125;
	}
	for (long i = 0; i < rounds; i++) {
		volatile char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED) {
			perror("fault: mmap");
			return 125;
		}
		(void)madvise((void *)(unsigned long)p, bytes, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < bytes; at += page)
			p[at] = 1;
		munmap((void *)(unsigned long)p, bytes);
	}
	return 0;
}
