/* SPDX-License-Identifier: MIT */
/*
 * The record: what a run is in memory. A run owns an arena; everything that its structures point to
 * is borrowed from it and lives until run_free(). Units are in the names.
 *
 *   run = header + measures + footer; measure = one worker's finding at one setting, with proof,
 *   taints and series; point = all measures of one setting (assembled on load); fact = inferred.
 */
#ifndef PAGETOLL_RECORD_RUN_H
#define PAGETOLL_RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "record/attrs.h"
#include "record/schema.h"

enum { RUN_SCHEMA_VERSION = 1 };

enum verdict {
	VERDICT_OK,
	VERDICT_SKIPPED, /* cannot be measured here; the reason says why */
	VERDICT_INVALID, /* measured, but the evidence is contrary: kept, never compared */
	VERDICT_FAILED,  /* something that should work did not */
	VERDICT_TIMEOUT,
	VERDICT_KILLED,
};
const char *verdict_name(enum verdict v);
int verdict_parse(const char *s, enum verdict *ret);

enum origin { ORIGIN_MEASURED, ORIGIN_PREDICTED, ORIGIN_PUBLISHED, ORIGIN_ADVERTISED };
const char *origin_name(enum origin o);
int origin_parse(const char *s, enum origin *ret);

struct series {
	const char *metric; /* "ref_ns" */
	const char *part;   /* part of a breakdown ("walk.leaf.l2"), else NULL */
	enum origin origin;
	enum series_form form;
	double *values;       /* SAMPLES: n values; SUMMARY: 1 or 3; else NULL */
	int64_t *integers;    /* EXACT: 1; COUNT: 2 (events, exposure); else NULL */
	size_t n;             /* values, or integers; TABLE: rows */
	const char **columns; /* TABLE: n_columns numeric column names */
	const char **keys;    /* TABLE: n row keys */
	double *cells;        /* TABLE: n x n_columns, row major; NaN: empty */
	size_t n_columns;
	const char *null_reason; /* not NULL: no data (n = 0), and why */
};

struct measure {
	const char *bench;   /* name of one of the run's schemas */
	const char *arm;     /* "A" or "B" of an interleaved experiment; NULL: none */
	const char *boot_id; /* where it differs from the header's (a later block); else NULL */
	unsigned invocation; /* 0-based number of the fresh process at this outer setting and arm */
	struct attrs setting; /* every parameter, canonical; numbers as INT, the rest as TEXT */
	enum verdict verdict;
	const char *reason;   /* not NULL unless the verdict is ok */
	const char *unproven; /* NULL: the proof is complete; else what is not proven and why */
	struct attrs proof;   /* evidence: page sizes found, faults, node counts, checksum... */
	struct attrs
		taints; /* what disturbed: steal, switches, throttling; only those that occurred */
	struct series *series;
	size_t n_series, cap_series;
	int64_t start_unix_ns;
	int64_t duration_ns;
};

enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_BLOCKER };
const char *severity_name(enum severity s);
int severity_parse(const char *s, enum severity *ret);

/* One thing that disturbs or forbids measuring (doctor). */
struct finding {
	const char *id; /* stable: "thp-never" */
	enum severity severity;
	const char *what;   /* what is so here, with the value */
	const char *effect; /* what it does to which numbers */
	const char *remedy; /* the exact command or setting; or why there is none */
};

/*
 * The machine as one arm of an experiment had it in one boot, where the header's is not, or not
 * surely, that: settings that were changed on purpose, another kernel.
 */
struct environment {
	const char *arm;     /* "A" or "B"; NULL: both */
	const char *boot_id; /* NULL: unknown */
	int64_t start_unix_ns;
	struct attrs fingerprint, context;
	struct finding *findings;
	size_t n_findings, cap_findings;
};

struct curve_points;

struct fact {
	const char *id;              /* "tlb.entries" */
	struct attrs where;          /* page=4k level=1 */
	const char *unit;            /* "entries", "ns", "cycles", "bytes", "percent" */
	double value;                /* NaN: could not be measured; see reason */
	double low, high;            /* 95 % interval; NaN: none, see interval_reason */
	const char *reason;          /* why there is no value, else NULL */
	const char *interval_reason; /* why there is no interval, else NULL */
	double nominal;              /* the round size that the value stands for (64), NaN: none */
	double advertised;           /* what CPUID says, NaN: nothing */
	const char *method;          /* "step model", "median over invocations of minima" */
	unsigned method_revision;
	const char *note; /* what to know of it, else NULL */
	/*
	 * A knee: the curve that has it, and where along its inner parameter with the interval
	 * (NaN: none). NULL: not a knee. Not kept in files.
	 */
	const struct curve_points *curve;
	double knee, knee_low, knee_high;
};

struct facts {
	struct fact *v;
	size_t n, cap;
};

struct run {
	struct arena arena;
	/* header */
	int schema_version;
	const char *id;     /* 26 characters, sorts by time; or a published run's name */
	const char *source; /* "measured here", or the citation of a published table */
	const char *label;  /* NULL: none */
	enum origin origin;
	const char *version; /* of pagetoll, with build facts */
	const char *command; /* as typed */
	const char *preset;  /* "quick", "default", "rigorous", or NULL */
	const char *boot_id; /* NULL: unknown */
	int64_t start_unix_ns;
	struct attrs fingerprint; /* of the machine; must match for A/B */
	struct attrs context;     /* what may differ: load, free memory, clocks, timer cost */
	struct finding *findings;
	size_t n_findings, cap_findings;
	struct bench_schema *schemas;
	size_t n_schemas, cap_schemas;
	/* body */
	struct measure *measures;
	size_t n_measures, cap_measures;
	struct environment *environments; /* one an arm and boot at most; mostly none */
	size_t n_environments, cap_environments;
	/* footer */
	bool has_footer;
	bool complete;
	const char *stop_reason; /* why the run ended: "interval target met", "interrupted" */
	int64_t end_unix_ns;
	size_t n_bad_lines; /* lines of the file that could not be read (a torn last line is one) */
};

/* An empty run; NULL when memory ran out. Destructor accepts NULL. */
struct run *run_new(void);
void run_free(struct run *r);

/* Appends a zeroed element and returns it (valid until the next append); NULL: no memory. */
struct measure *run_add_measure(struct run *r);
struct finding *run_add_finding(struct run *r);
struct environment *run_add_environment(struct run *r);
/* Of that arm and boot (each may be NULL, which is equal to NULL only); NULL: there is none. */
const struct environment *run_environment(const struct run *r, const char *arm,
					  const char *boot_id);
struct series *measure_add_series(struct run *r, struct measure *m);
struct fact *facts_add(struct arena *a, struct facts *f);

/* NULL, "A" and "B" are the arms that there are. */
bool measure_arm_is_valid(const char *arm);

/* Deep copy of a schema into the run (nothing if its name is there already). 0 or -ENOMEM. */
int run_add_schema(struct run *r, const struct bench_schema *s);
const struct bench_schema *run_schema(const struct run *r, const char *bench);
const struct series *measure_series(const struct measure *m, const char *metric);

/* Sorting id of 26 characters for a run begun at @unix_ns; @random makes it unique. */
void run_make_id(char ret_id[27], int64_t unix_ns, uint64_t random);

/*
 * Points: measures of a run with the same bench, arm and setting, in order of first appearance.
 * Memory from @a; `measures` are borrowed from the run.
 */
struct point {
	const char *bench;
	const char *arm;             /* NULL: none; arms are never pooled */
	const struct attrs *setting; /* of the first measure */
	const struct measure **measures;
	size_t n_measures, cap;
};
struct points {
	struct point *v;
	size_t n, cap;
};
int points_assemble(struct arena *a, const struct run *r, struct points *ret_points);

/*
 * Curves: points that share all outer parameters, ordered by their one inner parameter (or in order
 * of appearance where a benchmark has none). @outer holds the outer parameters only.
 */
struct curve_points {
	const char *bench;
	const char *arm; /* NULL: none */
	struct attrs outer;
	const char *inner;           /* name of the inner parameter, NULL: none */
	const struct point **points; /* ascending by the inner value */
	size_t n, cap;
	/*
	 * A setting that could not run at all leaves one measure without the inner parameter: its
	 * reason stands here and `n` is 0. NULL otherwise.
	 */
	const struct measure *skipped;
};
struct curves {
	struct curve_points *v;
	size_t n, cap;
};
int curves_assemble(struct arena *a, const struct run *r, const struct points *p,
		    struct curves *ret_curves);

#endif
