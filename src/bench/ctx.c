/* SPDX-License-Identifier: MIT */
/* What benchmarks call: parameters, values, evidence, verdicts. Leaves out when they are called
 * (harness.c). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ctx_state.h"

uint64_t bench_u64(const struct bench_ctx *ctx, const char *name)
{
	const struct bench_setting *s = &ctx->spec->setting;

	if (ctx->spec->inner && strcmp(name, ctx->spec->inner) == 0)
		return ctx->inner_value;
	if (attrs_find(&s->resolved, name))
		return (uint64_t)attrs_int(&s->resolved, name, 0);
	return (uint64_t)attrs_int(&s->given, name, 0);
}

const char *bench_text(const struct bench_ctx *ctx, const char *name)
{
	const struct bench_setting *s = &ctx->spec->setting;

	if (attrs_find(&s->resolved, name))
		return attrs_text(&s->resolved, name, "");
	return attrs_text(&s->given, name, "");
}

enum page_kind bench_page_kind(const struct bench_ctx *ctx)
{
	static const char *const words[] = { [PAGE_KIND_BASE] = "base",
					     [PAGE_KIND_MTHP] = "mthp",
					     [PAGE_KIND_THP] = "thp",
					     [PAGE_KIND_HUGETLB] = "hugetlb" };
	const char *kind = bench_text(ctx, "page.kind");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(kind, words[i]) == 0)
			return (enum page_kind)i;
	return PAGE_KIND_BASE;
}

uint64_t bench_max_inner(const struct bench_ctx *ctx)
{
	return ctx->max_inner;
}

uint64_t bench_seed(const struct bench_ctx *ctx)
{
	return ctx->seed;
}

/* Room for one more element, touched: a page fault later would look like the benchmark's own. */
static bool grow(struct bench_ctx *ctx, void **array, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? 2 * *cap : 64;
	void *new;

	if (n < *cap)
		return true;
	new = realloc(*array, more * size);
	if (!new) {
		ctx->out_of_memory = true;
		return false;
	}
	memset((char *)new + *cap *size, 0, (more - *cap) * size);
	*array = new;
	*cap = more;
	return true;
}

static bool grow_values(struct bench_ctx *ctx, struct metric_values *v)
{
	void *samples = v->samples;
	bool done = grow(ctx, &samples, v->n, &v->cap, sizeof(*v->samples));

	v->samples = samples;
	return done;
}

static bool grow_timed(struct bench_ctx *ctx)
{
	void *timed = ctx->timed;
	bool done = grow(ctx, &timed, ctx->n_timed, &ctx->cap_timed, sizeof(*ctx->timed));

	ctx->timed = timed;
	return done;
}

void ctx_reserve(struct bench_ctx *ctx)
{
	for (size_t i = 0; i < ctx->n_metrics; i++)
		grow_values(ctx, &ctx->values[i]);
	grow_timed(ctx);
}

void bench_value(struct bench_ctx *ctx, int metric, double value)
{
	struct metric_values *v = &ctx->values[metric];

	if (grow_values(ctx, v))
		v->samples[v->n++] = value;
}

void bench_value_cycles(struct bench_ctx *ctx, int metric, double ns)
{
	if (grow_timed(ctx))
		ctx->timed[ctx->n_timed++] = (struct timed){ .metric = metric, .ns = ns };
}

void bench_exact(struct bench_ctx *ctx, int metric, int64_t value)
{
	ctx->values[metric].exact = value;
	ctx->values[metric].has_exact = true;
}

void bench_count(struct bench_ctx *ctx, int metric, int64_t events, int64_t exposure)
{
	struct metric_values *v = &ctx->values[metric];

	if (v->null_reason)
		return;
	if (events < 0 || exposure < 0 || __builtin_add_overflow(v->events, events, &v->events) ||
	    __builtin_add_overflow(v->exposure, exposure, &v->exposure)) {
		v->has_count = false;
		v->null_reason = "the count was negative or beyond 64 bits";
		return;
	}
	v->has_count = v->exposure > 0;
}

void bench_null(struct bench_ctx *ctx, int metric, const char *reason)
{
	ctx->values[metric].null_reason = reason;
}

void bench_enough(struct bench_ctx *ctx)
{
	ctx->enough = true;
}

/* Evidence of setup() belongs to every point of the invocation. */
static struct attrs *proof_attrs(struct bench_ctx *ctx, struct arena **ret_arena)
{
	*ret_arena = ctx->in_setup ? &ctx->setup_arena : &ctx->arena;
	return ctx->in_setup ? &ctx->setup_proof : &ctx->proof;
}

void bench_proof_int(struct bench_ctx *ctx, const char *name, int64_t value)
{
	struct arena *a;
	struct attrs *at = proof_attrs(ctx, &a);

	if (attrs_set_int(a, at, name, value) < 0)
		ctx->out_of_memory = true;
}

void bench_proof_real(struct bench_ctx *ctx, const char *name, double value)
{
	struct arena *a;
	struct attrs *at = proof_attrs(ctx, &a);

	if (attrs_set_real(a, at, name, value) < 0)
		ctx->out_of_memory = true;
}

void bench_proof_text(struct bench_ctx *ctx, const char *name, const char *value)
{
	struct arena *a;
	struct attrs *at = proof_attrs(ctx, &a);

	if (attrs_set_text(a, at, name, value) < 0)
		ctx->out_of_memory = true;
}

void bench_unproven(struct bench_ctx *ctx, const char *fmt, ...)
{
	char *text = ctx->in_setup ? ctx->setup_unproven : ctx->unproven;
	size_t room = ctx->in_setup ? sizeof(ctx->setup_unproven) : sizeof(ctx->unproven);
	size_t used = strlen(text);
	char more[sizeof(ctx->unproven)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(more, sizeof(more), fmt, ap);
	va_end(ap);
	if (!strstr(text, more))
		snprintf(text + used, room - used, "%s%s", used ? "; " : "", more);
}

void bench_taint(struct bench_ctx *ctx, const char *name, int64_t count)
{
	if (count == 0)
		return;
	if (attrs_set_int(&ctx->arena, &ctx->taints, name,
			  attrs_int(&ctx->taints, name, 0) + count) < 0)
		ctx->out_of_memory = true;
}

__attribute__((format(printf, 3, 0))) static int end_point(struct bench_ctx *ctx, enum verdict v,
							   const char *fmt, va_list ap)
{
	if (ctx->verdict == VERDICT_OK) {
		ctx->verdict = v;
		vsnprintf(ctx->reason, sizeof(ctx->reason), fmt, ap);
	}
	return 1;
}

int bench_fail(struct bench_ctx *ctx, int code, const char *fmt, ...)
{
	va_list ap;
	size_t used;
	int ret;

	va_start(ap, fmt);
	ret = end_point(ctx, VERDICT_FAILED, fmt, ap);
	va_end(ap);
	used = strlen(ctx->reason);
	if (code > 0 && !strstr(ctx->reason, strerror(code)))
		snprintf(ctx->reason + used, sizeof(ctx->reason) - used, " (%s)", strerror(code));
	return ret;
}

int bench_skip(struct bench_ctx *ctx, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = end_point(ctx, VERDICT_SKIPPED, fmt, ap);
	va_end(ap);
	return ret;
}

int bench_invalid(struct bench_ctx *ctx, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = end_point(ctx, VERDICT_INVALID, fmt, ap);
	va_end(ap);
	return ret;
}
