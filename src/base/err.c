/* SPDX-License-Identifier: MIT */
/*
 * Error messages: the first one recorded wins. No translation, no stack of causes: one line for
 * people and one errno for programs.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	/* A code of 0 would turn a failure into a success in every caller. */
	if (code <= 0)
		code = EIO;
	if (!e || e->code != 0)
		return -code;
	e->code = code;
	va_start(ap, fmt);
	if (vsnprintf(e->msg, sizeof(e->msg), fmt, ap) < 0)
		e->msg[0] = '\0';
	va_end(ap);
	return -code;
}

void err_prefix(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->msg)];
	size_t used;
	va_list ap;
	int n;

	if (!e || e->code == 0)
		return;
	memcpy(old, e->msg, sizeof(old));
	old[sizeof(old) - 1] = '\0';
	va_start(ap, fmt);
	n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	used = n < 0 ? 0 : (size_t)n;
	if (used >= sizeof(e->msg))
		used = sizeof(e->msg) - 1;
	n = (int)strnlen(old, sizeof(e->msg) - 1 - used);
	memcpy(e->msg + used, old, (size_t)n);
	e->msg[used + (size_t)n] = '\0';
}

void err_clear(struct err *e)
{
	if (!e)
		return;
	e->code = 0;
	e->msg[0] = '\0';
}
