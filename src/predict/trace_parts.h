/* SPDX-License-Identifier: MIT */
/* Which node's thread touched what first: a hash table. Inside predict/ only. */
#ifndef PAGETOLL_PREDICT_TRACE_PARTS_H
#define PAGETOLL_PREDICT_TRACE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers of level 0 are base pages; of level k, tables of that level, which are also the pages
 * of the size that such a table maps.
 */
struct touch_map {
	uint64_t *keys; /* owned; 0: empty */
	uint8_t *nodes; /* owned */
	unsigned bits;  /* 0: not made */
	uint64_t n;
};

void touch_done(struct touch_map *t); /* accepts zeroed ones */
/* Enters it unless it is known: 1 new, 0 known, -ENOMEM. */
int touch_enter(struct touch_map *t, unsigned level, uint64_t number, uint32_t node);
/* The node; -1: never touched. */
int touch_find(const struct touch_map *t, unsigned level, uint64_t number);
size_t touch_bytes(const struct touch_map *t);

#endif
