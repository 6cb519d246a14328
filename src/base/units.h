/* SPDX-License-Identifier: MIT */
/*
 * Numbers and units: the one place that parses and formats sizes, counts, times, number lists and
 * ranges. Locale-free in both directions (never uses strtod() or printf("%f") under a locale).
 *
 * Accepted everywhere: decimal digits only (no sign, no 0x, no exponent, no blanks, no trailing
 * text). Refused values give -EINVAL, too large ones -ERANGE; the message names the text and what
 * is accepted.
 */
#ifndef PAGETOLL_BASE_UNITS_H
#define PAGETOLL_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { UNITS_TEXT_BYTES = 48 }; /* large enough for every format_ function below */

/* "123" -> 123. */
int parse_u64(const char *text, uint64_t *ret_value, struct err *e);

/*
 * Sizes in bytes: "100", "100B", "4k", "4K", "4KiB", "4kB" is refused, "3.5g", "16m+128" is NOT a
 * size (see strides). Suffixes k m g t are binary (2^10 ...), any case, optional "iB" after them.
 * A fraction must give a whole number of bytes.
 */
int parse_size(const char *text, uint64_t *ret_bytes, struct err *e);

/* Durations: "10s", "500ms", "250us", "100ns", "2m" (minutes), "1h"; a fraction is allowed. */
int parse_time_ns(const char *text, uint64_t *ret_ns, struct err *e);

/*
 * Shares: "2%", "0.5%" -> 0.02, 0.005. A bare number is refused. Result in [0, 1e6].
 */
int parse_percent(const char *text, double *ret_ratio, struct err *e);

/* A plain decimal number "0.25", "12", "-3.5", "1.5e-7" (machine files only, not the command line).
 */
int parse_real(const char *text, double *ret_value, struct err *e);

/* Exact binary size: 4096 -> "4k", 1610612736 -> "1.5g", 100 -> "100", 4097 -> "4097". Parses back.
 */
const char *format_size(char buf[UNITS_TEXT_BYTES], uint64_t bytes);

/* The same for people: "4 KiB", "1.5 GiB", "100 B"; not exact ("3.42 MiB": three digits). */
const char *format_size_human(char buf[UNITS_TEXT_BYTES], double bytes);

/* "1.37 ns", "12.4 us", "3.1 ms", "2.5 s"; three significant digits. */
const char *format_time_human(char buf[UNITS_TEXT_BYTES], double ns);

/* Shortest text that parses back to exactly @value ("0.3", "1.23456e-07", "500000000000"). */
const char *format_real(char buf[UNITS_TEXT_BYTES], double value);

/* @digits significant digits in plain notation ("3.81", "27.0", "1230"), for tables. */
const char *format_digits(char buf[UNITS_TEXT_BYTES], double value, int digits);

/* A sorted set of small numbers without duplicates (CPU and node lists), owned. */
struct u32_list {
	uint32_t *v; /* owned, ascending, unique */
	size_t n;
};

void u32_list_done(struct u32_list *l);
int u32_list_contains(const struct u32_list *l, uint32_t value);
/*
 * Kernel list format "0-3,8,10-12" (also the format numactl takes); "" and "\n" give an empty list.
 * Ids up to 1048575. -EINVAL on anything else (also descending ranges).
 */
int parse_u32_list(const char *text, struct u32_list *ret_list, struct err *e);
/* The inverse, as arena- or str-free text into a malloc()ed string; NULL when memory ran out. */
char *format_u32_list(const struct u32_list *l);

/*
 * One item of a VALUE: "V", "A..B", "A..B:STEP" (arithmetic, default step 1) or "A..B:xFACTOR"
 * (geometric, K >= 2 or a decimal such as x1.25, results rounded to integers, duplicates dropped).
 * @unit_bytes: nonzero parses A, B, STEP as sizes, zero as counts. B is always included for xK only
 * if the series hits it; A..B:STEP stops at the last value <= B.
 * Appends to a growing malloc()ed array; at most 100 000 values. -EINVAL, -ERANGE, -ENOMEM.
 */
struct u64_array {
	uint64_t *v; /* owned */
	size_t n, cap;
};
void u64_array_done(struct u64_array *a);
int u64_array_add(struct u64_array *a, uint64_t value);
int parse_item(const char *item, int unit_bytes, struct u64_array *ret_values, struct err *e);

#endif
