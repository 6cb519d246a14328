/* SPDX-License-Identifier: MIT */
/*
 * Schema: how a benchmark describes its parameters and metrics. The same structures are compiled
 * into the descriptors (bench/) and read back from run files, so that reports need no benchmark
 * code.
 */
#ifndef PAGETOLL_RECORD_SCHEMA_H
#define PAGETOLL_RECORD_SCHEMA_H

#include <stdint.h>

enum param_type {
	PARAM_COUNT,  /* a number */
	PARAM_BYTES,  /* a size; format_size() text */
	PARAM_STRIDE, /* a size or a symbol (page, leaf-table, pmd-table, pud-table, p4d-table),
			 "+offset" allowed */
	PARAM_PAGE,   /* a page size: base, 4k, 64k (mTHP), thp, hugetlb, hugetlb-2m, hugetlb-1g */
	PARAM_CHOICE, /* one of `choices` */
	PARAM_CPU,    /* a CPU id or auto */
	PARAM_NODE,   /* a node id, local, remote, or one of `choices` (e.g. none) */
};

enum param_role {
	ROLE_OUTER, /* a new process for each value */
	ROLE_INNER, /* swept in shuffled order inside one process */
	ROLE_FROM,  /* outer, and the row of a matrix */
	ROLE_TO,    /* outer, and its column */
};

struct param {
	const char *name;    /* as on the command line: "page-tables" */
	const char *summary; /* one line, no full stop */
	enum param_type type;
	enum param_role role;
	const char *def; /* default as on the command line; "auto": the benchmark chooses */
	const char *const *choices; /* NULL-terminated, NULL where `type` does not take them */
	uint64_t min, max;          /* for COUNT and BYTES, inclusive */
	/*
	 * The kernel setting (host/settings.h) that has this value while such a setting is
	 * measured, except for the value "keep"; NULL: none. Not kept in files.
	 */
	const char *setting;
};

enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NONE };
enum estimator { EST_MIN, EST_MEDIAN }; /* within one invocation */
enum series_form {
	FORM_SAMPLES, /* raw values of repetitions, any order kept */
	FORM_EXACT,   /* one integer that has no spread (bytes of page tables) */
	FORM_COUNT,   /* events: values[0] of exposure values[1] (operations, pages or ns) */
	FORM_SUMMARY, /* one published value; values[1], values[2] may be a published interval */
	FORM_TABLE,   /* rows of key and numeric columns (a kernel profile) */
};

struct metric {
	const char *name; /* with the unit: "ref_ns" */
	const char *summary;
	const char *unit; /* "ns", "cycles", "bytes", "ratio", "count" */
	enum better better;
	enum estimator estimator;
	enum series_form form;
};

/* Names used in files: "count", "outer", "lower", "min", "samples"... NULL for a bad value. */
const char *param_type_name(enum param_type t);
const char *param_role_name(enum param_role r);
const char *better_name(enum better b);
const char *estimator_name(enum estimator e);
const char *series_form_name(enum series_form f);
/* The inverse; returns 0 or -EINVAL. */
int param_type_parse(const char *s, enum param_type *ret);
int param_role_parse(const char *s, enum param_role *ret);
int better_parse(const char *s, enum better *ret);
int estimator_parse(const char *s, enum estimator *ret);
int series_form_parse(const char *s, enum series_form *ret);

/* What a run file says of a benchmark. Also the type of `struct bench`'s descriptive part. */
struct bench_schema {
	const char *name; /* "tlb.chase" */
	const char *summary;
	unsigned revision;            /* raised when numbers stop being comparable */
	const struct param *params;   /* ended by a row with name NULL */
	const struct metric *metrics; /* ended by a row with name NULL; the first is the headline */
};

/* The first parameter of a role; NULL: none. */
const struct param *schema_role(const struct bench_schema *s, enum param_role role);
/* NULL when absent. */
const struct param *schema_param(const struct bench_schema *s, const char *name);
const struct metric *schema_metric(const struct bench_schema *s, const char *name);

#endif
