/* SPDX-License-Identifier: MIT */
/* unpack-tree FILE DIR: creates DIR (new or empty) with the invented machine that FILE describes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tree.h"

int main(int argc, char **argv)
{
	char msg[512];

	if (argc != 3) {
		fprintf(stderr, "usage: unpack-tree FILE DIR\n");
		return 2;
	}
	if (mkdir(argv[2], 0777) < 0 && errno != EEXIST) {
		fprintf(stderr, "unpack-tree: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	if (tree_unpack(argv[1], argv[2], msg, sizeof(msg)) < 0) {
		fprintf(stderr, "unpack-tree: %s\n", msg);
		return 1;
	}
	return 0;
}
