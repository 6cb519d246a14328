/* SPDX-License-Identifier: MIT */
/* The list of runs, on stdout. Each returns the exit status. */
#ifndef PAGETOLL_CLI_HISTORY_PRINT_H
#define PAGETOLL_CLI_HISTORY_PRINT_H

#include <stdbool.h>

#include "store/index.h"

/* @filtered: an empty list may be so because of the filters. */
int history_text(const struct index_entries *n, const char *dir, bool filtered);
int history_json(const struct index_entries *n);
int history_csv(const struct index_entries *n);

#endif
