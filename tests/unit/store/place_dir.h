/* SPDX-License-Identifier: MIT */
/* A library of its own for each test of this room, and run files to put into it. */
#ifndef PAGETOLL_TESTS_STORE_PLACE_DIR_H
#define PAGETOLL_TESTS_STORE_PLACE_DIR_H

struct place {
	char dir[64];  /* PAGETOLL_DATA */
	char runs[72]; /* the library in it; exists */
};

/* cmocka fixtures; *state is a struct place. */
int place_setup(void **state);
int place_teardown(void **state);

/* Writes a run file with @n_measures, complete when @complete. @label may be NULL. */
void place_write(const char *id, const char *label, int n_measures, int complete);
/* DIR/runs/NAME into @buf of 200 bytes. */
const char *place_path(const struct place *p, char *buf, const char *name);

#endif
