/* SPDX-License-Identifier: MIT */
/* A parameter of a benchmark in words. */
#ifndef PAGETOLL_CLI_PARAM_WORDS_H
#define PAGETOLL_CLI_PARAM_WORDS_H

#include "base/str.h"
#include "bench/bench.h"

/* "a size, 4k to 64t" */
void param_accepted(struct str *out, const struct param *p);
/* "swept inside one process" */
const char *param_swept(const struct param *p);

#endif
