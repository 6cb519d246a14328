/* SPDX-License-Identifier: MIT */
/*
 * The parts of the manual that the program knows itself: what verbs do and which options they take,
 * and the benchmarks. tools/make-manual joins them with docs/man/.
 */
#ifndef PAGETOLL_CLI_MANUAL_H
#define PAGETOLL_CLI_MANUAL_H

/* A verb that help does not name. */
#define MANUAL_VERB "__manual"

/*
 * Without a word: the names of all pages. With "pagetoll-VERB" or "pagetoll-benchmarks": the page's
 * beginning as scdoc source. Returns the exit status.
 */
int manual_main(int argc, char **argv);

#endif
