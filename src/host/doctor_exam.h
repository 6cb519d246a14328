/* SPDX-License-Identifier: MIT */
/* The doctor's parts, for use inside host only: each looks at one area and adds findings. */
#ifndef PAGETOLL_HOST_DOCTOR_EXAM_H
#define PAGETOLL_HOST_DOCTOR_EXAM_H

#include "host/doctor.h"

struct exam {
	const struct sysroot *sr;
	const struct machine *m;
	struct run *r;
	const struct cpu *cpu; /* that would measure; NULL: none */
	bool no_memory;        /* a finding was lost */
};

/* Text in the run's arena, "" when memory ran out. */
const char *exam_text(struct exam *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a finding; @effect and @remedy are copied; the rest is the text of `what`. */
void exam_add(struct exam *x, const char *id, enum severity severity, const char *effect,
	      const char *remedy, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Numbers and first lines, for short: false where they cannot be read. */
bool exam_u64(const struct exam *x, const char *path, uint64_t *ret_value);
bool exam_line(const struct exam *x, const char *path, char *buf, size_t bytes);

void doctor_check_memory(struct exam *x); /* page sizes, nodes, limits, swap, KSM */
void doctor_check_cpu(struct exam *x);    /* CPUs, clocks, load, quota, hypervisor */
void doctor_check_rights(struct exam *x); /* what this process may ask the kernel; live only */

/* Answers of the live machine; 0, or the errno of a call that does nothing if it works. */
struct probe_results {
	int mbind, set_mempolicy, get_mempolicy, move_pages;
	int perf_cycles;    /* a user-space cycle counter of this thread */
	int pagemap;        /* reading /proc/self/pagemap */
	bool pagemap_hides; /* it reads, but with page frame numbers of 0 */
};
void probes_run(struct probe_results *ret);
/* Findings from such answers: a function of its arguments, so that every answer can be tested. */
void doctor_report_probes(struct exam *x, const struct probe_results *p);

#endif
