/* SPDX-License-Identifier: MIT */
/*
 * Traces of real programs: what is refused says where and why; a trace read in small pieces gives
 * the same references as one read at once; what one format has room for is never exceeded.
 */
#include "fuzz.h"

#include "trace/trace.h"

struct source {
	const uint8_t *data;
	size_t size, at, step;
};

static int give(void *user, void *buf, size_t n, size_t *ret_n, struct err *e)
{
	struct source *s = user;
	size_t k = s->step < n ? s->step : n;

	(void)e;
	k = k < s->size - s->at ? k : s->size - s->at;
	if (k)
		memcpy(buf, s->data + s->at, k);
	s->at += k;
	*ret_n = k;
	return 0;
}

struct sum {
	uint64_t n, hash, offset;
	int rc;
	char msg[512];
};

static void add(struct sum *s, const struct trace_ref *r, uint64_t thread)
{
	CHECK(r->kind < TRACE_KINDS);
	s->n++;
	s->hash = (s->hash ^ r->address ^ (uint64_t)r->bytes << 48 ^ (uint64_t)r->kind << 40 ^
		   thread) *
		  0x100000001b3u;
}

static struct sum read_all(struct source s, enum trace_format f, size_t cap)
{
	struct trace_ref *v = malloc(cap * sizeof(*v)); /* the sanitizer sees what is beyond */
	struct sum sum = { .hash = 0xcbf29ce484222325u };
	struct trace *t = NULL;
	struct err e = { 0 };

	CHECK(v);
	sum.rc = trace_open(give, &s, "FILE", f, &t, &e);
	while (t) {
		size_t n = 0;

		sum.rc = trace_next(t, v, cap, &n, &e);
		CHECK(n <= cap);
		for (size_t i = 0; i < n; i++)
			add(&sum, &v[i], trace_thread(t));
		sum.offset = trace_offset(t);
		CHECK(sum.offset <= s.size);
		if (sum.rc != 1)
			break;
	}
	CHECK(sum.rc == 0 || (e.code && e.msg[0]));
	memcpy(sum.msg, e.msg, sizeof(sum.msg));
	trace_close(t);
	free(v);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (unsigned f = TRACE_AUTO; f < TRACE_FORMATS; f++) {
		const struct source at_once = { data, size, 0, SIZE_MAX },
				    torn = { data, size, 0, 5 };
		const struct sum a = read_all(at_once, (enum trace_format)f, 4096);
		const struct sum b = read_all(torn, (enum trace_format)f, TRACE_NEXT_MIN);

		CHECK(a.n == b.n && a.hash == b.hash && a.rc == b.rc && a.offset == b.offset);
		CHECK(strcmp(a.msg, b.msg) == 0);
	}
	return 0;
}
