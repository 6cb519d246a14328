/* SPDX-License-Identifier: MIT */
/*
 * The schema of machine files as tables: reader (machine_read.c), writer (machine_write.c) and the
 * test of the documentation all go through them. Inside sim/ only.
 */
#ifndef PAGETOLL_SIM_FIELDS_H
#define PAGETOLL_SIM_FIELDS_H

#include "sim/machine.h"

enum { SIM_FILE_VERSION = 1 };

enum field_kind {
	FIELD_TEXT,
	FIELD_REAL,
	FIELD_COUNT, /* uint32_t */
	FIELD_SIZE,  /* uint64_t; "32k" */
	FIELD_FLAG,
	FIELD_CHOICE, /* an enum */
	FIELD_PAGES,  /* of a TLB: ["4k", "2m"] */
	FIELD_PAIRS,  /* of the alias rule: [[12, 27], ...] */
	FIELD_MATRIX, /* of the memory: nodes x nodes */
};

struct field {
	const char *key, *unit, *summary;
	enum field_kind kind;
	size_t offset; /* in the section's structure */
	bool is_needed, is_figure;
	double min, max;
	const char *const *choices; /* CHOICE; ended by NULL */
	double def;                 /* where it is not given */
};

struct section {
	const char *name;
	size_t offset, element_bytes; /* in struct sim_machine */
	size_t max;                   /* elements; 0: a single object */
	size_t count_offset;          /* of the number of elements */
	bool is_needed;
	const struct field *fields; /* ended by key NULL */
};

extern const struct section sim_sections[]; /* ended by name NULL */

#endif
