/* SPDX-License-Identifier: MIT */
/* Threads that are bound first and start together. See team.h. */
#include "mem/team.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/affinity.h"
#include "host/clock.h"

enum { STACK_BYTES = 256 << 10 };

struct member {
	struct team *team;
	size_t index;
	uint32_t cpu;
	pthread_t thread;
	int error; /* negative errno of binding */
};

struct team {
	size_t n, started; /* threads wanted, threads that exist */
	struct member *members;
	struct team_span *spans;
	pthread_mutex_t lock;
	pthread_cond_t wake, all_done;
	unsigned round;   /* of work; guarded by lock, like all but `ready` */
	size_t n_waiting; /* bound and asleep */
	bool end;
	void (*work)(void *user, size_t i);
	void *user;
	_Atomic size_t ready; /* awake, in the current round */
};

static int64_t stray(const struct member *m, int64_t before)
{
	int cpu = sched_getcpu();

	return before >= 0 ? before : cpu >= 0 && (uint32_t)cpu != m->cpu ? cpu : -1;
}

static void do_work(struct member *m)
{
	struct team *t = m->team;
	struct team_span *span = &t->spans[m->index];

	atomic_fetch_add(&t->ready, 1);
	while (atomic_load(&t->ready) < t->n)
		sched_yield();
	span->strayed_to = stray(m, -1);
	span->start_ns = clock_now_ns();
	t->work(t->user, m->index);
	span->end_ns = clock_now_ns();
	span->strayed_to = stray(m, span->strayed_to);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct team *t = m->team;
	unsigned seen = 0;

	m->error = affinity_pin(m->cpu, NULL);
	pthread_mutex_lock(&t->lock);
	for (;;) {
		t->n_waiting++;
		pthread_cond_signal(&t->all_done);
		while (t->round == seen && !t->end)
			pthread_cond_wait(&t->wake, &t->lock);
		if (t->end)
			break;
		seen = t->round;
		pthread_mutex_unlock(&t->lock);
		do_work(m);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* With the lock held: until every thread that exists sleeps. */
static void wait_for_all(struct team *t)
{
	while (t->n_waiting < t->started)
		pthread_cond_wait(&t->all_done, &t->lock);
}

void team_end(struct team *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->end = true;
	pthread_cond_broadcast(&t->wake);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < t->started; i++)
		pthread_join(t->members[i].thread, NULL);
	pthread_cond_destroy(&t->wake);
	pthread_cond_destroy(&t->all_done);
	pthread_mutex_destroy(&t->lock);
	free(t->members);
	free(t->spans);
	free(t);
}

static int start_threads(struct team *t, const uint32_t *cpus, struct err *e)
{
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (rc == 0)
		rc = pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (size_t i = 0; i < t->n && rc == 0; i++) {
		struct member *m = &t->members[i];

		*m = (struct member){ .team = t, .index = i, .cpu = cpus[i] };
		rc = pthread_create(&m->thread, &attr, member_main, m);
		t->started += rc == 0;
	}
	pthread_attr_destroy(&attr);
	if (rc)
		return err_set(e, rc, "starting thread %zu of %zu: %s", t->started + 1, t->n,
			       strerror(rc));
	pthread_mutex_lock(&t->lock);
	wait_for_all(t);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < t->n; i++)
		if (t->members[i].error < 0)
			return err_set(e, -t->members[i].error, "CPU %u cannot be used: %s",
				       cpus[i], strerror(-t->members[i].error));
	return 0;
}

int team_start(const uint32_t *cpus, size_t n, struct team **ret, struct err *e)
{
	struct team *t = calloc(1, sizeof(*t));
	int rc;

	if (t) {
		t->n = n;
		t->members = calloc(n ? n : 1, sizeof(*t->members));
		t->spans = calloc(n ? n : 1, sizeof(*t->spans));
	}
	if (!t || !t->members || !t->spans) {
		if (t) {
			free(t->members);
			free(t->spans);
		}
		free(t);
		return err_set(e, ENOMEM, "no memory for %zu threads", n);
	}
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->wake, NULL);
	pthread_cond_init(&t->all_done, NULL);
	rc = start_threads(t, cpus, e);
	if (rc < 0) {
		team_end(t);
		return rc;
	}
	*ret = t;
	return 0;
}

size_t team_size(const struct team *t)
{
	return t->n;
}

const struct team_span *team_run(struct team *t, void (*work)(void *user, size_t i), void *user)
{
	pthread_mutex_lock(&t->lock);
	t->work = work;
	t->user = user;
	atomic_store(&t->ready, 0);
	t->n_waiting = 0;
	t->round++;
	pthread_cond_broadcast(&t->wake);
	wait_for_all(t);
	pthread_mutex_unlock(&t->lock);
	return t->spans;
}
