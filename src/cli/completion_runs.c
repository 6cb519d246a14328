// SPDX-License-Identifier: MIT
/* The names of the runs that were kept, for completion: labels, then the newest ids. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/completion_words.h"
#include "store/index.h"
#include "store/library.h"

enum { IDS_MAX = 20 };

/* Completion offers plain words only: a label that a shell would take apart is left out. */
static void add_name(struct str *out, const char *name)
{
	const char *at = str_text(out);
	size_t n = strlen(name);

	for (const char *p = name; *p; p++)
		if (!strchr("+-./:=@_%,~", *p) && !(*p >= '0' && *p <= '9') &&
		    !(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z'))
			return;
	for (; (at = strstr(at, name)); at += n)
		if ((at == str_text(out) || at[-1] == '\n') && at[n] == '\n')
			return;
	if (n)
		str_addf(out, "%s\n", name);
}

int completion_runs(void)
{
	struct index_filter all = { 0 };
	struct index_entries runs = { 0 };
	struct arena a = { 0 };
	struct index *x = NULL;
	struct str out = { 0 };
	char *dir = library_dir(NULL);

	/* a shell in the middle of a word wants no messages, and no folder made */
	if (dir && access(dir, F_OK) == 0 && index_open(dir, &x, NULL, NULL) == 0 &&
	    index_list(x, &all, &a, &runs, NULL) == 0) {
		for (size_t i = 0; i < runs.n; i++)
			if (runs.v[i].label)
				add_name(&out, runs.v[i].label);
		for (size_t i = 0; i < runs.n && i < IDS_MAX; i++)
			add_name(&out, runs.v[i].id);
	}
	index_close(x);
	arena_done(&a);
	free(dir);
	return cli_print_str(&out);
}
