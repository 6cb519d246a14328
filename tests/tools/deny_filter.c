// SPDX-License-Identifier: MIT
/*
 * The seccomp filter of the launcher deny and of the object hostile. Left out: calls of other
 * architectures than the program's own (they kill it), arguments.
 * Source: seccomp(2), Linux 5.10 manual; Documentation/userspace-api/seccomp_filter.rst.
 */
#include "deny_filter.h"

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

enum { MAX_RULES = 16, MAX_CODE = 2 * 4 * MAX_RULES + 5 };

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
	{ "ptrace", SYS_ptrace },
	{ "mmap", SYS_mmap },
	{ "clone", SYS_clone },
	{ "clone3", SYS_clone3 },
#ifdef SYS_fork
	{ "process", SYS_fork },
	{ "vfork", SYS_vfork },
#endif
	{ NULL, 0 },
};

static const struct name errors[] = {
	{ "EPERM", EPERM },   { "ENOSYS", ENOSYS },
	{ "EACCES", EACCES }, { "EINVAL", EINVAL },
	{ "ENOMEM", ENOMEM }, { "ENOENT", ENOENT },
	{ "ENODEV", ENODEV }, { "EOPNOTSUPP", EOPNOTSUPP },
	{ "EMFILE", EMFILE }, { "EAGAIN", EAGAIN },
	{ "OK", 0 }, /* claims success and does nothing */
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

/* Appends the two instructions of one call that fails with @error. */
static void add_call(struct sock_filter *code, size_t *n, int call, int error)
{
	code[(*n)++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
	code[(*n)++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error);
}

/* Appends one "call:ERROR". */
static int add_rule(struct sock_filter *code, size_t *n, char *rule)
{
	static const char *const makers[] = { "clone", "clone3", "process", "vfork" };
	char *colon = strchr(rule, ':');
	int call, error;

	error = colon ? find(errors, colon + 1) : -1;
	if (colon)
		*colon = '\0';
	call = find(calls, rule);
	if (error < 0 || (call < 0 && strcmp(rule, "fork") != 0)) {
		fprintf(stderr, "deny: unknown call or error: %s:%s\n", rule,
			colon ? colon + 1 : "");
		return -1;
	}
	if (call >= 0) {
		add_call(code, n, call, error);
		return 0;
	}
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		call = find(calls, makers[i]);
		if (call >= 0)
			add_call(code, n, call, error);
	}
	return 0;
}

int deny_install(char *rules)
{
	struct sock_filter code[MAX_CODE];
	struct sock_fprog program = { .filter = code };
	size_t n = 0, n_rules = 0;
	char *save = NULL;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (char *rule = strtok_r(rules, ",", &save); rule; rule = strtok_r(NULL, ",", &save)) {
		if (++n_rules > MAX_RULES || add_rule(code, &n, rule))
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
