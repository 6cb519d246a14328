/* SPDX-License-Identifier: MIT */
/* An invented machine, unpacked and read, for the tests of host. */
#ifndef PAGETOLL_TESTS_TREE_TEST_H
#define PAGETOLL_TESTS_TREE_TEST_H

#include "host/machine.h"

struct tree_test {
	char *dir; /* owned; removed with the test */
	struct sysroot sr;
	struct machine m;
	bool has_machine;
};

/* Unpacks tests/data/sysroots/NAME.tree; fails the test when that does not work. */
void tree_open(struct tree_test *t, const char *name);
/* The same, and reads the machine. */
void tree_machine(struct tree_test *t, const char *name);
/* Writes one more file (or other content) into the tree. */
void tree_write(struct tree_test *t, const char *path, const char *text);
void tree_close(struct tree_test *t);

#endif
