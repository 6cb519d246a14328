/* SPDX-License-Identifier: MIT */
/*
 * Enumerations and their names in files, from one table each. Inside record/ only.
 */
#ifndef PAGETOLL_RECORD_NAMES_H
#define PAGETOLL_RECORD_NAMES_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* NULL for a value that is not in the table. */
static inline const char *name_of(const char *const *table, size_t n, size_t value)
{
	return value < n ? table[value] : NULL;
}

/* The index of @s, -EINVAL when it is none of the names (or NULL). */
static inline int index_of(const char *const *table, size_t n, const char *s)
{
	size_t i;

	for (i = 0; s && i < n; i++)
		if (!strcmp(table[i], s))
			return (int)i;
	return -EINVAL;
}

#define NAME_OF(table, value) name_of(table, sizeof(table) / sizeof((table)[0]), (size_t)(value))

/* The body of a parse function: index_of() with the right type. */
#define PARSE_NAME(table, s, ret)                                                   \
	do {                                                                        \
		int found = index_of(table, sizeof(table) / sizeof((table)[0]), s); \
		if (found < 0)                                                      \
			return found;                                               \
		*(ret) = (__typeof__(*(ret)))found;                                 \
		return 0;                                                           \
	} while (0)

#endif
