// SPDX-License-Identifier: MIT
/*
 * Runs a command while another process gives NUMA balancing work: its memory is touched from a CPU
 * of one node until half of it has moved there, then from one of the other, and so on. Where
 * balancing is off nothing moves. The command starts a second after.
 *
 *	lab-wander CPU OTHER_CPU COMMAND [WORD]...
 *
 * Exit status: the command's; 2 for wrong use.
 * Source: Documentation/admin-guide/sysctl/kernel.rst (numa_balancing), Linux 6.1.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4 << 20, PAGE = 4096, USAGE = 2 };

static void pin(unsigned long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Pages that balancing has moved since boot. */
static long long moved(void)
{
	static const char key[] = "numa_pages_migrated ";
	char line[256];
	long long pages = 0;
	FILE *f = fopen("/proc/vmstat", "r");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, sizeof(key) - 1) == 0)
			pages = strtoll(line + sizeof(key) - 1, NULL, 10);
	if (f)
		fclose(f);
	return pages;
}

/* Never returns. */
static void wander(unsigned long one, unsigned long other)
{
	volatile char *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(USAGE);
	pin(one);
	for (size_t i = 0; i < BYTES; i += PAGE)
		memory[i] = 1;
	for (bool there = true;; there = !there) {
		long long before = moved();

		pin(there ? other : one);
		while (moved() - before < BYTES / PAGE / 2)
			for (size_t i = 0; i < BYTES; i += PAGE)
				memory[i]++;
	}
}

int main(int argc, char **argv)
{
	pid_t child, command;
	int status = 0;

	if (argc < 4) {
		fprintf(stderr, "usage: lab-wander CPU OTHER_CPU COMMAND [WORD]...\n");
		return USAGE;
	}
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wander(strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
	}
	sleep(1);
	command = fork();
	if (command == 0) {
		execvp(argv[3], argv + 3);
		_exit(USAGE);
	}
	waitpid(command, &status, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : USAGE;
}
