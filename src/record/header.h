/* SPDX-License-Identifier: MIT */
/*
 * The header line of a run file. Inside record/ only.
 */
#ifndef PAGETOLL_RECORD_HEADER_H
#define PAGETOLL_RECORD_HEADER_H

#include <jansson.h>

#include "base/err.h"
#include "record/run.h"

/*
 * Fills the header part of @r. -EBADMSG: a field is missing or wrong; -EPROTONOSUPPORT: written by
 * a later version; -ENOMEM. @r may be filled in part on failure.
 */
int header_from_json(json_t *o, struct run *r, struct err *e);

/*
 * The array "findings" of @o (a header or an environment), appended; nothing where there is none.
 * Memory from @a. -EBADMSG or -ENOMEM.
 */
int findings_from_json(json_t *o, struct arena *a, struct finding **to, size_t *n, size_t *cap,
		       struct err *e);

#endif
