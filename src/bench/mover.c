/* SPDX-License-Identifier: MIT */
/*
 * Moving a working set. After each binding the CPU runs for some 20 us without memory, so that one
 * that was asleep is awake and clocked when the time begins, whether or not the thread moved. Left
 * out: TLBs are not flushed, as in the kernel's measurement; what the target's still hold they
 * hold.
 */
#include "bench/mover.h"

#include <sched.h>
#include <string.h>

#include "host/affinity.h"
#include "host/clock.h"
#include "host/counters.h"
#include "mem/chase_loops.h"
#include "mem/touch_loops.h"

enum { SETTLE_ADDS = 65536, ATTEMPTS = 4 };

int mover_init(struct mover *m, uint64_t *base, uint32_t a, uint32_t b, struct err *e)
{
	struct evict_sizes sizes, other;
	struct sysroot sr;
	int rc;

	*m = (struct mover){ .base = base, .strayed_to = -1, .pin = affinity_pin };
	rc = affinity_allowed(&m->allowed, e);
	if (rc < 0 || touch_flush(base, 0))
		return rc;
	rc = sysroot_init(&sr, NULL, e);
	if (rc < 0)
		return rc;
	evict_sizes_read(&sr, a, &sizes);
	evict_sizes_read(&sr, b, &other);
	if (other.data_bytes > sizes.data_bytes)
		sizes = other;
	return evict_map(&sizes, EVICT_DATA, &m->evict, e);
}

void mover_done(struct mover *m)
{
	if (m->allowed.n)
		affinity_avoid(&m->allowed, -1);
	u32_list_done(&m->allowed);
	evict_done(&m->evict);
	m->allowed.n = 0;
}

void mover_begin(struct mover *m, enum touch_pattern pattern, uint64_t bytes, uint64_t seed)
{
	touch_init(&m->touch, pattern, bytes, seed);
	memset(m->base, 0, bytes);
	m->passes = 0;
	m->repeats = 0;
	m->increments = 0;
}

static int bind(struct mover *m, uint32_t cpu, struct err *e)
{
	int rc = m->pin(cpu, e);

	if (rc < 0) {
		err_prefix(e, "while measuring: ");
		return rc;
	}
	loop_adds(SETTLE_ADDS);
	return 0;
}

static void see_cpu(struct mover *m, uint32_t wanted)
{
	int cpu = sched_getcpu();

	if (cpu != (int)wanted && m->strayed_to < 0) {
		m->strayed_to = cpu;
		m->strayed_from = wanted;
	}
}

/*
 * One timed pass, with the CPU's own word on both sides. *ret_whole is cleared when the thread was
 * switched out meanwhile: then the time is that of others too.
 */
static double touch_on(struct mover *m, uint32_t cpu, bool *ret_whole)
{
	struct thread_counts before, after;
	int64_t start, end;

	see_cpu(m, cpu);
	counters_thread(&before);
	start = clock_now_ns();
	touch_once(&m->touch, m->base);
	end = clock_now_ns();
	counters_thread(&after);
	see_cpu(m, cpu);
	if (after.involuntary_switches != before.involuntary_switches)
		*ret_whole = false;
	m->passes++;
	return (double)(end - start);
}

/* Where lines cannot be flushed, both CPUs read twice their caches full of other things. */
static int flush(struct mover *m, uint32_t source, uint32_t target, struct err *e)
{
	int rc;

	if (touch_flush(m->base, m->touch.words * TOUCH_WORD_BYTES))
		return 0;
	rc = bind(m, target, e);
	if (rc < 0)
		return rc;
	evict_data(&m->evict);
	if (source == target)
		return 0;
	rc = bind(m, source, e);
	if (rc == 0)
		evict_data(&m->evict);
	return rc;
}

static int measure_once(struct mover *m, uint32_t source, uint32_t target, bool *ret_whole,
			struct mover_times *ret, struct err *e)
{
	struct mover_times t;
	int rc = flush(m, source, target, e);

	*ret_whole = true;
	if (rc == 0)
		rc = bind(m, source, e);
	if (rc < 0)
		return rc;
	t.first_ns = touch_on(m, source, ret_whole);
	rc = bind(m, target, e);
	if (rc < 0)
		return rc;
	t.second_ns = touch_on(m, target, ret_whole);
	m->increments += 2 * touch_count(&m->touch);
	*ret = t;
	return 0;
}

int mover_measure(struct mover *m, uint32_t source, uint32_t target, struct mover_times *ret,
		  struct err *e)
{
	bool whole = false;
	int rc = 0;

	for (int i = 0; i < ATTEMPTS && rc == 0 && !whole; i++) {
		rc = measure_once(m, source, target, &whole, ret, e);
		m->repeats += rc == 0 && !whole && i + 1 < ATTEMPTS;
	}
	return rc;
}
