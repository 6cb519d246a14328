/* SPDX-License-Identifier: MIT */
/*
 * Neighbours talk through a shared page and spin, so that being asked needs no system call: the
 * kernel's text would be in their caches again. Leaves out which node this should be.
 */
#include "mem/neighbours.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/affinity.h"

enum { SPINS_A_LOOK = 1 << 20 };

struct neighbours_page {
	_Atomic uint64_t asked;
	struct {
		_Alignas(64) _Atomic uint64_t done;
	} each[NEIGHBOURS_MAX];
};

static void live(struct neighbours_page *page, unsigned i, const struct evict *v,
		 void (*call)(void *), void *arg)
{
	uint64_t seen = 0;

	for (;;) {
		if (!call && atomic_load_explicit(&page->asked, memory_order_acquire) == seen)
			continue;
		evict_now(v);
		if (call)
			call(arg);
		seen++;
		atomic_store_explicit(&page->each[i].done, seen, memory_order_release);
	}
}

static int start_one(struct neighbours *g, uint32_t cpu, const struct evict *v,
		     void (*call)(void *), void *arg)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || affinity_pin(cpu, NULL) < 0)
			_exit(1);
		live(g->page, g->n, v, call, arg);
	}
	g->pids[g->n++] = pid;
	return 0;
}

/* All have done something: they are on their CPUs. */
static int wait_for_all(struct neighbours *g, uint64_t count)
{
	for (unsigned i = 0; i < g->n; i++) {
		for (unsigned spins = 1;; spins++) {
			if (atomic_load_explicit(&g->page->each[i].done, memory_order_acquire) >=
			    count)
				break;
			if (spins % SPINS_A_LOOK == 0 && waitpid(g->pids[i], NULL, WNOHANG) != 0)
				return -ECHILD;
		}
	}
	return 0;
}

static int start_all(const struct u32_list *cpus, uint32_t cpu, struct neighbours *g,
		     const struct evict *v, void (*call)(void *), void *arg)
{
	int rc = 0;

	evict_inherit(v, true);
	for (size_t i = 0; i < cpus->n && g->n < NEIGHBOURS_MAX && rc == 0; i++)
		if (cpus->v[i] != cpu)
			rc = start_one(g, cpus->v[i], v, call, arg);
	evict_inherit(v, false);
	return rc;
}

int neighbours_start(const struct sysroot *sr, uint32_t node, uint32_t cpu, const struct evict *v,
		     void (*call)(void *arg), void *arg, struct neighbours *ret, struct err *e)
{
	struct neighbours g = { 0 };
	struct u32_list cpus = { 0 };
	char path[80];
	int rc;

	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", node);
	/* without NUMA every CPU is of node 0 */
	if (sysroot_read_list(sr, path, &cpus, NULL) < 0 && node == 0)
		sysroot_read_list(sr, "sys/devices/system/cpu/online", &cpus, NULL);
	g.page = mmap(NULL, sizeof(*g.page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (g.page == MAP_FAILED) {
		u32_list_done(&cpus);
		return err_set(e, errno, "no memory to talk to other CPUs");
	}
	rc = start_all(&cpus, cpu, &g, v, call, arg);
	u32_list_done(&cpus);
	if (rc == 0 && g.n == 0)
		rc = -ENODEV;
	if (rc == 0)
		rc = call ? wait_for_all(&g, 1) : neighbours_evict(&g);
	if (rc < 0) {
		neighbours_stop(&g);
		return err_set(e, -rc, "node %u: %s beside CPU %u", node,
			       rc == -ENODEV   ? "there is no other CPU"
			       : rc == -ECHILD ? "a process may not run on some CPU (cpuset)"
					       : "no process can be started",
			       cpu);
	}
	*ret = g;
	return 0;
}

int neighbours_evict(struct neighbours *g)
{
	return wait_for_all(g, atomic_fetch_add(&g->page->asked, 1) + 1);
}

uint64_t neighbours_count(const struct neighbours *g)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < g->n; i++)
		sum += atomic_load(&g->page->each[i].done);
	return sum;
}

void neighbours_stop(struct neighbours *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		kill(g->pids[i], SIGKILL);
		waitpid(g->pids[i], NULL, 0);
	}
	g->n = 0;
	if (g->page)
		munmap(g->page, sizeof(*g->page));
	g->page = NULL;
}
