/* SPDX-License-Identifier: MIT */
/*
 * Facts as sentences for people who did not make the run: "A second-level TLB hit costs 2.1 ns
 * [2.0, 2.2] more than a first-level one with 4 KiB pages." Internal to report/.
 */
#ifndef PAGETOLL_REPORT_FACTS_WORDS_H
#define PAGETOLL_REPORT_FACTS_WORDS_H

#include "report/report.h"

struct fact_sentence {
	const struct fact *fact; /* borrowed */
	const char *text;        /* plain text, not cleaned: may hold text from outside */
};
struct fact_sentences {
	struct fact_sentence *v;
	size_t n, cap;
	size_t n_more; /* facts with words that were left out: too many of their kind */
	/* Sentences without an interval say so; where none has one, the reader of them is to. */
	bool any_interval;
};

/*
 * The headline facts that have a value, those that people decide by first. Facts that only have
 * meaning beside others (cycles, ways) have no words and stand in the table only. Memory from @a;
 * 0 or -ENOMEM.
 */
int facts_words(struct arena *a, const struct report *rep, struct fact_sentences *ret);

#endif
