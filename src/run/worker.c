/* SPDX-License-Identifier: MIT */
/*
 * The worker process: one invocation of one benchmark in a fresh address space. Reads its plan from
 * fd 3 and writes every result to fd 4 at once; by hand, without these, from standard input to
 * standard output. The locale is never set. Leaves out everything that decides.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/ctx.h"
#include "host/affinity.h"
#include "record/run.h"
#include "run/spawn.h"
#include "run/wire.h"

enum { SPEC_BYTES = 32 << 20 };

static int read_all(int fd, struct str *out)
{
	char buf[16384];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		str_add_n(out, buf, (size_t)n);
		if (out->failed || out->len > SPEC_BYTES)
			return -E2BIG;
	}
	return 0;
}

static int write_all(int fd, const struct str *s)
{
	for (size_t done = 0; done < s->len;) {
		ssize_t n = write(fd, s->data + done, s->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

struct output {
	int fd;
	struct str text; /* kept between results, so that it stops growing */
};

/* A value that is not finite says that the benchmark is wrong: the point fails, with the reason. */
static int put_not_finite(struct output *o, const struct bench_result *r)
{
	struct bench_result failed = *r;

	failed.verdict = VERDICT_FAILED;
	failed.reason = "a value that is not a finite number was measured";
	failed.n_metrics = 0;
	failed.proof = failed.taints = (struct attrs){ 0 };
	str_clear(&o->text);
	return wire_put_result(&o->text, &failed);
}

static int emit(void *user, const struct bench_result *r)
{
	struct output *o = user;
	int rc;

	str_clear(&o->text);
	rc = wire_put_result(&o->text, r);
	if (rc == -EDOM)
		rc = put_not_finite(o, r);
	return rc < 0 ? rc : write_all(o->fd, &o->text);
}

/* The OOM killer shall take the worker and not somebody's database. A write, so no sysroot. */
static void volunteer_for_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0) {
		/* Not allowed here: then not. */
	}
	close(fd);
}

static int pin(const struct invocation_spec *s, struct err *e)
{
	int64_t cpu = spawn_cpu(s);

	if (cpu > UINT32_MAX)
		return err_set(e, EBADMSG, "the plan names no CPU");
	return cpu < 0 ? 0 : affinity_pin((uint32_t)cpu, e);
}

static int run_spec(struct arena *a, int in, struct output *out, struct err *e)
{
	struct invocation_spec spec = { 0 };
	struct str text = { 0 };
	const char *name = NULL;
	int r = read_all(in, &text);

	if (r < 0)
		err_set(e, -r, "cannot read the plan: %s", strerror(-r));
	if (r == 0 && text.len != strlen(str_text(&text)))
		r = err_set(e, EBADMSG, "the plan has a zero byte");
	if (r == 0 && text.len == 0)
		r = err_set(e, EBADMSG, "the plan is empty");
	if (r == 0)
		r = wire_get_spec(a, text.data, &name, &spec, e);
	if (r == 0) {
		spec.bench = bench_find(name);
		if (!spec.bench)
			r = err_set(e, ENOENT, "there is no benchmark \"%s\"", name);
	}
	if (r == 0)
		r = pin(&spec, e);
	str_done(&text);
	if (r == 0)
		r = bench_run_invocation(&spec, emit, out, e);
	return r;
}

int worker_main(void)
{
	struct output out = { .fd = WORKER_RESULT_FD };
	struct arena a = { 0 };
	struct err e = { 0 };
	int in = WORKER_SPEC_FD, r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	volunteer_for_oom();
	if (fcntl(in, F_GETFD) < 0 || fcntl(out.fd, F_GETFD) < 0) {
		in = STDIN_FILENO;
		out.fd = STDOUT_FILENO;
	} else {
		setpgid(0, 0);
	}
	r = run_spec(&a, in, &out, &e);
	str_clear(&out.text);
	if (wire_put_done(&out.text, r < 0 ? -r : 0, e.msg) < 0 || write_all(out.fd, &out.text) < 0)
		r = -EIO;
	str_done(&out.text);
	arena_done(&a);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
