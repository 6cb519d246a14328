/* SPDX-License-Identifier: MIT */
/*
 * A whole run as the text of its file, for runs that are not measured line by line (imported ones).
 */
#ifndef PAGETOLL_RECORD_RUNFILE_TEXT_H
#define PAGETOLL_RECORD_RUNFILE_TEXT_H

#include "base/err.h"
#include "base/str.h"
#include "record/run.h"

/* Appends header, measures and, where the run has one, footer. -ENOMEM. */
int runfile_text(struct str *out, const struct run *r, struct err *e);

#endif
