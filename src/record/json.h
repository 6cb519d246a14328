/* SPDX-License-Identifier: MIT */
/*
 * Record to JSON objects, shared by the run files and by `--format json` (report/). Numbers that
 * are not finite become null.
 */
#ifndef PAGETOLL_RECORD_JSON_H
#define PAGETOLL_RECORD_JSON_H

#include <stdbool.h>

#include <jansson.h>

#include "record/run.h"

/* Each returns a new reference, NULL when memory ran out. */
json_t *json_from_attrs(const struct attrs *at);
json_t *json_from_header(const struct run *r);
json_t *json_from_environment(const struct environment *v);
json_t *json_from_measure(const struct measure *m);
json_t *json_from_footer(const struct run *r);
json_t *json_from_finding(const struct finding *f);
json_t *json_from_fact(const struct fact *f);
/* A finite real, else null. */
json_t *json_real_or_null(double v);
/* A string (what is not UTF-8 in it made valid), null for NULL. */
json_t *json_text_or_null(const char *s);
/* As json_object_set_new(), also for keys that are not UTF-8 and @value NULL. 0 or -1. */
int json_put(json_t *object, const char *key, json_t *value);
/* Takes over @o: NULL if @is_bad. */
json_t *json_unless(bool is_bad, json_t *o);

#endif
