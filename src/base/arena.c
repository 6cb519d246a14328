/* SPDX-License-Identifier: MIT */
/*
 * Arena over malloc(): blocks of doubling size, objects are cut off the newest one. Large objects
 * get a block of their own, so that they do not waste the rest of the current one.
 */
#include "base/arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char data[];
};

void arena_done(struct arena *a)
{
	struct arena_block *b, *next;

	if (!a)
		return;
	for (b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	a->head = NULL;
}

static struct arena_block *block_new(size_t size)
{
	struct arena_block *b;

	if (size > SIZE_MAX - sizeof(*b))
		return NULL;
	b = calloc(1, sizeof(*b) + size);
	if (b)
		b->size = size;
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	const size_t align = alignof(max_align_t);
	struct arena_block *b = a->head;
	size_t size;
	void *p;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = bytes == 0 ? align : (bytes + align - 1) / align * align;
	if (!b || b->size - b->used < bytes) {
		size = b ? b->size * 2 : FIRST_BLOCK;
		if (size > LARGEST_BLOCK)
			size = LARGEST_BLOCK;
		if (b && bytes > size / 4) {
			/* Behind the current block, whose free rest stays in use. */
			struct arena_block *own = block_new(bytes);

			if (!own)
				return NULL;
			own->used = bytes;
			own->next = b->next;
			b->next = own;
			return own->data;
		}
		b = block_new(size > bytes ? size : bytes);
		if (!b)
			return NULL;
		b->next = a->head;
		a->head = b;
	}
	p = b->data + b->used;
	b->used += bytes;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n;
	char *p;

	if (!s)
		return NULL;
	n = strlen(s) + 1;
	p = arena_alloc(a, n);
	if (p)
		memcpy(p, s, n);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	n = vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : p;
}

int arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t item_bytes)
{
	size_t bigger;
	void *old, *new;

	if (n < *cap)
		return 0;
	bigger = *cap == 0 ? 8 : *cap * 2;
	if (bigger < *cap || (item_bytes && bigger > SIZE_MAX / 2 / item_bytes))
		return -ENOMEM;
	new = arena_alloc(a, bigger * item_bytes);
	if (!new)
		return -ENOMEM;
	/* @items is a pointer to a pointer of any type: copied as bytes, not through void **. */
	memcpy(&old, items, sizeof(old));
	if (n)
		memcpy(new, old, n * item_bytes);
	memcpy(items, &new, sizeof(new));
	*cap = bigger;
	return 0;
}
