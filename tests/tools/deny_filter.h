/* SPDX-License-Identifier: MIT */
/* A seccomp filter from rules such as "mbind:EPERM,fork:EAGAIN", for this process and what it
 * starts. */
#ifndef PAGETOLL_TESTS_DENY_FILTER_H
#define PAGETOLL_TESTS_DENY_FILTER_H

/*
 * Installs it; @rules is taken apart. "fork" is every call that makes a process or a thread. 0; -1
 * with a message on stderr when a name is unknown or the filter is refused.
 */
int deny_install(char *rules);

#endif
