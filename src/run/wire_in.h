/* SPDX-License-Identifier: MIT */
/*
 * Reading single words of the line protocol; shared by wire_in.c and wire_frame.c only. @rest
 * points at the unread part of a line, NULL at its end; lines are changed in place. Each returns 0,
 * -EBADMSG or -ENOMEM.
 */
#ifndef PAGETOLL_RUN_WIRE_IN_H
#define PAGETOLL_RUN_WIRE_IN_H

#include "run/wire.h"

int wire_bad(struct err *e, const char *what); /* always -EBADMSG */
char *wire_word(char **rest);                  /* NULL: no word, or an empty one */
/* Unescaped, with control characters and invalid UTF-8 replaced, copied to @a. */
int wire_text(struct arena *a, char **rest, const char **ret, struct err *e);
int wire_name(struct arena *a, char **rest, const char **ret, struct err *e);
int wire_u64(char **rest, uint64_t max, uint64_t *ret, struct err *e);
int wire_i64(char **rest, int64_t *ret, struct err *e);
int wire_real(char **rest, double *ret, struct err *e);
int wire_end(char **rest, struct err *e); /* nothing may follow */
/* KIND NAME VALUE into @at; a name that is there already is an error. */
int wire_attr(struct arena *a, struct attrs *at, char **rest, struct err *e);

#endif
