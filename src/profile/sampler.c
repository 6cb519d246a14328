// SPDX-License-Identifier: MIT
/*
 * The events. Leaves out: user mode (a kernel profile), weights of samples (one sample is one tick:
 * the kernel keeps to the frequency).
 * Sources: perf_event_open(2); kernel/events/core.c of Linux 6.1: perf_mmap() (an inherited event
 * has a buffer only with a CPU; perf_event_mlock_kb for each online CPU),
 * perf_swevent_init_hrtimer() (the clock's period is fixed), perf_poll() (hang-up when the last
 * task is gone); Documentation/admin-guide/perf-security.rst.
 */
#include "profile/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PERF_FORMAT_LOST, Linux 6.0. */
enum { FORMAT_LOST = 1 << 4 };
/* What perf_event_mlock_kb allows each user for each CPU, less the control page. */
enum { DATA_BYTES = 512 << 10 };

const char *sampler_event_name(enum sampler_event e)
{
	return e == SAMPLER_CYCLES ? "cycles" : "cpu-clock";
}

const char *sampler_blind_spot(enum sampler_event e)
{
	return e == SAMPLER_CYCLES
		       ? "code with interrupts off, where counter interrupts are not NMIs: its time "
			 "counts where interrupts come on again"
		       : "code with interrupts off (a timer interrupt takes the samples): its time "
			 "counts where interrupts come on again";
}

static long perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr attr_of(const struct sampler *s)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = s->event == SAMPLER_CYCLES ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = s->event == SAMPLER_CYCLES ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
						     : (uint64_t)PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = s->frequency,
		.freq = 1,
		.sample_type = PERF_SAMPLE_IP | (s->chains ? PERF_SAMPLE_CALLCHAIN : 0u),
		.read_format = FORMAT_LOST,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_user = 1,
		.exclude_hv = 1,
		.exclude_callchain_user = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(s->data_bytes / 4),
	};

	return a;
}

/* A descriptor, or -errno. Kernels before 6.0 know nothing of FORMAT_LOST. */
static int open_event(const struct sampler *s, pid_t pid, int cpu)
{
	struct perf_event_attr a = attr_of(s);
	long fd = perf_event_open(&a, pid, cpu);

	if (fd < 0 && errno == EINVAL) {
		a.read_format = 0;
		fd = perf_event_open(&a, pid, cpu);
	}
	return fd < 0 ? -errno : (int)fd;
}

/* Halves the buffer until the limit of locked memory lets it through. */
static int map_ring(struct sampler *s, struct sampler_ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (;;) {
		r->map = mmap(NULL, page + s->data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
			      0);
		if (r->map != MAP_FAILED)
			return 0;
		r->map = NULL;
		/* All buffers have one size: only the first may shrink it. */
		if ((errno != EPERM && errno != ENOMEM) || s->n > 0 || s->data_bytes <= 2 * page)
			return -errno;
		s->data_bytes /= 2;
	}
}

static void close_rings(struct sampler *s)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < s->n; i++) {
		if (s->rings[i].map)
			munmap(s->rings[i].map, page + s->data_bytes);
		close(s->rings[i].fd);
	}
	s->n = 0;
}

/* One event and buffer a CPU. *ret_mapping: it was the buffer that failed. */
static int open_all(struct sampler *s, pid_t pid, const struct u32_list *online, bool *ret_mapping)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*ret_mapping = false;
	s->data_bytes = DATA_BYTES > page ? DATA_BYTES : page;
	for (size_t i = 0; i < online->n; i++) {
		struct sampler_ring *r = &s->rings[s->n];
		int rc = open_event(s, pid, (int)online->v[i]);

		/* It went offline after the list was read. */
		if (rc == -ENODEV && s->n > 0)
			continue;
		if (rc >= 0) {
			r->fd = rc;
			rc = map_ring(s, r);
			*ret_mapping = rc < 0;
			if (rc < 0)
				close(r->fd);
		}
		if (rc < 0) {
			close_rings(s);
			return rc;
		}
		s->n++;
	}
	return s->n ? 0 : -ENODEV;
}

/* Two descriptors a CPU would be too many for the usual 1024 on the largest machines. */
static void raise_open_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* The kernel refuses higher frequencies with EINVAL. */
static unsigned allowed_frequency(const struct sysroot *sr, unsigned wanted)
{
	uint64_t most;

	if (sysroot_read_u64(sr, "proc/sys/kernel/perf_event_max_sample_rate", &most, NULL) < 0 ||
	    most == 0 || most >= wanted)
		return wanted;
	return (unsigned)most;
}

int sampler_open(const struct sysroot *sr, pid_t pid, const struct u32_list *online,
		 const struct sampler_options *o, struct sampler *ret_sampler, struct err *e)
{
	struct sampler s = { .event = o->clock_only ? SAMPLER_CLOCK : SAMPLER_CYCLES,
			     .frequency = allowed_frequency(sr, o->frequency),
			     .chains = o->chains };
	bool mapping;
	int rc;

	s.rings = calloc(online->n + 1, sizeof(*s.rings));
	if (!s.rings)
		return err_set(e, ENOMEM, "out of memory");
	raise_open_files();
	rc = open_all(&s, pid, online, &mapping);
	if (rc < 0 && s.event == SAMPLER_CYCLES) {
		sampler_explain(sr, -rc, s.event, mapping, &s.no_cycles);
		s.event = SAMPLER_CLOCK;
		rc = open_all(&s, pid, online, &mapping);
	}
	if (rc < 0) {
		sampler_explain(sr, -rc, s.event, mapping, e);
		free(s.rings);
		return rc;
	}
	*ret_sampler = s;
	return 0;
}

void sampler_drain(struct sampler *s, ring_sample_fn fn, void *user)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < s->n; i++) {
		struct perf_event_mmap_page *c = s->rings[i].map;
		uint64_t head = __atomic_load_n(&c->data_head, __ATOMIC_ACQUIRE);
		uint64_t tail = c->data_tail;

		if (head == tail)
			continue;
		tail = ring_read((const unsigned char *)c + page, s->data_bytes, tail, head,
				 s->chains, &s->counts, fn, user);
		__atomic_store_n(&c->data_tail, tail, __ATOMIC_RELEASE);
	}
}

void sampler_settle(struct sampler *s)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint64_t v[2]; /* value, lost */

		if (read(s->rings[i].fd, v, sizeof(v)) == (ssize_t)sizeof(v))
			lost += v[1];
	}
	if (lost > s->counts.lost)
		s->counts.lost = lost;
}

void sampler_close(struct sampler *s)
{
	close_rings(s);
	free(s->rings);
	s->rings = NULL;
}
