/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over every file of the directories given, without libFuzzer: so any compiler
 * can replay what was once found. Hidden files are left out.
 */
#include <dirent.h>
#include <errno.h>

#include "fuzz.h"

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, cap = 0;
	int failed;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	do {
		uint8_t *bigger = realloc(data, cap + 65536);

		if (!bigger)
			break;
		data = bigger;
		cap += 65536;
		size += fread(data + size, 1, cap - size, f);
	} while (size == cap);
	failed = ferror(f) || size == cap;
	fclose(f);
	if (failed) {
		fprintf(stderr, "%s: cannot be read\n", path);
	} else {
		/* Memory of exactly that size, so that the sanitizer sees reading beyond it. */
		uint8_t *exact = malloc(size ? size : 1);

		if (exact && size)
			memcpy(exact, data, size);
		failed = !exact;
		if (exact)
			LLVMFuzzerTestOneInput(exact, size);
		free(exact);
	}
	free(data);
	return failed ? -1 : 0;
}

/* The number of files, -1 on failure. */
static long run_directory(const char *dir)
{
	struct dirent **entries;
	char path[4096];
	long done = 0;
	int n = scandir(dir, &entries, NULL, alphasort), i;

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", dir, strerror(errno));
		return -1;
	}
	for (i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.' && done >= 0) {
			snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
			done = run_file(path) < 0 ? -1 : done + 1;
		}
		free(entries[i]);
	}
	free(entries);
	return done;
}

int main(int argc, char **argv)
{
	long total = 0;
	int i;

	for (i = 1; i < argc; i++) {
		long n = run_directory(argv[i]);

		if (n < 0)
			return 1;
		total += n;
	}
	printf("%ld inputs replayed\n", total);
	return total > 0 ? 0 : 1;
}
