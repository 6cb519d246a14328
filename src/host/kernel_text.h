/* SPDX-License-Identifier: MIT */
/*
 * Parsers of the text formats that Linux uses in /proc and /sys: pure functions of a text, so that
 * they can be fuzzed. Reading the files is sysroot's business.
 */
#ifndef PAGETOLL_HOST_KERNEL_TEXT_H
#define PAGETOLL_HOST_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

/*
 * Each returns 0 or: -EINVAL (not of that form), -ERANGE (above 64 bits), -ENODATA (the key is not
 * there), -EMSGSIZE (does not fit), -ENOMEM. Results are untouched on failure.
 */

/* One unsigned decimal number, blanks around it allowed. */
int ktext_u64(const char *text, uint64_t *ret_value);
/* As ktext_u64(), and the word "max" or "unlimited" for UINT64_MAX. */
int ktext_limit(const char *text, uint64_t *ret_value);
/*
 * Lines "key: 123 kB", "key 123" and "Node 0 key: 123 kB": the value of the first line with @key,
 * kB scaled to bytes.
 */
int ktext_key(const char *text, const char *key, uint64_t *ret_value);
/* Lines "key<blanks>: words": the words of the first line with @key, without outer blanks. */
int ktext_field(const char *text, const char *key, char *buf, size_t bytes);
/* Whether the blank-separated list of words that is @key's field has @word ("flags" of cpuinfo). */
bool ktext_has_word(const char *text, const char *key, const char *word);
/* "always [madvise] never": the word in brackets. */
int ktext_choice(const char *text, char *buf, size_t bytes);
/* Hexadecimal mask in groups of 32 bits, highest first: "00000001,ffffffff". */
int ktext_mask(const char *text, struct u32_list *ret_list);
/* The soft limit of the row @name ("Max address space") of /proc/PID/limits. */
int ktext_rlimit(const char *text, const char *name, uint64_t *ret_value);

#endif
