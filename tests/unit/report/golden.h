/* SPDX-License-Identifier: MIT */
/*
 * Committed texts. PAGETOLL_UPDATE_GOLDEN=1 writes them anew: read the difference before committing
 * it.
 */
#ifndef PAGETOLL_TESTS_REPORT_GOLDEN_H
#define PAGETOLL_TESTS_REPORT_GOLDEN_H

#include "report/report.h"

/* Ends the test unless NAME.KIND.txt holds @got. */
void golden_compare(const char *name, const char *kind, const char *got);
/* At most 80 columns, no control characters, no trailing blanks, valid UTF-8. Changes @text. */
void golden_check_rules(const char *name, char *text, const struct report_options *o);

#endif
