/* SPDX-License-Identifier: MIT */
/*
 * Arena: many small objects that live and die together (a run and all its strings).
 * Objects are never freed one by one. Not for memory that is measured.
 */
#ifndef PAGETOLL_BASE_ARENA_H
#define PAGETOLL_BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *head; /* owned; newest block first */
};

/* All-zero is an empty arena: `struct arena a = { 0 };`. */
void arena_done(struct arena *a);

/* Zeroed memory, aligned for any type; NULL when memory ran out. */
void *arena_alloc(struct arena *a, size_t bytes);

/* Copies of text; NULL when memory ran out (or when @s is NULL). */
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Makes room for one element more in a growing array kept in the arena (the old copy is left
 * behind). @items points at the array pointer, @n is the number in use, @cap the capacity.
 * Returns 0 or -ENOMEM.
 */
int arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t item_bytes);

#endif
