/* SPDX-License-Identifier: MIT */
/*
 * The measured loops of RandomAccess. Compiled at fixed flags like chase_loops.h, and their machine
 * code is checked by a test. Each updates table[a & mask] ^= a for numbers a of the stream
 * (access/randomaccess.h), so that the same updates a second time undo them; none is atomic.
 */
#ifndef PAGETOLL_MEM_GUPS_LOOPS_H
#define PAGETOLL_MEM_GUPS_LOOPS_H

#include <stdint.h>

#include "access/randomaccess.h"

/* Half of the streams: updates that gups_tuned() asks for ahead, far below the rules' limit. */
enum { GUPS_AHEAD = RANDOMACCESS_STREAMS / 2 };

/*
 * As HPC Challenge does it: all streams one step on, @rounds times. @ran: where the streams stand;
 * changed. @mask: words of the table less one.
 */
void gups_literal(uint64_t *table, uint64_t mask, uint64_t ran[RANDOMACCESS_STREAMS],
		  uint64_t rounds);
/* The same updates in the same order, each word asked for GUPS_AHEAD updates before its own. */
void gups_tuned(uint64_t *table, uint64_t mask, uint64_t ran[RANDOMACCESS_STREAMS],
		uint64_t rounds);
/*
 * @updates of one stream that stands at @ran, one after the other: a word's address is known only
 * when the word before has come. Returns where the stream stands.
 */
uint64_t gups_dependent(uint64_t *table, uint64_t mask, uint64_t ran, uint64_t updates);
/* The same without waiting, as the rules describe the verification. */
uint64_t gups_replay(uint64_t *table, uint64_t mask, uint64_t ran, uint64_t updates);

/* table[i] = i, and how many words differ from that. */
void gups_fill(uint64_t *table, uint64_t words);
uint64_t gups_count_wrong(const uint64_t *table, uint64_t words);

#endif
