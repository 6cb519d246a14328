/* SPDX-License-Identifier: MIT */
/*
 * What fuzz targets share. A target defines LLVMFuzzerTestOneInput(); it aborts where a property
 * does not hold, the sanitizers find the rest.
 */
#ifndef PAGETOLL_TESTS_FUZZ_H
#define PAGETOLL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                  \
	do {                                                                              \
		if (!(condition)) {                                                       \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, \
				#condition);                                              \
			abort();                                                          \
		}                                                                         \
	} while (0)

/* The input as text, in memory of exactly its size; the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
