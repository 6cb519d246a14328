// SPDX-License-Identifier: MIT
/*
 * What was found becomes series. The kernel's own account of system time is the independent
 * evidence for the number of samples: a tick stands for a fixed share of it. Leaves out: printing.
 * Source: kernel/kallsyms.c of Linux 6.1, kallsyms_show_value(), for who sees symbols.
 */
#include "profile/profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "profile/ticks.h"

static const char *const event_names[] = { "cycles", "cpu-clock", NULL };

static const struct param kernel_params[] = {
	{ .name = "event",
	  .summary = "what takes the samples: the processor's cycle counter, or a timer on the CPU "
		     "time of each task",
	  .type = PARAM_CHOICE,
	  .role = ROLE_OUTER,
	  .def = "auto",
	  .choices = event_names },
	{ .name = "frequency",
	  .summary = "samples for each second of CPU time",
	  .type = PARAM_COUNT,
	  .role = ROLE_OUTER,
	  .def = "997",
	  .min = 1,
	  .max = 1000000 },
	{ 0 },
};

static const struct metric kernel_metrics[] = {
	{ "profile_ticks", "samples by function of the kernel", "ticks", BETTER_LOWER, EST_MEDIAN,
	  FORM_TABLE },
	{ "caller_ticks", "samples by function and its caller", "ticks", BETTER_LOWER, EST_MEDIAN,
	  FORM_TABLE },
	{ 0 },
};

const struct bench_schema profile_kernel_schema = {
	.name = "profile.kernel",
	.summary = "Where the kernel's time goes, function by function",
	.revision = 1,
	.params = kernel_params,
	.metrics = kernel_metrics,
};

static const struct param command_params[] = { { 0 } };

static const struct metric command_metrics[] = {
	{ "elapsed_ns", "time from the exec to the end of the command", "ns", BETTER_LOWER,
	  EST_MEDIAN, FORM_SAMPLES },
	{ "user_ns", "CPU time in user mode, all processes", "ns", BETTER_LOWER, EST_MEDIAN,
	  FORM_SAMPLES },
	{ "system_ns", "CPU time in the kernel, all processes", "ns", BETTER_LOWER, EST_MEDIAN,
	  FORM_SAMPLES },
	{ "minor_faults", "page faults without reading from a disk", "count", BETTER_LOWER,
	  EST_MEDIAN, FORM_COUNT },
	{ "major_faults", "page faults that waited for a disk", "count", BETTER_LOWER, EST_MEDIAN,
	  FORM_COUNT },
	{ "voluntary_switches", "times a process gave up its CPU to wait", "count", BETTER_LOWER,
	  EST_MEDIAN, FORM_COUNT },
	{ "involuntary_switches", "times a process was put off its CPU", "count", BETTER_NONE,
	  EST_MEDIAN, FORM_COUNT },
	{ "largest_bytes", "most resident memory of one process", "bytes", BETTER_LOWER, EST_MEDIAN,
	  FORM_SAMPLES },
	{ "resident_bytes", "most resident memory of all processes at one look", "bytes",
	  BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ "walk_ratio", "share of core cycles with a page walk under way", "ratio", BETTER_LOWER,
	  EST_MEDIAN, FORM_SAMPLES },
	{ "page_walks", "page walks for data", "count", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	{ "page_table_bytes", "most page tables of all processes at one look", "bytes",
	  BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ 0 },
};

const struct bench_schema profile_command_schema = {
	.name = "profile.command",
	.summary = "Time, faults and memory of a command and all that it starts",
	.revision = 1,
	.params = command_params,
	.metrics = command_metrics,
};

/* --- symbols --- */

static void explain_hidden(const struct sysroot *sr, char *to, size_t bytes)
{
	uint64_t level = 0;

	if (sysroot_read_u64(sr, "proc/sys/kernel/kptr_restrict", &level, NULL) < 0)
		snprintf(to, bytes,
			 "the kernel hides its symbols (all addresses in /proc/kallsyms are zero); "
			 "run as root");
	else if (level == 0)
		snprintf(to, bytes,
			 "the kernel hides its symbols from this user (kernel.kptr_restrict=0, but "
			 "kernel.perf_event_paranoid is above 1); run as root, or: sysctl -w "
			 "kernel.perf_event_paranoid=1");
	else
		snprintf(to, bytes,
			 "the kernel hides its symbols (kernel.kptr_restrict=%llu%s); sysctl -w "
			 "kernel.kptr_restrict=0%s",
			 (unsigned long long)level, level == 1 ? ": from all but root" : "",
			 level == 1 ? ", or run as root" : "");
}

void profile_symbols_read(const struct sysroot *sr, struct profile_symbols *ret)
{
	struct err e = { 0 };

	*ret = (struct profile_symbols){ 0 };
	if (symbols_read(sr, &ret->symbols, &e))
		snprintf(ret->why_not, sizeof(ret->why_not),
			 "the kernel's symbols cannot be read (%s); a kernel with CONFIG_KALLSYMS "
			 "and a mounted /proc have them",
			 e.msg);
	else if (ret->symbols.hidden)
		explain_hidden(sr, ret->why_not, sizeof(ret->why_not));
	else if (ret->symbols.n == 0)
		snprintf(ret->why_not, sizeof(ret->why_not),
			 "/proc/kallsyms has no symbols; boot a kernel with CONFIG_KALLSYMS");
}

void profile_symbols_done(struct profile_symbols *s)
{
	symbols_done(&s->symbols);
}

/* --- series --- */

static struct series *add_series(struct run *r, struct measure *m, const char *metric,
				 enum series_form form)
{
	struct series *s = measure_add_series(r, m);

	if (s) {
		s->metric = metric;
		s->origin = ORIGIN_MEASURED;
		s->form = form;
	}
	return s;
}

static int add_value(struct run *r, struct measure *m, const char *metric, double value,
		     const char *reason)
{
	struct series *s = add_series(r, m, metric, FORM_SAMPLES);

	if (!s)
		return -ENOMEM;
	if (isnan(value)) {
		s->null_reason = reason;
		return 0;
	}
	s->values = arena_alloc(&r->arena, sizeof(*s->values));
	if (!s->values)
		return -ENOMEM;
	s->values[0] = value;
	s->n = 1;
	return 0;
}

/* So many in one execution of the command. */
static int add_count(struct run *r, struct measure *m, const char *metric, int64_t events)
{
	struct series *s = add_series(r, m, metric, FORM_COUNT);

	if (!s)
		return -ENOMEM;
	s->integers = arena_alloc(&r->arena, 2 * sizeof(*s->integers));
	if (!s->integers)
		return -ENOMEM;
	s->integers[0] = events;
	s->integers[1] = 1;
	s->n = 2;
	return 0;
}

/* @n_columns: 3, or 2 without the load. */
static int add_table(struct run *r, struct measure *m, const char *metric,
		     const struct tick_table *t, size_t n_columns)
{
	static const char *const columns[] = { "address", "ticks", "load" };
	struct series *s = add_series(r, m, metric, FORM_TABLE);

	if (!s)
		return -ENOMEM;
	s->n_columns = n_columns;
	s->n = t->n + 1;
	s->columns = arena_alloc(&r->arena, sizeof(columns));
	s->keys = arena_alloc(&r->arena, s->n * sizeof(*s->keys));
	s->cells = arena_alloc(&r->arena, s->n * n_columns * sizeof(*s->cells));
	if (!s->columns || !s->keys || !s->cells)
		return -ENOMEM;
	memcpy(s->columns, columns, sizeof(columns));
	for (size_t i = 0; i < t->n; i++) {
		double *cell = s->cells + n_columns * i;

		s->keys[i] = t->v[i].name;
		/* Kernel addresses lie just below 2^64: as signed numbers they are exact. */
		cell[0] = t->v[i].address ? (double)(int64_t)t->v[i].address : NAN;
		cell[1] = (double)t->v[i].ticks;
		if (n_columns == 3)
			cell[2] = t->v[i].load;
	}
	s->keys[t->n] = "total";
	s->cells[n_columns * t->n] = 0;
	s->cells[n_columns * t->n + 1] = (double)t->total;
	if (n_columns == 3)
		s->cells[n_columns * t->n + 2] = t->total_load;
	return 0;
}

/* --- the command --- */

/* The reason stands at the metric that the processor could have had. */
static int record_walks(struct run *r, struct measure *m, const struct command_result *c)
{
	const struct walk_counts *w = &c->walks;
	const char *reason =
		arena_strdup(&r->arena, c->no_walks.code ? c->no_walks.msg : "not counted");
	int rc;

	if (!reason)
		return -ENOMEM;
	if (!c->walked)
		return add_value(r, m, "walk_ratio", NAN, reason);
	if (!w->is_cycles)
		rc = add_count(r, m, "page_walks", (int64_t)w->walks);
	else
		rc = add_value(r, m, "walk_ratio", w->cycles > 0 ? w->walks / w->cycles : NAN,
			       "no cycle was counted");
	if (rc == 0)
		rc = attrs_set_real(&r->arena, &m->proof, "cycles", w->cycles);
	if (rc == 0 && w->is_cycles)
		rc = attrs_set_real(&r->arena, &m->proof, "walk_cycles", w->walks);
	if (rc == 0 && w->running_ratio < 1)
		rc = attrs_set_real(&r->arena, &m->proof, "counters_running_ratio",
				    w->running_ratio);
	if (rc == 0 && w->user_only)
		rc = attrs_set_text(&r->arena, &m->proof, "walks_of", "user mode only");
	return rc;
}

static int add_how_it_ended(struct run *r, struct measure *m, int status)
{
	return WIFSIGNALED(status)
		       ? attrs_set_int(&r->arena, &m->proof, "ended_by_signal", WTERMSIG(status))
		       : attrs_set_int(&r->arena, &m->proof, "exit_status", WEXITSTATUS(status));
}

static int add_proof(struct run *r, struct measure *m, const struct usage *u)
{
	int rc = attrs_set_int(&r->arena, &m->proof, "processes_waited_for", (int64_t)u->reaped);

	if (rc == 0)
		rc = attrs_set_int(&r->arena, &m->proof, "most_processes_seen",
				   (int64_t)u->processes);
	if (rc == 0)
		rc = attrs_set_int(&r->arena, &m->proof, "looks", (int64_t)u->looks);
	if (rc == 0 && u->looks > 1)
		rc = attrs_set_int(&r->arena, &m->proof, "longest_look_interval_ns",
				   u->look_interval_ns);
	if (rc == 0 && u->left)
		rc = attrs_set_int(&r->arena, &m->proof, "left_running", (int64_t)u->left);
	return rc;
}

static int record_usage(struct run *r, struct measure *m, const struct usage *u)
{
	static const char *const unseen = "the command ended before its memory could be looked at";
	int rc = add_value(r, m, "elapsed_ns", (double)u->elapsed_ns, NULL);

	if (rc == 0)
		rc = add_value(r, m, "user_ns", (double)u->user_ns, NULL);
	if (rc == 0)
		rc = add_value(r, m, "system_ns", (double)u->system_ns, NULL);
	if (rc == 0)
		rc = add_count(r, m, "minor_faults", u->minor_faults);
	if (rc == 0)
		rc = add_count(r, m, "major_faults", u->major_faults);
	if (rc == 0)
		rc = add_count(r, m, "voluntary_switches", u->voluntary_switches);
	if (rc == 0)
		rc = add_count(r, m, "involuntary_switches", u->involuntary_switches);
	if (rc == 0)
		rc = add_value(r, m, "largest_bytes",
			       u->largest_bytes ? (double)u->largest_bytes : NAN,
			       "less than pagetoll itself has before it executes the command");
	if (rc == 0)
		rc = add_value(r, m, "resident_bytes", u->looks ? (double)u->resident_bytes : NAN,
			       unseen);
	if (rc == 0)
		rc = add_value(r, m, "page_table_bytes",
			       u->looks ? (double)u->page_table_bytes : NAN, unseen);
	return rc;
}

static struct measure *begin_measure(struct run *r, const struct bench_schema *s,
				     unsigned invocation, const struct command_result *c)
{
	struct measure *m = run_add_measure(r);

	if (m) {
		m->bench = s->name;
		m->invocation = invocation;
		m->verdict = VERDICT_OK;
		m->duration_ns = c->usage.elapsed_ns;
	}
	return m;
}

static int record_command(struct run *r, unsigned invocation, const struct command_result *c)
{
	struct measure *m = begin_measure(r, &profile_command_schema, invocation, c);
	int rc = m ? add_how_it_ended(r, m, c->wait_status) : -ENOMEM;

	if (rc == 0)
		rc = add_proof(r, m, &c->usage);
	if (rc == 0)
		rc = record_usage(r, m, &c->usage);
	if (rc == 0)
		rc = record_walks(r, m, c);
	if (rc == 0 && c->usage.left)
		m->unproven = arena_printf(&r->arena,
					   "%zu process%s still running when the command ended; "
					   "what they took is not counted",
					   c->usage.left, c->usage.left == 1 ? " was" : "es were");
	return rc;
}

/* --- the kernel --- */

enum { ENOUGH_TICKS = 200 }; /* expected, for a judgement of those that came */

/* NULL: the samples account for the system time. */
static const char *doubt(struct arena *a, const struct command_result *c, double expected)
{
	double ticks = (double)c->stacks.ticks;

	if (c->sampler.counts.malformed)
		return arena_printf(a, "%llu buffers held records that are none: samples are lost",
				    (unsigned long long)c->sampler.counts.malformed);
	if (c->stacks.dropped)
		return arena_printf(a, "%llu samples are lost: out of memory",
				    (unsigned long long)c->stacks.dropped);
	if ((double)c->sampler.counts.lost > ticks / 20)
		return arena_printf(a,
				    "%llu samples are lost beside %.0f: the buffers were full; "
				    "take a lower --frequency",
				    (unsigned long long)c->sampler.counts.lost, ticks);
	if (expected >= ENOUGH_TICKS && ticks < expected / 4)
		return arena_printf(a,
				    "%.0f ticks, where so much system time gives about %.0f: "
				    "samples are missing (a set-user-ID program ends sampling)",
				    ticks, expected);
	return NULL;
}

static int add_sampling_proof(struct run *r, struct measure *m, const struct command_result *c,
			      double expected)
{
	const struct ring_counts *k = &c->sampler.counts;
	struct arena *a = &r->arena;
	int rc = attrs_set_int(a, &m->proof, "samples", (int64_t)k->samples);

	if (rc == 0)
		rc = attrs_set_int(a, &m->proof, "samples_by_system_time",
				   (int64_t)(expected + 0.5));
	if (rc == 0)
		rc = attrs_set_text(a, &m->proof, "not_seen", sampler_blind_spot(c->sampler.event));
	if (rc == 0 && c->sampler.no_cycles.code)
		rc = attrs_set_text(a, &m->proof, "no_cycles", c->sampler.no_cycles.msg);
	if (rc == 0 && k->lost)
		rc = attrs_set_int(a, &m->taints, "lost_samples", (int64_t)k->lost);
	if (rc == 0 && k->throttled)
		rc = attrs_set_int(a, &m->taints, "throttled", (int64_t)k->throttled);
	return rc;
}

static int record_ticks(struct run *r, struct measure *m, const struct command_result *c,
			const struct profile_symbols *symbols)
{
	struct tick_table t = { .total = c->stacks.ticks, .total_load = NAN };
	int rc = 0;

	if (symbols->why_not[0])
		return add_table(r, m, "profile_ticks", &t, 3);
	rc = ticks_by_function(&c->stacks, &symbols->symbols, &r->arena, &t);
	if (rc == 0)
		rc = add_table(r, m, "profile_ticks", &t, 3);
	if (rc || !c->sampler.chains)
		return rc;
	rc = ticks_by_caller(&c->stacks, &symbols->symbols, &r->arena, &t);
	return rc ? rc : add_table(r, m, "caller_ticks", &t, 2);
}

static int set_setting(struct run *r, struct measure *m, enum sampler_event event,
		       unsigned frequency)
{
	int rc = attrs_set_text(&r->arena, &m->setting, "event", sampler_event_name(event));

	return rc ? rc : attrs_set_int(&r->arena, &m->setting, "frequency", frequency);
}

static int record_kernel(struct run *r, unsigned invocation, const struct command_result *c,
			 const struct sampler_options *o, const struct profile_symbols *symbols)
{
	struct measure *m = begin_measure(r, &profile_kernel_schema, invocation, c);
	double expected = (double)c->usage.system_ns * c->sampler.frequency / 1e9;
	const char *why;
	int rc;

	if (!m)
		return -ENOMEM;
	if (!c->sampled) {
		m->verdict = VERDICT_SKIPPED;
		m->reason = arena_strdup(&r->arena, c->why_not.code ? c->why_not.msg
								    : "not asked "
								      "for");
		rc = set_setting(r, m, SAMPLER_CLOCK, o->frequency);
		return m->reason ? rc : -ENOMEM;
	}
	rc = set_setting(r, m, c->sampler.event, c->sampler.frequency);
	if (rc == 0)
		rc = add_sampling_proof(r, m, c, expected);
	if (rc == 0)
		rc = record_ticks(r, m, c, symbols);
	why = doubt(&r->arena, c, expected);
	if (symbols->why_not[0])
		why = arena_printf(&r->arena, "in which functions: %s%s%s", symbols->why_not,
				   why ? "; " : "", why ? why : "");
	m->unproven = why;
	return rc;
}

int profile_record(struct run *r, unsigned invocation, const struct command_result *result,
		   const struct sampler_options *o, const struct profile_symbols *symbols)
{
	int rc = run_add_schema(r, &profile_command_schema);

	if (rc == 0)
		rc = run_add_schema(r, &profile_kernel_schema);
	if (rc == 0)
		rc = record_command(r, invocation, result);
	return rc ? rc : record_kernel(r, invocation, result, o, symbols);
}
