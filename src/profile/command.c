// SPDX-License-Identifier: MIT
/*
 * The child waits until sampling is prepared, then executes; an exec that fails is told through a
 * pipe that closes on success. We are the reaper of its descendants, so that what orphans took is
 * counted; they are not waited for: a command that leaves a daemon behind ends when it ends.
 * Leaves out: a process group of its own (job control stays with the shell), ending the command
 * when we are killed (as with env, it goes on).
 * Sources: prctl(2) PR_SET_CHILD_SUBREAPER; getrusage(2), wait4(2); signalfd(2); exec_mmap() in
 * fs/exec.c of Linux 6.1 (the most resident memory survives exec, so ours counts before it).
 */
#include "profile/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"
#include "profile/tree.h"

enum { FIRST_LOOK_NS = 1000000, LAST_LOOK_NS = 50000000 };

static const int passed_on[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

struct job {
	const struct command *c;
	struct command_result *r;
	pid_t pid;
	int go, failed;     /* our ends of the pipes */
	int signals;        /* signalfd */
	struct pollfd *fds; /* owned: signals, then the buffers */
	size_t n_fds;
	sigset_t old_mask;
	struct sigaction old_child;
	uint64_t floor_bytes; /* resident before the exec: no peak of the command */
	int64_t begin_ns, look_ns, interval_ns;
	bool ended;
	struct walk_counter walks;
	struct u32_list strangers; /* children that we had before, of the shell that became us */
};

static void on_sample(void *user, const uint64_t *frames, size_t n)
{
	stacks_add(user, frames, n, 1);
}

/* --- the child --- */

/* Only calls that are safe after fork. */
__attribute__((noreturn)) static void child(const struct job *j, int go, int failed)
{
	ssize_t n;
	char byte;
	int code;

	sigaction(SIGCHLD, &j->old_child, NULL);
	/* Nothing to read: our parent is gone and nobody waits for the command. */
	do {
		n = read(go, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	sigprocmask(SIG_SETMASK, &j->old_mask, NULL);
	execvp(j->c->argv[0], j->c->argv);
	code = errno;
	while (write(failed, &code, sizeof(code)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int start_child(struct job *j, struct err *e)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC))
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(failed, O_CLOEXEC)) {
		err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
		close(go[0]);
		close(go[1]);
		return -e->code;
	}
	j->pid = fork();
	if (j->pid == 0) {
		close(go[1]);
		close(failed[0]);
		child(j, go[0], failed[1]);
	}
	if (j->pid < 0)
		err_set(e, errno, "cannot start a process: %s", strerror(errno));
	close(go[0]);
	close(failed[1]);
	j->go = go[1];
	j->failed = failed[0];
	if (j->pid < 0) {
		close(j->go);
		close(j->failed);
		return -e->code;
	}
	return 0;
}

/* Lets the child execute; the errno of its exec, 0: it runs the command. */
static int release(struct job *j)
{
	int code = 0;
	ssize_t n;

	j->begin_ns = clock_now_ns();
	while (write(j->go, "", 1) < 0 && errno == EINTR)
		;
	close(j->go);
	do {
		n = read(j->failed, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	close(j->failed);
	return n == (ssize_t)sizeof(code) ? code : 0;
}

/* --- what it takes --- */

static int64_t time_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

static void add_usage(struct job *j, const struct rusage *u)
{
	struct usage *s = &j->r->usage;
	uint64_t most = (uint64_t)u->ru_maxrss << 10;

	s->user_ns += time_ns(u->ru_utime);
	s->system_ns += time_ns(u->ru_stime);
	s->minor_faults += u->ru_minflt;
	s->major_faults += u->ru_majflt;
	s->voluntary_switches += u->ru_nvcsw;
	s->involuntary_switches += u->ru_nivcsw;
	if (most > j->floor_bytes && most > s->largest_bytes)
		s->largest_bytes = most;
	s->reaped++;
}

static void reap(struct job *j)
{
	struct rusage u;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0) {
		if (!u32_list_contains(&j->strangers, (uint32_t)pid))
			add_usage(j, &u);
		if (pid != j->pid)
			continue;
		j->r->wait_status = status;
		j->r->usage.elapsed_ns = clock_now_ns() - j->begin_ns;
		j->ended = true;
	}
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* At most every 50 ms, and never for more than a twentieth of a CPU. */
static void look(struct job *j)
{
	struct usage *s = &j->r->usage;
	struct tree_look t = { 0 };
	int64_t now = clock_now_ns(), cost;

	if (now < j->look_ns)
		return;
	if (s->looks && now - (j->look_ns - j->interval_ns) > s->look_interval_ns)
		s->look_interval_ns = now - (j->look_ns - j->interval_ns);
	if (tree_look(j->c->live, getpid(), &j->strangers, &t) == 0 && t.n > 0) {
		s->looks++;
		s->resident_bytes = larger(s->resident_bytes, t.resident_bytes);
		s->page_table_bytes = larger(s->page_table_bytes, t.page_table_bytes);
		s->largest_bytes = larger(s->largest_bytes, t.largest_bytes);
		s->processes = (size_t)larger(s->processes, t.n);
	}
	cost = clock_now_ns() - now;
	j->interval_ns = (now - j->begin_ns) / 50;
	if (j->interval_ns < FIRST_LOOK_NS)
		j->interval_ns = FIRST_LOOK_NS;
	if (j->interval_ns > LAST_LOOK_NS)
		j->interval_ns = LAST_LOOK_NS;
	if (j->interval_ns < 20 * cost)
		j->interval_ns = 20 * cost;
	j->look_ns = now + j->interval_ns;
}

/* --- waiting --- */

static void take_signals(struct job *j)
{
	struct signalfd_siginfo si;

	while (read(j->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		int sig = (int)si.ssi_signo;

		if (sig == SIGCHLD)
			continue;
		if (sig != SIGUSR1 && sig != SIGUSR2)
			j->r->stop_signal = sig;
		/* What the terminal sends, it sends to the command, too. */
		if (si.ssi_code != SI_KERNEL)
			kill(j->pid, sig);
	}
}

static void wait_for_events(struct job *j)
{
	struct timespec t = { 0 };
	int64_t left = j->look_ns - clock_now_ns();
	int64_t most = j->r->sampled ? LAST_LOOK_NS : INT64_C(1000000000);

	left = left < 0 ? 0 : left > most ? most : left;
	t.tv_sec = left / 1000000000;
	t.tv_nsec = left % 1000000000;
	if (ppoll(j->fds, (nfds_t)j->n_fds, &t, NULL) <= 0)
		return;
	for (size_t i = 1; i < j->n_fds; i++) {
		if (j->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			j->fds[i].fd = -1; /* it would be ready for ever */
	}
}

static void watch(struct job *j)
{
	while (!j->ended) {
		look(j);
		if (j->r->sampled)
			sampler_drain(&j->r->sampler, on_sample, &j->r->stacks);
		wait_for_events(j);
		take_signals(j);
		reap(j);
	}
}

/* What is still there after the command. */
static void finish(struct job *j)
{
	struct usage *s = &j->r->usage;
	struct tree_look t = { 0 };

	/* Looks are rare, what one process had at most is known: all had that at least. */
	if (s->looks)
		s->resident_bytes = larger(s->resident_bytes, s->largest_bytes);

	if (j->r->sampled) {
		sampler_drain(&j->r->sampler, on_sample, &j->r->stacks);
		sampler_settle(&j->r->sampler);
	}
	if (j->r->walked)
		j->r->walked =
			walks_read(&j->walks, j->c->walks, &j->r->walks, &j->r->no_walks) == 0;
	reap(j);
	if (tree_look(j->c->live, getpid(), &j->strangers, &t) == 0)
		j->r->usage.left = t.n;
}

/* --- all of it --- */

static int block_signals(struct job *j, struct err *e)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&set, passed_on[i]);
	sigprocmask(SIG_BLOCK, &set, &j->old_mask);
	/* Ignored by those who started us, children would vanish with what they took. */
	sigaction(SIGCHLD, &normal, &j->old_child);
	j->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (j->signals >= 0)
		return 0;
	return err_set(e, errno, "cannot receive signals: %s", strerror(errno));
}

static void unblock_signals(struct job *j)
{
	if (j->signals >= 0)
		close(j->signals);
	sigaction(SIGCHLD, &j->old_child, NULL);
	sigprocmask(SIG_SETMASK, &j->old_mask, NULL);
}

static void begin_sampling(struct job *j)
{
	struct command_result *r = j->r;

	if (j->c->o)
		r->sampled = sampler_open(j->c->sr, j->pid, j->c->online, j->c->o, &r->sampler,
					  &r->why_not) == 0;
	if (j->c->walks)
		r->walked = walks_open(j->c->sr, j->pid, j->c->walks, &j->walks, &r->no_walks) == 0;
}

static int prepare_poll(struct job *j)
{
	j->n_fds = 1 + (j->r->sampled ? j->r->sampler.n : 0);
	j->fds = calloc(j->n_fds, sizeof(*j->fds));
	if (!j->fds)
		return -ENOMEM;
	j->fds[0] = (struct pollfd){ .fd = j->signals, .events = POLLIN };
	for (size_t i = 1; i < j->n_fds; i++)
		j->fds[i] =
			(struct pollfd){ .fd = j->r->sampler.rings[i - 1].fd, .events = POLLIN };
	return 0;
}

/* The child before its exec has what we have: no peak of the command is below that. */
static void note_floor(struct job *j)
{
	struct tree_look t = { 0 };

	if (tree_look(j->c->live, getpid(), &j->strangers, &t) == 0)
		j->floor_bytes = t.largest_bytes;
}

/* The child waits; 0 when the command has run. */
static int run_child(struct job *j, bool *ret_no_exec, struct err *e)
{
	int code;

	note_floor(j);
	begin_sampling(j);
	if (prepare_poll(j)) {
		kill(j->pid, SIGKILL);
		close(j->go);
		close(j->failed);
		waitpid(j->pid, NULL, 0);
		return err_set(e, ENOMEM, "out of memory");
	}
	code = release(j);
	if (code) {
		waitpid(j->pid, NULL, 0);
		*ret_no_exec = true;
		return err_set(e, code, "cannot run '%s': %s", j->c->argv[0], strerror(code));
	}
	watch(j);
	finish(j);
	return 0;
}

int command_run(const struct command *c, struct command_result *ret, bool *ret_no_exec,
		struct err *e)
{
	struct job j = { .c = c, .r = ret, .signals = -1 };
	int rc;

	*ret = (struct command_result){ 0 };
	*ret_no_exec = false;
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)tree_children(c->live, getpid(), &j.strangers);
	rc = block_signals(&j, e);
	if (rc == 0)
		rc = start_child(&j, e);
	if (rc == 0)
		rc = run_child(&j, ret_no_exec, e);
	if (ret->sampled)
		sampler_close(&ret->sampler);
	walks_close(&j.walks);
	free(j.fds);
	u32_list_done(&j.strangers);
	unblock_signals(&j);
	if (rc)
		stacks_done(&ret->stacks);
	return rc;
}
