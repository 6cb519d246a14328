/* SPDX-License-Identifier: MIT */
/* The streaming load: one pinned process, reading. */
#include "mem/load.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/affinity.h"
#include "mem/chase_loops.h"
#include "mem/policy.h"

static void stream(uint32_t cpu, int node, uint64_t bytes, int ready)
{
	char *map;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (affinity_pin(cpu, NULL) < 0 || (node >= 0 && policy_bind_task((uint32_t)node) < 0))
		_exit(1);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		   -1, 0);
	if (map == MAP_FAILED)
		_exit(1);
	memset(map, 1, bytes);
	if (write(ready, "r", 1) != 1)
		_exit(1);
	for (;;)
		loop_stream(map, bytes);
}

int load_start(uint32_t cpu, int node, uint64_t bytes, struct load *ret, struct err *e)
{
	int fds[2];
	char c;
	pid_t pid;
	ssize_t n;

	if (pipe(fds) < 0)
		return err_set(e, errno, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		stream(cpu, node, bytes & ~UINT64_C(511), fds[1]);
		_exit(1);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err_set(e, errno, "starting the load: %s", strerror(errno));
	}
	n = read(fds[0], &c, 1);
	close(fds[0]);
	if (n != 1) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return err_set(e, ENOMEM,
			       "the load could not start on CPU %u with %ju bytes on node %d", cpu,
			       (uintmax_t)bytes, node);
	}
	ret->pid = pid;
	return 0;
}

void load_stop(struct load *l)
{
	if (l->pid <= 0)
		return;
	kill(l->pid, SIGKILL);
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
}
