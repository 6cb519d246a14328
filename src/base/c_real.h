/* SPDX-License-Identifier: MIT */
/*
 * strtod() in the C locale whatever the process has set. Inside base/ only; everyone else calls
 * parse_real() of units.h.
 */
#ifndef PAGETOLL_BASE_C_REAL_H
#define PAGETOLL_BASE_C_REAL_H

#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* @text must be a number (not checked). Infinite when too large, NaN without a C locale. */
static inline double c_strtod(const char *text)
{
	/* For "C" the C library hands out a constant object: this costs no allocation. */
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double v;

	if (c == (locale_t)0)
		return NAN;
	v = strtod_l(text, NULL, c);
	freelocale(c);
	return v;
}

#endif
