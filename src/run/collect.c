/* SPDX-License-Identifier: MIT */
/*
 * The parent's side of one worker: a poll loop over the plan's socket and the results' pipe with a
 * deadline and the stop flag; then the end of the worker, and what that end means.
 */
#include "run/collect.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/measure.h"
#include "run/spawn.h"
#include "run/wire.h"

/* The stop flag is looked at at least so often; a signal usually ends poll() at once. */
static const double stop_check_seconds = 0.25;
/* After its last word a worker still gives its memory back: seconds, with many GiB. */
static const double exit_patience_seconds = 60;

struct collecting {
	const struct collect_job *j;
	struct collect_result *ret;
	struct err *e;
	struct worker w;
	struct wire_reader in;
	struct str out; /* the plan */
	size_t sent;
	bool *seen; /* for each inner value; one element without an inner parameter */
	double deadline;
	int64_t start_unix_ns;
	double start;
	bool eof, done, setup_failed;
	/* How it ended: a verdict other than ok is recorded as a measure of its own. */
	enum verdict verdict;
	char reason[512];
};

static int64_t unix_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static bool is_stopped(const struct collect_job *j)
{
	return j->stop && *j->stop;
}

/* What the parent knows of the measure beside what the worker told. */
static int add_circumstances(const struct collect_job *j, struct measure *m, struct err *e)
{
	struct arena *a = &j->run->arena;

	m->arm = arena_strdup(a, j->arm);
	m->boot_id = arena_strdup(a, j->boot_id);
	if ((j->arm && !m->arm) || (j->boot_id && !m->boot_id) ||
	    (j->kernel && attrs_set_text(a, &m->proof, "kernel", j->kernel) < 0))
		return err_set(e, ENOMEM, "out of memory");
	return 0;
}

static int record(const struct collect_job *j, struct collect_result *ret,
		  const struct bench_result *r, struct err *e)
{
	const struct measure *m = NULL;
	int rc = measure_from_result(j->run, &j->spec, r, &m, e);

	if (rc == 0)
		rc = add_circumstances(j, &j->run->measures[j->run->n_measures - 1], e);
	if (rc < 0)
		return rc;
	ret->n_measures++;
	if (m->verdict == VERDICT_OK)
		ret->n_ok++;
	else
		ret->reason = m->reason;
	if (m->verdict == VERDICT_SKIPPED && !r->has_inner)
		ret->skipped = true;
	if (j->file) {
		rc = runfile_append(j->file, m, e);
		if (rc < 0)
			return rc;
	}
	if (j->measured)
		j->measured(j->user, m);
	return 0;
}

/* A measure without values that says how the invocation ended. */
static int record_end(const struct collect_job *j, struct collect_result *ret, enum verdict v,
		      const char *reason, int64_t start_unix_ns, double seconds, struct err *e)
{
	struct bench_result r = {
		.verdict = (int)v,
		.reason = reason,
		.metrics = j->spec.bench->schema.metrics,
		.start_unix_ns = start_unix_ns,
		.duration_ns = (int64_t)(seconds * 1e9),
	};

	return record(j, ret, &r, e);
}

int collect_skip(const struct collect_job *j, const char *reason, struct err *e)
{
	struct collect_result ignored = { 0 };

	return record_end(j, &ignored, VERDICT_SKIPPED, reason, unix_ns(), 0, e);
}

static void end_with(struct collecting *c, enum verdict v, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void end_with(struct collecting *c, enum verdict v, const char *fmt, ...)
{
	va_list ap;

	if (c->verdict != VERDICT_OK)
		return;
	c->verdict = v;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Whether the result is one that was asked for and has not come yet. */
static bool is_expected(struct collecting *c, const struct bench_result *r)
{
	const struct invocation_spec *s = &c->j->spec;
	const uint64_t *found;
	bool *seen = &c->seen[0];

	if (!s->inner) {
		if (r->has_inner || *seen)
			return false;
	} else if (!r->has_inner) {
		c->setup_failed = r->verdict != VERDICT_OK && c->ret->n_measures == 0;
		return c->setup_failed;
	} else {
		found = bsearch(&r->inner_value, s->inner_values, s->n_inner, sizeof(*found),
				compare_u64);
		if (!found)
			return false;
		seen = &c->seen[found - s->inner_values];
		if (*seen)
			return false;
	}
	*seen = true;
	return true;
}

static void judge_last_word(struct collecting *c, const struct wire_message *m)
{
	const struct invocation_spec *s = &c->j->spec;
	size_t wanted = s->inner ? s->n_inner : 1, n = 0;

	for (size_t i = 0; i < wanted; i++)
		n += c->seen[i];
	if (m->code)
		end_with(c, VERDICT_FAILED, "%s", *m->text ? m->text : strerror(m->code));
	else if (n < wanted && !c->setup_failed)
		end_with(c, VERDICT_FAILED, "the worker left out %zu of %zu points", wanted - n,
			 wanted);
}

/* All whole messages that are there. 0, or a negative errno that ends the run. */
static int take_messages(struct collecting *c)
{
	for (;;) {
		struct wire_message m = { 0 };
		struct err why = { 0 };
		int event = wire_next(&c->in, &m, &why), rc;

		if (event == -ENOMEM)
			return err_set(c->e, ENOMEM, "%s", why.msg);
		if (event == WIRE_RESULT && !is_expected(c, &m.result)) {
			event = err_set(&why, EBADMSG, "a result that was not asked for");
		}
		if (event < 0) {
			end_with(c, VERDICT_FAILED, "the worker's answer cannot be right: %s",
				 why.msg);
			return 0;
		}
		if (event == WIRE_MORE)
			return 0;
		if (event == WIRE_DONE) {
			c->done = true;
			judge_last_word(c, &m);
			return 0;
		}
		rc = record(c->j, c->ret, &m.result, c->e);
		if (rc < 0)
			return rc;
		c->deadline = spawn_now() + c->j->silence_seconds;
	}
}

static int take_bytes(struct collecting *c)
{
	char buf[65536];

	while (!c->eof && !c->done && c->verdict == VERDICT_OK) {
		ssize_t n = read(c->w.result_fd, buf, sizeof(buf));
		struct err why = { 0 };
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : err_set(c->e, errno, "reading from a worker");
		if (n == 0) {
			c->eof = true;
			return 0;
		}
		rc = wire_feed(&c->in, buf, (size_t)n, &why);
		if (rc == -ENOMEM)
			return err_set(c->e, ENOMEM, "%s", why.msg);
		if (rc < 0)
			end_with(c, VERDICT_FAILED, "the worker's answer cannot be right: %s",
				 why.msg);
		else
			rc = take_messages(c);
		if (rc == -ENOMEM || (rc < 0 && c->verdict == VERDICT_OK))
			return rc;
	}
	return 0;
}

/* A worker that died does not take its plan: how it died is told by its end, not here. */
static void send_plan(struct collecting *c)
{
	while (c->w.spec_fd >= 0) {
		ssize_t n = send(c->w.spec_fd, c->out.data + c->sent, c->out.len - c->sent,
				 MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n > 0)
			c->sent += (size_t)n;
		if (n < 0 || c->sent == c->out.len)
			spawn_close_spec(&c->w);
	}
}

static int wait_events(struct collecting *c)
{
	double left = c->deadline - spawn_now();
	struct pollfd p[2] = {
		{ .fd = c->w.result_fd, .events = POLLIN },
		{ .fd = c->w.spec_fd, .events = POLLOUT },
	};

	if (left <= 0) {
		end_with(c, VERDICT_TIMEOUT,
			 "nothing came from the worker for %.0f seconds; it was ended",
			 c->j->silence_seconds);
		return 0;
	}
	if (left > stop_check_seconds)
		left = stop_check_seconds;
	if (poll(p, 2, (int)(left * 1e3) + 1) < 0 && errno != EINTR)
		return err_set(c->e, errno, "waiting for a worker: %s", strerror(errno));
	if (p[1].revents)
		send_plan(c);
	return take_bytes(c);
}

static const char *signal_meaning(int sig)
{
	switch (sig) {
	case SIGBUS:
		return "memory that was promised could not be had when it was touched (hugetlb "
		       "pool, hugetlb limit of the cgroup, or a full tmpfs)";
	case SIGKILL:
		return "probably by the kernel for memory: see dmesg, and memory.events of the "
		       "cgroup";
	case SIGXCPU:
		return "RLIMIT_CPU is used up";
	case SIGSYS:
		return "a system call is forbidden here (seccomp)";
	case SIGSEGV:
	case SIGABRT:
	case SIGFPE:
		return "an error in the benchmark; please report it";
	case SIGILL:
		return "this processor lacks an instruction that was used";
	default:
		return "from outside";
	}
}

static const char *signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);

	return name ? name : "?";
}

/* What the wait status adds to what the worker said itself. */
static void judge_status(struct collecting *c, int status)
{
	if (c->done || c->verdict != VERDICT_OK)
		return;
	if (WIFSIGNALED(status))
		end_with(c, VERDICT_KILLED, "the worker was killed by SIG%s: %s",
			 signal_name(WTERMSIG(status)), signal_meaning(WTERMSIG(status)));
	else
		end_with(c, VERDICT_FAILED, "the worker ended with status %d before it was done",
			 WEXITSTATUS(status));
}

static bool never_started(const struct collecting *c, int status)
{
	return !c->done && c->ret->n_measures == 0 && WIFEXITED(status) &&
	       (WEXITSTATUS(status) == WORKER_NO_EXEC || WEXITSTATUS(status) == WORKER_NO_PARENT);
}

static bool is_out_of_time(const struct collect_job *j)
{
	return j->end > 0 && spawn_now() > j->end;
}

static int run_worker(struct collecting *c)
{
	int rc = 0, status;
	bool cut;

	c->deadline = c->start + c->j->silence_seconds;
	while (rc == 0 && !c->eof && !c->done && c->verdict == VERDICT_OK && !is_stopped(c->j) &&
	       !is_out_of_time(c->j))
		rc = wait_events(c);
	cut = rc == 0 && !c->eof && !c->done && c->verdict == VERDICT_OK;
	c->ret->interrupted = cut && is_stopped(c->j);
	c->ret->out_of_time = cut && !c->ret->interrupted;
	if (cut)
		rc = take_bytes(c); /* points that are finished already */
	/* A worker that closed its pipe without a word is about to be dead already. */
	status = spawn_end(&c->w,
			   c->done  ? exit_patience_seconds
			   : c->eof ? c->j->grace_seconds
				    : 0,
			   c->j->grace_seconds);
	if (rc < 0)
		return rc;
	if (never_started(c, status) && !cut)
		return err_set(c->e, ENOEXEC,
			       "cannot start a worker: executing /proc/self/exe failed (is /proc "
			       "mounted?)");
	if (!cut)
		judge_status(c, status);
	return 0;
}

int collect_invocation(const struct collect_job *j, struct collect_result *ret, struct err *e)
{
	struct collecting c = { .j = j, .ret = ret, .e = e };
	struct err why = { 0 };
	int rc;

	*ret = (struct collect_result){ 0 };
	c.in.schema = &j->spec.bench->schema;
	c.start = spawn_now();
	c.start_unix_ns = unix_ns();
	c.seen = calloc(j->spec.n_inner + 1, sizeof(*c.seen));
	rc = wire_put_spec(&c.out, &j->spec);
	if (!c.seen || rc < 0)
		rc = err_set(e, rc < 0 ? -rc : ENOMEM, "cannot write the plan of %s",
			     j->spec.bench->schema.name);
	else if (spawn_worker(spawn_cpu(&j->spec), j->env, &c.w, &why) < 0)
		end_with(&c, VERDICT_FAILED, "%s", why.msg);
	else
		rc = run_worker(&c);
	ret->seconds = spawn_now() - c.start;
	if (rc == 0 && c.verdict != VERDICT_OK)
		rc = record_end(j, ret, c.verdict, c.reason, c.start_unix_ns, ret->seconds, e);
	wire_reader_done(&c.in);
	str_done(&c.out);
	free(c.seen);
	return rc;
}
