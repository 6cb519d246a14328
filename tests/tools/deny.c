// SPDX-License-Identifier: MIT
/*
 * Runs a command in which some system calls fail, as containers and hardened hosts make them fail:
 *
 *	deny mbind:EPERM,move_pages:ENOSYS -- pagetoll run
 *
 * A seccomp filter, inherited by every process of the command. Exit status 125 with a message when
 * the filter cannot be installed, else the command's.
 * Source: seccomp(2), Linux 5.10 manual; Documentation/userspace-api/seccomp_filter.rst.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define OUR_ARCH AUDIT_ARCH_RISCV64
#else
#error "name this architecture's AUDIT_ARCH_ here"
#endif

enum { MAX_RULES = 16, CANNOT = 125 };

struct name {
	const char *text;
	int number;
};

static const struct name calls[] = {
	{ "mbind", SYS_mbind },
	{ "set_mempolicy", SYS_set_mempolicy },
	{ "get_mempolicy", SYS_get_mempolicy },
	{ "move_pages", SYS_move_pages },
	{ "perf_event_open", SYS_perf_event_open },
	{ "madvise", SYS_madvise },
	{ "memfd_create", SYS_memfd_create },
	{ "sched_setaffinity", SYS_sched_setaffinity },
	{ "getrandom", SYS_getrandom },
	{ "prctl", SYS_prctl },
	{ NULL, 0 },
};

static const struct name errors[] = {
	{ "EPERM", EPERM },   { "ENOSYS", ENOSYS },         { "EACCES", EACCES },
	{ "EINVAL", EINVAL }, { "ENOMEM", ENOMEM },         { "ENOENT", ENOENT },
	{ "ENODEV", ENODEV }, { "EOPNOTSUPP", EOPNOTSUPP }, { "EMFILE", EMFILE },
	{ NULL, 0 },
};

static int find(const struct name *table, const char *text)
{
	for (; table->text; table++) {
		if (strcmp(table->text, text) == 0)
			return table->number;
	}
	return -1;
}

/* Appends the two instructions of one "call:ERROR". */
static int add_rule(struct sock_filter *code, size_t *n, char *rule)
{
	char *colon = strchr(rule, ':');
	int call, error;

	if (!colon)
		return -1;
	*colon = '\0';
	call = find(calls, rule);
	error = find(errors, colon + 1);
	if (call < 0 || error < 0) {
		fprintf(stderr, "deny: unknown call or error: %s:%s\n", rule, colon + 1);
		return -1;
	}
	code[(*n)++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
	code[(*n)++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error);
	return 0;
}

static int install(char *rules)
{
	struct sock_filter code[2 * MAX_RULES + 5];
	struct sock_fprog program = { .filter = code };
	size_t n = 0;
	char *save = NULL;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (char *rule = strtok_r(rules, ",", &save); rule; rule = strtok_r(NULL, ",", &save)) {
		if (n >= 2 * MAX_RULES + 4 || add_rule(code, &n, rule))
			return -1;
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) {
		perror("deny: cannot install the filter");
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		fprintf(stderr, "usage: deny CALL:ERROR[,CALL:ERROR]... -- COMMAND [WORD]...\n");
		return CANNOT;
	}
	if (install(argv[1]))
		return CANNOT;
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return CANNOT;
}
