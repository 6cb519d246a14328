/* SPDX-License-Identifier: MIT */
/*
 * The kernel's functions by address, from /proc/kallsyms. Sizes are the distance to the next symbol
 * (padding included, as readprofile has it): the kernel tells none.
 */
#ifndef PAGETOLL_PROFILE_SYMBOLS_H
#define PAGETOLL_PROFILE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/sysroot.h"

struct symbol {
	uint64_t address;
	uint64_t end;       /* address of the next symbol; UINT64_MAX: there is none */
	const char *name;   /* as in the kernel; printable ASCII */
	const char *module; /* NULL: part of the kernel proper */
	bool has_size;      /* false: what follows belongs to another module, or nothing follows */
};

struct symbols {
	struct arena arena;
	struct symbol *v; /* ascending by address, one for each address */
	size_t n;
	uint64_t text_start, text_end; /* _stext and _etext; 0: not known */
	size_t n_lines, n_bad_lines;
	bool hidden; /* there are symbols, and every address is zero */
};

/*
 * Parses the text of /proc/kallsyms. Lines that are none are counted and left out. -ENOMEM. The
 * result is to be ended by symbols_done() whatever is returned.
 */
int symbols_parse(const char *text, size_t n, struct symbols *ret_symbols);
/* Reads and parses below @sr. -errno of the file, with a message; hidden addresses are no error. */
int symbols_read(const struct sysroot *sr, struct symbols *ret_symbols, struct err *e);
void symbols_done(struct symbols *s);

/* The function that @address lies in; NULL: none. */
const struct symbol *symbols_find(const struct symbols *s, uint64_t address);
/*
 * A name that no other function has: "free_pte_range", "nf_hook [nf_tables]", and "cleanup#2" for
 * the second static function of that name, by address. From @a; NULL: no memory.
 */
const char *symbols_unique_name(const struct symbols *s, const struct symbol *sym, struct arena *a);

#endif
