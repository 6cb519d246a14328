/* SPDX-License-Identifier: MIT */
/*
 * Errors. Functions return 0 or a negative errno; the first (lowest) layer that knows what went
 * wrong writes the message, upper layers may prefix it. Libraries neither print nor exit.
 */
#ifndef PAGETOLL_BASE_ERR_H
#define PAGETOLL_BASE_ERR_H

struct err {
	int code;      /* errno value, positive; 0: no error yet */
	char msg[512]; /* names the wrong value, what is accepted, and the remedy */
};

/*
 * Records an error unless one is recorded already (the first one wins).
 * @e may be NULL. @code is a positive errno. Always returns -code.
 */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts context in front of a recorded message ("node 3: "). Does nothing without an error. */
void err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Forgets a recorded error, so that the next err_set() records again. */
void err_clear(struct err *e);

#endif
