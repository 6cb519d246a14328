// SPDX-License-Identifier: MIT
/*
 * Runs a command in which some system calls fail, as containers and hardened hosts make them fail:
 *
 *	deny mbind:EPERM,move_pages:ENOSYS -- pagetoll run
 *
 * A seccomp filter, inherited by every process of the command. Exit status 125 with a message when
 * the filter cannot be installed, else the command's.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "deny_filter.h"

enum { CANNOT = 125 };

int main(int argc, char **argv)
{
	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		fprintf(stderr, "usage: deny CALL:ERROR[,CALL:ERROR]... -- COMMAND [WORD]...\n");
		return CANNOT;
	}
	if (deny_install(argv[1]))
		return CANNOT;
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return CANNOT;
}
