// SPDX-License-Identifier: MIT
/* The invented runs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "fixture.h"
#include "fixture_parts.h"

#define TLB(outer) ((struct fixture_setting){ "tlb.chase", outer })
#define CACHE(outer) ((struct fixture_setting){ "cache.chase", outer })
#define CALL(outer) ((struct fixture_setting){ "calls.kinds", outer })

#define BASE "stride=page order=random page=4k page-tables=local"
#define SPREAD "stride=leaf-table+4k order=random page=4k page-tables=local"
#define HUGE "stride=page order=random page=thp page-tables=local"
#define POOL "stride=page order=random page=hugetlb-1g page-tables=local"
#define NO_POOL                                           \
	"hugetlb-1g has no free page; as root: echo 4 > " \
	"/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"

static void taint(struct run *r, size_t measure, const char *name, int64_t n)
{
	assert_true(measure < r->n_measures);
	assert_int_equal(attrs_set_int(&r->arena, &r->measures[measure].taints, name, n), 0);
}

static void unproven(struct run *r, size_t first, const char *why)
{
	for (size_t i = first; i < r->n_measures; i++)
		r->measures[i].unproven = why;
}

/* --- a full toll run --- */

static void toll_findings(struct run *r)
{
	fixture_finding(r, "turbo", SEVERITY_NOTE, "the clock may change while measuring",
			"ns differ between runs; cycles do not",
			"none needed: the clock is measured around every repetition");
	fixture_finding(r, "hypervisor", SEVERITY_WARNING,
			"this is a guest of KVM without counters",
			"page walks pass two sets of page tables; times include the host's work",
			"measure on the host for the processor's own figures");
	fixture_finding(r, "smt-sibling", SEVERITY_WARNING,
			"CPU 1 shares a core with CPU 0, which is busy (load 1.3)",
			"TLBs and caches are shared: knees come early and times rise",
			"stop other work, or: pagetoll run cpu=0");
	fixture_finding(r, "thp-madvise", SEVERITY_NOTE, "transparent huge pages only on request",
			"none on what is measured here", "none needed");
}

static void toll_fill(struct run *r)
{
	static const int64_t pointers[] = { 16, 64, 128, 2048, 4096 };
	static const double base[] = { 1.35, 1.9, 3.7, 6.1, 11.2 };
	fixture_header(r);
	toll_findings(r);
	for (size_t i = 0; i < 5; i++) {
		fixture_point(r, TLB(BASE), pointers[i], 8, base[i]);
		fixture_point(r, TLB(SPREAD), pointers[i], 8, base[i] * 4);
		fixture_point(r, TLB(HUGE), pointers[i], 8, base[i] * 0.9);
	}
	fixture_skip(r, TLB(POOL), VERDICT_SKIPPED, NO_POOL);
	fixture_skip(r, TLB("stride=page order=random page=64k page-tables=local"), VERDICT_SKIPPED,
		     "no pages of 64 KiB came");
	fixture_point(r, CACHE("page=thp spacing=64"), 4096, 8, 1.34);
	fixture_point(r, CACHE("page=thp spacing=64"), 1 << 20, 8, 5.2);
	fixture_point(r, CACHE("page=thp spacing=64"), 1 << 30, 8, 104);
	fixture_point(r, CACHE("page=4k spacing=64"), 1 << 30, 8, 182);
	taint(r, 0, "involuntary_switches", 2);
	taint(r, 40, "involuntary_switches", 1);
	taint(r, 3, "steal_ns", 4000000);
	fixture_footer(r, true, "interval target met");
}

static void toll_tlb_facts(struct report *rep)
{
	struct fact *f;
	fixture_fact(rep, "clock.core_hz", "", "Hz", 2.98e9, 2.95e9, 3.01e9);
	f = fixture_fact(rep, "tlb.entries", "page=4k level=1", "entries", 63, 62, 65);
	f->nominal = f->advertised = 64;
	f = fixture_fact(rep, "tlb.entries", "page=4k level=2", "entries", 2012, 1980, 2101);
	f->nominal = f->advertised = 2048;
	fixture_fact(rep, "tlb.reach", "page=4k level=1", "bytes", 63 * 4096.0, 62 * 4096.0,
		     65 * 4096.0);
	fixture_fact(rep, "tlb.reach", "page=4k level=2", "bytes", 2012 * 4096.0, 1980 * 4096.0,
		     2101 * 4096.0);
	fixture_fact(rep, "tlb.hit_ns", "page=4k level=2", "ns", 2.1, 2.01, 2.2);
	fixture_fact(rep, "tlb.hit_cycles", "page=4k level=2", "cycles", 7.05, 6.9, 7.31);
	fixture_fact(rep, "walk.cached_ns", "page=4k", "ns", 10.6, 10.1, 11.2);
	fixture_fact(rep, "walk.cached_cycles", "page=4k", "cycles", 31.6, 30.2, 33.5);
	fixture_fact(rep, "walk.memory_ns", "page=4k", "ns", 270, 251, 302);
	fixture_fact(rep, "walk.memory_cycles", "page=4k", "cycles", 1004, 960, 1102);
	f = fixture_fact(rep, "tlb.entries", "page=thp level=1", "entries", 63, 61, 66);
	f->nominal = f->advertised = 64;
	f = fixture_fact(rep, "tlb.entries", "page=thp level=2", "entries", 512, 500, 530);
	f->nominal = 512;
	f->advertised = 2048;
	f->note = "entries are shared with page-directory entries";
	fixture_fact(rep, "tlb.reach", "page=thp level=1", "bytes", 126 << 20, 122 << 20,
		     132 << 20);
	fixture_fact(rep, "tlb.hit_ns", "page=thp level=2", "ns", 5.1, NAN, NAN);
	fixture_fact_missing(rep, "walk.memory_ns", "page=thp", "ns",
			     "the memory budget of 19.1 GiB ends before the page tables leave the "
			     "caches");
	fixture_fact(rep, "tlb.effective_page", "page=thp", "bytes", 4096, NAN, NAN)->note =
		"2 MiB pages act like 4 KiB entries here: the hypervisor backs them by smaller "
		"ones";
}

static void toll_facts(struct report *rep)
{
	struct fact *f;
	toll_tlb_facts(rep);
	fixture_fact(rep, "cache.latency_ns", "level=1", "ns", 1.34, 1.33, 1.36);
	fixture_fact(rep, "cache.latency_cycles", "level=1", "cycles", 4.0, 3.98, 4.03);
	f = fixture_fact(rep, "cache.capacity", "level=1", "bytes", 32 << 10, 31 << 10, 33 << 10);
	f->nominal = f->advertised = 32 << 10;
	fixture_fact(rep, "cache.latency_ns", "level=2", "ns", 4.1, 4.0, 4.3);
	f = fixture_fact(rep, "cache.capacity", "level=2", "bytes", 384 << 10, 350 << 10,
			 400 << 10);
	f->advertised = 512 << 10;
	fixture_fact(rep, "memory.latency_ns", "page=thp working-set=1g", "ns", 104, 101, 108);
	f = fixture_fact(rep, "cache.line", "", "bytes", 64, NAN, NAN);
	f->advertised = 64;
	fixture_fact(rep, "toll.random_read_ns", "page=4k working-set=1g", "ns", 182, 170, 190);
	fixture_fact(rep, "toll.random_read_ns", "page=thp working-set=1g", "ns", 104, 101, 108);
	fixture_fact(rep, "toll.huge_page_saving", "working-set=1g", "percent", 42.9, 40.1, 45.2);
}

/* --- quick, without intervals --- */

static void quick_fill(struct run *r)
{
	fixture_header(r);
	r->preset = "quick";
	fixture_point(r, CACHE("page=thp spacing=64"), 1 << 30, 2, 187 / 0.99);
	fixture_point(r, CACHE("page=4k spacing=64"), 1 << 30, 2, 182 / 0.99);
	fixture_footer(r, true, "all invocations done");
}

static void quick_facts(struct report *rep)
{
	fixture_fact(rep, "toll.random_read_ns", "page=4k working-set=1g", "ns", 182, NAN, NAN);
	fixture_fact(rep, "toll.random_read_ns", "page=thp working-set=1g", "ns", 187, NAN, NAN);
	fixture_fact(rep, "toll.huge_page_saving", "working-set=1g", "percent", -2.7, NAN, NAN);
}

/* --- few invocations on a busy machine --- */

static void few_fill(struct run *r)
{
	fixture_header(r);
	fixture_finding(r, "load", SEVERITY_WARNING, "load average 4.80 on 2 CPUs",
			"other programs share caches, memory bandwidth and power",
			"stop them, or wait");
	fixture_point(r, CACHE("page=thp spacing=64"), 1 << 30, 4, 604);
	fixture_point(r, CACHE("page=4k spacing=64"), 1 << 30, 1, 900);
	/* another experiment over the same working set: none of the headline's */
	fixture_point(r, CACHE("page=thp spacing=512"), 1 << 30, 3, 88);
	for (size_t i = 0; i < 3; i++)
		taint(r, i, "steal_ticks", 2);
	fixture_footer(r, true, "time budget (interval target met for 0 of 13 settings)");
}

static void few_facts(struct report *rep)
{
	struct fact *f;
	fixture_fact(rep, "clock.core_hz", "", "Hz", 2.98e9, 2.95e9, 3.01e9);
	f = fixture_fact(rep, "tlb.entries", "page=4k level=1", "entries", 40, NAN, NAN);
	f->advertised = 64;
	fixture_fact(rep, "tlb.effective_page", "page=thp", "bytes", 4096, NAN, NAN)->note =
		"2 MiB pages act like 4 KiB entries here: the hypervisor backs them by smaller "
		"ones";
	fixture_fact(rep, "toll.random_read_ns", "page=4k working-set=1g", "ns", 900, NAN, NAN);
	fixture_fact(rep, "toll.random_read_ns", "page=thp working-set=1g", "ns", 604, NAN, NAN);
	fixture_fact(rep, "toll.huge_page_saving", "working-set=1g", "percent", 32.9, NAN, NAN);
}

/* --- nothing could run --- */

static void skipped_fill(struct run *r)
{
	fixture_header(r);
	fixture_skip(r, TLB(BASE), VERDICT_FAILED, "mmap: out of memory (budget 12.0 MiB)");
	fixture_skip(r, TLB(HUGE), VERDICT_SKIPPED,
		     "transparent huge pages are off; as root: echo madvise > "
		     "/sys/kernel/mm/transparent_hugepage/enabled");
	fixture_skip(r, TLB(POOL), VERDICT_SKIPPED, NO_POOL);
	fixture_footer(r, true, "nothing left to run");
}

static void skipped_facts(struct report *rep)
{
	fixture_fact_missing(rep, "tlb.entries", "page=4k level=1", "entries",
			     "no curve: mmap: out of memory (budget 12.0 MiB)");
	fixture_fact_missing(rep, "toll.random_read_ns", "page=4k working-set=1g", "ns",
			     "not enough memory");
}

/* --- placement of page tables --- */

#define LOCAL "stride=32m+128 order=sequential page=4k page-tables=local"
#define REMOTE "stride=32m+128 order=sequential page=4k page-tables=remote"

static void one_node_fill(struct run *r)
{
	fixture_header(r);
	r->command = "pagetoll run tlb.chase stride=32m+128 page-tables=local,remote";
	fixture_point(r, TLB(LOCAL), 10, 8, 1.4);
	fixture_point(r, TLB(LOCAL), 100, 8, 17);
	fixture_point(r, TLB(LOCAL), 900, 8, 37.3);
	fixture_skip(r, TLB(REMOTE), VERDICT_SKIPPED, "not measurable: one memory node");
	fixture_footer(r, true, "interval target met");
}

static void two_nodes_fill(struct run *r)
{
	fixture_header(r);
	fixture_point(r, TLB(REMOTE), 10, 8, 1.4);
	fixture_point(r, TLB(LOCAL), 10, 8, 1.4);
	fixture_point(r, TLB(LOCAL), 100, 8, 17);
	fixture_point(r, TLB(REMOTE), 100, 8, 44.25);
	fixture_point(r, TLB(REMOTE), 900, 8, 98);
	fixture_point(r, TLB(LOCAL), 900, 8, 37.3);
	unproven(r, 0, "the counters of page tables a node cannot be read (no cgroup v2)");
	/* one pair with contrary evidence, one that timed out, one invocation lost in setup */
	for (unsigned i = 0; i < 8; i++) {
		struct measure *m = fixture_measure(r, TLB(REMOTE), 2000, i);
		fixture_samples(r, m, "ref_ns", 60);
		m->verdict = VERDICT_INVALID;
		m->reason = "4000 of 4096 page tables lie on node 0, wanted node 1";
	}
	fixture_point(r, TLB(LOCAL), 2000, 8, 50);
	struct measure *m = fixture_measure(r, TLB(LOCAL), 4000, 0);
	m->verdict = VERDICT_TIMEOUT;
	m->reason = "no end after 60 s";
	fixture_skip(r, TLB(LOCAL), VERDICT_KILLED, "killed by signal 9 (out of memory?)");
	fixture_footer(r, true, "time budget spent");
}

/* --- as it was published --- */

static void published_fill(struct run *r)
{
	static const struct {
		int64_t n;
		double local, remote;
	} rows[] = { { 1, 5.621, 5.621 },
		     { 30, 2.89, 2.89 },
		     { 70, 11.287, 11.286 },
		     { 120, 51.758, 132.389 },
		     { 900, 306.296, 747.635 } };
	r->schema_version = RUN_SCHEMA_VERSION;
	r->id = "altix-2005";
	r->source = "a message to a mailing list, 2005";
	r->origin = ORIGIN_PUBLISHED;
	assert_int_equal(run_add_schema(r, &fixture_tlb), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fixture_summary(r, fixture_measure(r, TLB(LOCAL), rows[i].n, 0), "ref_ns",
				rows[i].local);
		fixture_summary(r, fixture_measure(r, TLB(REMOTE), rows[i].n, 0), "ref_ns",
				rows[i].remote);
	}
	unproven(r, 0, "published without evidence of the placement");
}

/* --- many columns, no inner parameter, cut short, hostile --- */

static void wide_fill(struct run *r)
{
	static const char *const outers[] = {
		"stride=4k order=random page=4k page-tables=local",
		"stride=16k order=random page=4k page-tables=local",
		"stride=64k order=random page=4k page-tables=local",
		"stride=256k order=random page=4k page-tables=local",
		"stride=1m order=random page=4k page-tables=local",
		"stride=4m order=random page=4k page-tables=local",
		"stride=16m order=random page=4k page-tables=local",
		"stride=64m order=random page=4k page-tables=local",
		"stride=256m order=random page=4k page-tables=local",
		"stride=leaf-table+base-page+more order=random page=4k page-tables=local",
	};
	fixture_header(r);
	for (size_t i = 0; i < sizeof(outers) / sizeof(*outers); i++) {
		fixture_point(r, TLB(outers[i]), 64, 8, 1.5 + (double)i);
		fixture_point(r, TLB(outers[i]), 1000000, 8, 1234.5 + 100 * (double)i);
	}
	fixture_footer(r, true, "interval target met");
}

static void flat_fill(struct run *r)
{
	static const char *const outers[] = { "call=getpid cache=hot", "call=getpid cache=cold",
					      "call=openat cache=hot" };
	fixture_header(r);
	assert_int_equal(run_add_schema(r, &fixture_call), 0);
	for (size_t i = 0; i < 3; i++)
		for (unsigned k = 0; k < 6; k++) {
			struct measure *m = fixture_measure(r, CALL(outers[i]), 0, k);
			fixture_samples(r, m, "call_ns", 40.5 * (double)(i + 1) + k * 0.1);
		}
	fixture_skip(r, CALL("call=clone3 cache=hot"), VERDICT_SKIPPED,
		     "the system call is filtered (EPERM)");
	fixture_footer(r, true, "interval target met");
}

static void incomplete_fill(struct run *r)
{
	fixture_header(r);
	fixture_point(r, TLB(BASE), 64, 3, 1.9);
	fixture_null(r, fixture_measure(r, TLB(BASE), 128, 0), "ref_ns", "interrupted");
	r->stop_reason = "interrupted";
	r->n_bad_lines = 1;
}

/* A benchmark of a later version, or of somebody who plays with files. */
static void hostile_bench(struct run *r)
{
	static const struct param params[] = {
		{ .name = "in\nner", .type = PARAM_COUNT, .role = ROLE_INNER, .summary = "\033" },
		{ .name = "out\033er", .type = PARAM_CHOICE },
		{ 0 }
	};
	static const struct metric metrics[] = { { "a\033b", "\033[2J\n", "n\n\033s", BETTER_LOWER,
						   EST_MIN, FORM_SAMPLES },
						 { "b", "b", "a unit of more than twenty letters",
						   BETTER_HIGHER, EST_MIN, FORM_SAMPLES },
						 { 0 } };
	static const struct bench_schema schema = { "be\033nch\n", "\n", 9, params, metrics };
	assert_int_equal(run_add_schema(r, &schema), 0);
	for (unsigned i = 0; i < 4; i++) {
		struct measure *m = run_add_measure(r);
		assert_non_null(m);
		m->bench = schema.name;
		m->unproven = "\r\033[0m";
		assert_int_equal(attrs_set_int(&r->arena, &m->setting, "in\nner", i / 2), 0);
		assert_int_equal(attrs_set_text(&r->arena, &m->setting, "out\033er",
						i % 2 ? "\033[7m" : "\n"),
				 0);
		fixture_samples(r, m, "a\033b", 1e300 * i);
		fixture_samples(r, m, "b", -1e-300);
	}
}

static void hostile_fill(struct run *r)
{
	static const char junk[] = "\033]0;gotcha\007 <b>\xc2\x9b"
				   "31m\xe2\x82\xac,\"\n";
	struct fixture_setting s = TLB("stride=\033[31mred\r\nx order=\xff\xfe page=4k "
				       "page-tables=local");
	char *label = arena_alloc(&r->arena, 10001);
	assert_non_null(label);
	for (size_t i = 0; i < 10000; i++)
		label[i] = junk[i % (sizeof(junk) - 1)];
	fixture_header(r);
	r->label = label;
	r->command = label;
	r->source = "\033[2Jgone";
	r->stop_reason = "\nforged line";
	assert_int_equal(attrs_set_text(&r->arena, &r->fingerprint, "cpu", label), 0);
	fixture_finding(r, "\033[0m", SEVERITY_BLOCKER, label, "\r\n", "rm\ttmp");
	for (unsigned i = 0; i < 40; i++) {
		struct measure *m = fixture_measure(r, s, 10 + i, 0);
		m->verdict = VERDICT_FAILED;
		m->reason = arena_printf(&r->arena, "reason %u \033[1m%.90s", i, label);
	}
	assert_int_equal(attrs_set_int(&r->arena, &r->measures[0].taints, "a\033b", 1), 0);
	fixture_skip(r, TLB("stride=1 order=random page=\033c page-tables=local"), VERDICT_SKIPPED,
		     label);
	hostile_bench(r);
	fixture_footer(r, false, label);
}

static void hostile_facts(struct report *rep)
{
	const char *label = rep->run->label;
	fixture_fact_missing(rep, "tlb.entries", "page=\033[31m level=1", "ent\033ries", label);
	fixture_fact(rep, label, "page=4k level=1", "\r\n", 3, 2, 4)->note = label;
}

/* Nothing but counts and an exact number, and no inner parameter. */
static void counts_fill(struct run *r)
{
	static const struct param params[] = { { .name = "form", .type = PARAM_CHOICE }, { 0 } };
	static const struct metric metrics[] = {
		{ "errors", "wrong words", "ratio", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
		{ "table_bytes", "", "bytes", BETTER_LOWER, EST_MEDIAN, FORM_EXACT },
		{ 0 }
	};
	static const struct bench_schema schema = { "mem.check", "counts", 1, params, metrics };
	static const char *const form[] = { "form=one", "form=two" };
	fixture_header(r);
	assert_int_equal(run_add_schema(r, &schema), 0);
	for (unsigned i = 0; i < 16; i++) {
		struct fixture_setting s = { schema.name, form[i % 2] };
		struct measure *m = fixture_measure(r, s, 0, i / 2);
		fixture_count(r, m, "errors", i % 2 ? i : 0, 1 << 20);
		fixture_exact(r, m, "table_bytes", i % 2 ? 8192 : 0);
	}
	fixture_footer(r, true, "interval target met");
}

static void empty_fill(struct run *r)
{
	fixture_header(r);
}

/* --- options --- */

static void ascii_options(struct report_options *o)
{
	o->utf8 = false;
}

static void colour_options(struct report_options *o)
{
	o->colour = true;
	o->file = NULL;
}

static void path_options(struct report_options *o)
{
	o->run_name = o->file = "/home/user/a/directory/of/some/depth/"
				"01hx0000000000000000000001.pagetoll.jsonl";
}

static void published_options(struct report_options *o)
{
	o->run_name = "altix-2005";
	o->file = NULL;
}

const struct fixture fixtures[] = {
	{ "toll", toll_fill, toll_facts, NULL },
	{ "toll-ascii", toll_fill, toll_facts, ascii_options },
	{ "toll-colour", toll_fill, toll_facts, colour_options },
	{ "quick", quick_fill, quick_facts, NULL },
	{ "few", few_fill, few_facts, NULL },
	{ "path", quick_fill, quick_facts, path_options },
	{ "skipped", skipped_fill, skipped_facts, NULL },
	{ "one-node", one_node_fill, NULL, NULL },
	{ "two-nodes", two_nodes_fill, NULL, NULL },
	{ "published", published_fill, NULL, published_options },
	{ "wide", wide_fill, NULL, NULL },
	{ "flat", flat_fill, NULL, NULL },
	{ "counts", counts_fill, NULL, NULL },
	{ "incomplete", incomplete_fill, NULL, NULL },
	{ "hostile", hostile_fill, hostile_facts, NULL },
	{ "hostile-ascii", hostile_fill, hostile_facts, ascii_options },
	{ "empty", empty_fill, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};

const struct fixture *fixture_find(const char *name)
{
	for (const struct fixture *f = fixtures; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

struct run *fixture_open(const struct fixture *f, struct report *rep, struct report_options *o)
{
	struct err e = { 0 };
	struct run *r = run_new();
	assert_non_null(r);
	f->fill(r);
	assert_int_equal(report_init(rep, r, &e), 0);
	rep->facts = (struct facts){ 0 };
	if (f->facts)
		f->facts(rep);
	*o = (struct report_options){ .utf8 = true,
				      .run_name = "last",
				      .file = "/home/user/runs/example.pagetoll.jsonl" };
	if (f->options)
		f->options(o);
	return r;
}

void fixture_close(struct run *r, struct report *rep)
{
	report_done(rep);
	run_free(r);
}
