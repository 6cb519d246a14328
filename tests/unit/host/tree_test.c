/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "data/tree.h"
#include "tree_test.h"

void tree_open(struct tree_test *t, const char *name)
{
	char file[512], msg[512] = "";
	struct err e = { 0 };

	*t = (struct tree_test){ 0 };
	snprintf(file, sizeof(file), "%s/%s.tree", TREE_DIR, name);
	t->dir = tree_unpack_temp(file, msg, sizeof(msg));
	if (!t->dir)
		fail_msg("%s", msg);
	assert_int_equal(sysroot_init(&t->sr, t->dir, &e), 0);
	assert_false(t->sr.is_live);
}

void tree_machine(struct tree_test *t, const char *name)
{
	struct err e = { 0 };

	tree_open(t, name);
	if (machine_read(&t->sr, &t->m, &e) < 0)
		fail_msg("%s: %s", name, e.msg);
	t->has_machine = true;
}

void tree_write(struct tree_test *t, const char *path, const char *text)
{
	char full[1024], msg[512] = "", entry[4096];

	snprintf(full, sizeof(full), "%s/%s", t->dir, path);
	unlink(full);
	snprintf(entry, sizeof(entry), "== %s\n%s", path, text);
	if (tree_unpack_text("test", entry, t->dir, msg, sizeof(msg)) < 0)
		fail_msg("%s", msg);
}

void tree_close(struct tree_test *t)
{
	if (t->has_machine)
		machine_done(&t->m);
	if (t->dir)
		tree_remove(t->dir);
	free(t->dir);
	*t = (struct tree_test){ 0 };
}
