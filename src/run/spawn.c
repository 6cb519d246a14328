/* SPDX-License-Identifier: MIT */
/*
 * Starting and ending worker processes. Sources: prctl(2), close_range(2), pidfd_open(2),
 * signal-safety(7): between fork and exec only such calls are made, but for the small calloc() of
 * affinity_pin(); the parent has one thread.
 */
#include "run/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/affinity.h"
#include "run/run.h"

double spawn_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

int64_t spawn_cpu(const struct invocation_spec *s)
{
	for (const struct param *p = s->bench->schema.params; p && p->name; p++) {
		char name[128];

		if (p->type != PARAM_CPU)
			continue;
		snprintf(name, sizeof(name), "%s.id", p->name);
		return attrs_int(&s->setting.resolved, name, -1);
	}
	return -1;
}

/* The child's side until exec; never returns. */
static void become_worker(int spec, int result, pid_t parent, int64_t cpu, char *const *env)
{
	static const int signals[] = { SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD };
	char name[] = "pagetoll-worker", verb[] = WORKER_VERB;
	char *argv[] = { name, verb, NULL };
	sigset_t none;
	int s, r, null;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(WORKER_NO_PARENT);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Before exec, so that even the program's first pages and page tables lie near that CPU;
	 * worker_main() binds again and reports a failure. */
	if (cpu >= 0)
		affinity_pin((uint32_t)cpu, NULL);
	/* Out of the way first: the pipes may already have the numbers 3 and 4. */
	s = fcntl(spec, F_DUPFD_CLOEXEC, 10);
	r = fcntl(result, F_DUPFD_CLOEXEC, 10);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (s < 0 || r < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(s, WORKER_SPEC_FD) < 0 || dup2(r, WORKER_RESULT_FD) < 0)
		_exit(WORKER_NO_EXEC);
	close_range(WORKER_RESULT_FD + 1, ~0U, 0);
	execve("/proc/self/exe", argv, env);
	_exit(WORKER_NO_EXEC);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool is_set_anew(const char *inherited, const char *const *env)
{
	size_t n = strcspn(inherited, "=") + 1;

	for (; env && *env; env++)
		if (strncmp(*env, inherited, n) == 0)
			return true;
	return false;
}

/* The inherited environment with @env over it; the array only is owned. NULL: no memory. */
static char **make_environment(const char *const *env)
{
	size_t room = 1, n = 0;
	char **all;

	for (char **v = environ; v && *v; v++)
		room++;
	for (const char *const *v = env; v && *v; v++)
		room++;
	all = calloc(room, sizeof(*all));
	for (char **v = environ; all && v && *v; v++)
		if (!is_set_anew(*v, env))
			all[n++] = *v;
	for (const char *const *v = env; all && v && *v; v++)
		memcpy(&all[n++], v, sizeof(*all)); /* execve() takes no const */
	return all;
}

int spawn_worker(int64_t cpu, const char *const *env, struct worker *ret, struct err *e)
{
	char **environment = make_environment(env);
	struct worker w = { .spec_fd = -1, .result_fd = -1 };
	int spec[2] = { -1, -1 }, result[2] = { -1, -1 }, code = 0;
	pid_t parent = getpid();

	if (!environment)
		return err_set(e, ENOMEM, "out of memory");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, spec) < 0 ||
	    pipe2(result, O_CLOEXEC) < 0 || fcntl(spec[0], F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(result[0], F_SETFL, O_NONBLOCK) < 0)
		code = errno;
	if (code == 0) {
		w.pid = fork();
		if (w.pid == 0)
			become_worker(spec[1], result[1], parent, cpu, environment);
		if (w.pid < 0)
			code = errno;
	}
	free(environment);
	close_fd(&spec[1]);
	close_fd(&result[1]);
	if (code) {
		close_fd(&spec[0]);
		close_fd(&result[0]);
		return err_set(e, code, "cannot start a worker process: %s", strerror(code));
	}
	/* Also here, so that the group exists whoever comes first; fails after the child's exec. */
	setpgid(w.pid, w.pid);
	w.spec_fd = spec[0];
	w.result_fd = result[0];
	*ret = w;
	return 0;
}

void spawn_close_spec(struct worker *w)
{
	close_fd(&w->spec_fd);
}

/* Whether the worker has ended; leaves it unreaped, so that its group id stays taken. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == ECHILD;
	return info.si_pid == pid;
}

static void sleep_seconds(double seconds)
{
	struct timespec ts = { .tv_nsec = (long)(seconds * 1e9) };

	nanosleep(&ts, NULL);
}

/* True when it ended within @seconds. Kernels without pidfd_open (before 5.3) are polled. */
static bool wait_end(pid_t pid, double seconds)
{
	double until = spawn_now() + seconds;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	while (!has_ended(pid)) {
		double left = until - spawn_now();
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (left <= 0)
			break;
		if (fd >= 0)
			poll(&p, 1, (int)(left < 1 ? left * 1e3 + 1 : 1000));
		else
			sleep_seconds(0.005);
	}
	if (fd >= 0)
		close(fd);
	return has_ended(pid);
}

/* Children of the worker become ours when it ends (PR_SET_CHILD_SUBREAPER) and are reaped here. */
static void reap_group(pid_t group)
{
	for (int i = 0; i < 1000; i++) {
		pid_t pid = waitpid(-group, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return;
		if (pid == 0)
			sleep_seconds(0.001);
	}
}

int spawn_end(struct worker *w, double patience_seconds, double grace_seconds)
{
	int status = 0;

	close_fd(&w->spec_fd);
	if (!wait_end(w->pid, patience_seconds)) {
		kill(-w->pid, SIGTERM);
		if (!wait_end(w->pid, grace_seconds))
			kill(-w->pid, SIGKILL);
	}
	wait_end(w->pid, 3600);
	kill(-w->pid, SIGKILL);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	reap_group(w->pid);
	close_fd(&w->result_fd);
	return status;
}
