/* SPDX-License-Identifier: MIT */
/*
 * The doctor: runs its parts and puts the worst first. Left out: changing anything; a remedy is
 * told, never applied.
 */
#include "host/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/doctor_exam.h"

enum { MAX_TEXT = 1024 };

static const char *__attribute__((format(printf, 2, 0)))
vtext(struct exam *x, const char *fmt, va_list ap)
{
	char buf[MAX_TEXT];
	char *s;

	vsnprintf(buf, sizeof(buf), fmt, ap);
	s = arena_strdup(&x->r->arena, buf);
	if (!s)
		x->no_memory = true;
	return s ? s : "";
}

const char *exam_text(struct exam *x, const char *fmt, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, fmt);
	s = vtext(x, fmt, ap);
	va_end(ap);
	return s;
}

void exam_add(struct exam *x, const char *id, enum severity severity, const char *effect,
	      const char *remedy, const char *fmt, ...)
{
	struct finding *f = run_add_finding(x->r);
	va_list ap;

	if (!f) {
		x->no_memory = true;
		return;
	}
	va_start(ap, fmt);
	f->what = vtext(x, fmt, ap);
	va_end(ap);
	f->id = exam_text(x, "%s", id);
	f->severity = severity;
	f->effect = exam_text(x, "%s", effect);
	f->remedy = exam_text(x, "%s", remedy);
}

bool exam_u64(const struct exam *x, const char *path, uint64_t *ret_value)
{
	return sysroot_read_u64(x->sr, path, ret_value, NULL) == 0;
}

bool exam_line(const struct exam *x, const char *path, char *buf, size_t bytes)
{
	return sysroot_read_line(x->sr, path, buf, bytes, NULL) == 0;
}

/* Worst first; among equals the order in which they were found. An insertion sort is stable. */
static void sort_findings(struct finding *f, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct finding key = f[i];
		size_t k = i;

		for (; k > 0 && f[k - 1].severity < key.severity; k--)
			f[k] = f[k - 1];
		f[k] = key;
	}
}

int doctor_examine(const struct sysroot *sr, const struct machine *m, struct run *r, struct err *e)
{
	struct exam x = { .sr = sr, .m = m, .r = r };
	size_t before = r->n_findings;
	uint32_t cpu;

	if (machine_choose_cpu(m, &cpu, NULL) == 0)
		x.cpu = machine_cpu(m, cpu);
	doctor_check_cpu(&x);
	doctor_check_memory(&x);
	doctor_check_rights(&x);
	if (x.no_memory)
		return err_set(e, ENOMEM, "no memory for the doctor's findings");
	if (r->n_findings > before)
		sort_findings(r->findings + before, r->n_findings - before);
	return 0;
}
