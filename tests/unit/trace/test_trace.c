// SPDX-License-Identifier: MIT
/*
 * Readers of traces: each format's records, and each way to be wrong, with its offset; what is cut
 * off anywhere gives what is before the cut.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"

enum { BYTES_MAX = 1 << 19, REFS_MAX = 40000 };

/* --- bytes of traces --- */

struct bytes {
	uint8_t *v;
	size_t n, at, step; /* step: given at once; 0: all */
	int fails_at;       /* offset from which reading fails; 0: never */
};

static struct bytes make(void)
{
	struct bytes b = { .v = calloc(1, BYTES_MAX) };

	assert_non_null(b.v);
	return b;
}

static int give(void *user, void *buf, size_t n, size_t *ret_n, struct err *e)
{
	struct bytes *b = user;
	const size_t left = b->n - b->at;
	size_t k = b->step && b->step < n ? b->step : n;

	if (b->fails_at && b->at >= (size_t)b->fails_at)
		return err_set(e, EIO, "the disk is gone");
	k = k < left ? k : left;
	memcpy(buf, b->v + b->at, k);
	b->at += k;
	*ret_n = k;
	return 0;
}

static void add(struct bytes *b, const void *p, size_t n)
{
	assert_true(b->n + n <= BYTES_MAX);
	memcpy(b->v + b->n, p, n);
	b->n += n;
}

static void text(struct bytes *b, const char *s)
{
	add(b, s, strlen(s));
}

static void number(struct bytes *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		const uint8_t byte = (uint8_t)(v >> 8 * i);

		add(b, &byte, 1);
	}
}

/* A record of drmemtrace. */
static void dr(struct bytes *b, unsigned type, unsigned size, uint64_t address)
{
	number(b, type, 2);
	number(b, size, 2);
	number(b, address, 8);
}

/* As ChampSim's own header has them: its tracers write the bytes of such a structure. */
struct input_instr {
	unsigned long long ip;
	unsigned char is_branch, branch_taken;
	unsigned char destination_registers[2], source_registers[4];
	unsigned long long destination_memory[2], source_memory[4];
};
struct cloudsuite_instr {
	unsigned long long ip;
	unsigned char is_branch, branch_taken;
	unsigned char destination_registers[4], source_registers[4];
	unsigned long long destination_memory[4], source_memory[4];
	unsigned char asid[2];
};

/* One place written, one read, 0: none. */
static void champ(struct bytes *b, enum trace_format f, uint64_t ip, uint64_t to, uint64_t from)
{
	struct input_instr i = { .ip = ip,
				 .is_branch = 1,
				 .source_registers = { 200, 201, 202, 203 },
				 .destination_memory = { to },
				 .source_memory = { 0, 0, 0, from } };
	struct cloudsuite_instr c = { .ip = ip,
				      .is_branch = 1,
				      .source_registers = { 200, 201, 202, 203 },
				      .destination_memory = { to },
				      .source_memory = { 0, 0, 0, from },
				      .asid = { 255, 255 } };

	if (f == TRACE_CLOUDSUITE)
		add(b, &c, sizeof(c));
	else
		add(b, &i, sizeof(i));
}

/* --- reading --- */

struct all {
	struct trace_ref v[REFS_MAX];
	uint64_t thread[REFS_MAX], time[REFS_MAX];
	size_t n;
	uint64_t offset, prefetches;
	enum trace_format format;
	struct err e;
};

/* Everything; 0 or what reading or opening gave. */
static int read_all(struct bytes *b, enum trace_format f, size_t cap, struct all *ret)
{
	struct trace *t = NULL;
	int rc;

	memset(ret, 0, sizeof(*ret));
	b->at = 0;
	rc = trace_open(give, b, "FILE", f, &t, &ret->e);
	if (rc < 0) {
		assert_null(t);
		return rc;
	}
	ret->format = trace_format_of(t);
	do {
		size_t n = 0;

		assert_true(ret->n + cap <= REFS_MAX);
		rc = trace_next(t, ret->v + ret->n, cap, &n, &ret->e);
		for (size_t i = 0; i < n; i++) {
			ret->thread[ret->n + i] = trace_thread(t);
			ret->time[ret->n + i] = trace_time(t);
		}
		ret->n += n;
	} while (rc == 1);
	if (rc < 0) { /* and again */
		struct err e = { 0 };
		size_t n = 7;

		assert_int_equal(trace_next(t, ret->v, cap, &n, &e), rc);
		assert_string_equal(e.msg, ret->e.msg);
		assert_int_equal(n, 7);
	}
	ret->offset = trace_offset(t);
	ret->prefetches = trace_prefetches(t);
	trace_close(t);
	return rc;
}

static void expect(const struct all *a, size_t i, enum trace_kind kind, uint64_t address,
		   uint32_t bytes)
{
	assert_true(i < a->n);
	assert_int_equal(a->v[i].kind, kind);
	assert_int_equal(a->v[i].address, address);
	assert_int_equal(a->v[i].bytes, bytes);
}

/* --- lackey --- */

static const char lackey[] = "==12== Lackey, an example Valgrind tool\n"
			     "==12== Command: ./a\n"
			     "==12== \n"
			     "I  004014f0,2\n"
			     " L 1fff000710,8\n"
			     "\n"
			     " S FFeffC,16\n"
			     "SB 00401500\n"
			     " M 7f0012345678,512\n"
			     "--12-- told\n"
			     "==12== Exit code:       0\n";

static void test_lackey(void **state)
{
	static const size_t steps[] = { 0, 1, 7 };
	struct all *a = malloc(sizeof(*a));

	(void)state;
	assert_non_null(a);
	for (size_t i = 0; i < 3; i++) {
		struct bytes b = make();

		text(&b, lackey);
		b.step = steps[i];
		assert_int_equal(read_all(&b, i ? TRACE_LACKEY : TRACE_AUTO, 64, a), 0);
		assert_int_equal(a->format, TRACE_LACKEY);
		assert_int_equal(a->n, 4);
		expect(a, 0, TRACE_FETCH, 0x4014f0, 2);
		expect(a, 1, TRACE_LOAD, 0x1fff000710, 8);
		expect(a, 2, TRACE_STORE, 0xffeffc, 16);
		expect(a, 3, TRACE_MODIFY, 0x7f0012345678, 512);
		assert_int_equal(a->thread[3], 0);
		assert_int_equal(a->offset, b.n);
		free(b.v);
	}
	free(a);
}

static void test_lackey_bad(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "I 004014f0,2", "is no reference" },
		{ " L ,8", "is no reference" },
		{ " L 12345678901234567,8", "is no reference" },
		{ " L 1fff,", "is no reference" },
		{ " L 1fff,0", "is no reference" },
		{ " L 1fff,65536", "is no reference" },
		{ " L 1fff,-8", "is no reference" },
		{ " L 1fff 8", "is no reference" },
		{ " L 0x1fff,8", "is no reference" },
		{ " X 1fff,8", "is no reference" },
		{ "hello from the program", "--log-file=FILE" },
		{ " L 1fff,8 \001", "'" },
		{ "==13== another process", "process 13 after process 12" },
		{ "==12= torn", "is no reference" },
	};
	struct all *a = malloc(sizeof(*a));

	(void)state;
	assert_non_null(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = make();

		text(&b, "==12== begins\n S 10,1\n");
		text(&b, rows[i].line);
		text(&b, "\n L 20,1\n");
		assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EBADMSG);
		assert_int_equal(a->n, 1);
		expect(a, 0, TRACE_STORE, 0x10, 1);
		if (!strstr(a->e.msg, rows[i].says) ||
		    strncmp(a->e.msg, "offset 22, line 3: ", 19) != 0)
			fail_msg("%s: %s", rows[i].line, a->e.msg);
		assert_null(strchr(a->e.msg, '\001'));
		free(b.v);
	}
	free(a);
}

/* --- ChampSim --- */

static void test_champsim(void **state)
{
	static const enum trace_format formats[] = { TRACE_CHAMPSIM, TRACE_CLOUDSUITE };
	struct all *a = malloc(sizeof(*a));

	(void)state;
	assert_non_null(a);
	for (size_t k = 0; k < 2; k++) {
		struct bytes b = make();
		const enum trace_format f = formats[k];

		/* so many that a buffer does not hold them, at odd addresses */
		for (uint64_t i = 0; i < 3000; i++)
			champ(&b, f, 0x401001 + 3 * i, i % 3 ? 0 : 0x7f00deadbe00 + i,
			      i % 2 ? 0xffff800000001000 + i : 0);
		assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), 0);
		assert_int_equal(a->format, f);
		assert_int_equal(a->n, 3000 + 1000 + 1500);
		expect(a, 0, TRACE_FETCH, 0x401001, 0);
		expect(a, 1, TRACE_STORE, 0x7f00deadbe00, 0);
		expect(a, 2, TRACE_FETCH, 0x401004, 0);
		expect(a, 3, TRACE_LOAD, 0xffff800000001001, 0);
		free(b.v);
	}
	free(a);
}

static void test_champsim_bad(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		const char *says;
	} rows[] = {
		{ 64 + 8, 2, "offset 64: is_branch is neither" },
		{ 64 + 9, 255, "offset 64: branch_taken is neither" },
		{ 64 + 7, 0x55, "offset 64: the instruction's address has more" },
		{ 128 + 16 + 7, 0x02, "offset 128: a memory address has more" },
		{ 128 + 56 + 7, 0xfd, "offset 128: a memory address has more" },
	};
	struct all *a = malloc(sizeof(*a));

	(void)state;
	assert_non_null(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = make();

		for (unsigned k = 0; k < 3; k++)
			champ(&b, TRACE_CHAMPSIM, 0x401000, 0, 0x1000);
		b.v[rows[i].at] = rows[i].value;
		assert_int_equal(read_all(&b, TRACE_CHAMPSIM, 64, a), -EBADMSG);
		assert_int_equal(a->n, 2 * (rows[i].at / 64));
		if (strncmp(a->e.msg, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("%s", a->e.msg);
		/* and it is not recognised as one */
		assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EBADMSG);
		assert_non_null(strstr(a->e.msg, "no trace that is known"));
		free(b.v);
	}
	free(a);
}

/* --- drmemtrace --- */

static void head(struct bytes *b)
{
	dr(b, 25, 0, 5);              /* header */
	dr(b, 28, 12, 5);             /* version */
	dr(b, 28, 9, 0x1234);         /* kind of file */
	dr(b, 22, 0, 77);             /* thread */
	dr(b, 24, 0, 70);             /* process */
	dr(b, 28, 2, 13300000000000); /* time */
	dr(b, 28, 3, 4);              /* CPU */
}

static void test_drmemtrace(void **state)
{
	struct all *a = malloc(sizeof(*a));
	struct bytes b = make();

	(void)state;
	assert_non_null(a);
	head(&b);
	dr(&b, 47, 3, 0x909090); /* an encoding */
	dr(&b, 10, 3, 0x401000);
	dr(&b, 0, 8, 0x7ffe0000);
	dr(&b, 17, 2, 0x0504); /* two more instructions, of 4 and 5 bytes */
	dr(&b, 48, 2, 0x401020);
	dr(&b, 1, 4, 0x7ffe0008);
	dr(&b, 3, 1, 0x5000); /* prefetches */
	dr(&b, 44, 1, 0x5000);
	dr(&b, 27, 1, 0x5000);
	dr(&b, 29, 2, 0x401020); /* not fetched */
	dr(&b, 28, 2, 13300000000009);
	dr(&b, 22, 0, 78);
	dr(&b, 0, 8, 0x6000);
	dr(&b, 18, 64, 0x6000); /* a flush */
	dr(&b, 23, 0, 78);
	dr(&b, 26, 0, 0);
	for (size_t cap = TRACE_NEXT_MIN; cap < 200; cap *= 3) {
		assert_int_equal(read_all(&b, TRACE_AUTO, cap, a), 0);
		assert_int_equal(a->format, TRACE_DRMEMTRACE);
		assert_int_equal(a->n, 7);
		expect(a, 0, TRACE_FETCH, 0x401000, 3);
		expect(a, 1, TRACE_LOAD, 0x7ffe0000, 8);
		expect(a, 2, TRACE_FETCH, 0x401003, 4);
		expect(a, 3, TRACE_FETCH, 0x401007, 5);
		expect(a, 4, TRACE_FETCH, 0x401020, 2);
		expect(a, 5, TRACE_STORE, 0x7ffe0008, 4);
		expect(a, 6, TRACE_LOAD, 0x6000, 8);
		assert_int_equal(a->thread[0], 77);
		assert_int_equal(a->thread[5], 77);
		assert_int_equal(a->thread[6], 78);
		assert_int_equal(a->time[5], 13300000000000);
		assert_int_equal(a->time[6], 13300000000009);
		assert_int_equal(a->prefetches, 3);
	}
	free(b.v);
	free(a);
}

static void test_drmemtrace_bad(void **state)
{
	static const struct {
		unsigned type, size;
		uint64_t address;
		const char *says;
	} rows[] = {
		{ 50, 0, 1, "type 50 is none" },
		{ 0x8000, 4, 1, "type 32768 is none" },
		{ 17, 9, 0, "a bundle of 9" },
		{ 24, 0, 71, "process 71 after process 70" },
		{ 25, 0, 0, "version 0 of drmemtrace" },
		{ 25, 0, 8, "version 8 of drmemtrace" },
		{ 28, 12, 99, "version 99 of drmemtrace" },
		{ 25, 0, (uint64_t)28 << 32 | 5, "records of 8 bytes" },
	};
	struct all *a = malloc(sizeof(*a));

	(void)state;
	assert_non_null(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = make();
		char where[32];

		head(&b);
		dr(&b, 0, 8, 0x1000);
		snprintf(where, sizeof(where), "offset %zu: ", b.n);
		dr(&b, rows[i].type, rows[i].size, rows[i].address);
		dr(&b, 26, 0, 0);
		assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EBADMSG);
		assert_int_equal(a->n, 1);
		if (strncmp(a->e.msg, where, strlen(where)) != 0 ||
		    !strstr(a->e.msg + strlen(where), rows[i].says))
			fail_msg("%s", a->e.msg);
		free(b.v);
	}
	free(a);
}

/* Threads take turns in one file, without a time between: each reference is its thread's. */
static void test_drmemtrace_threads(void **state)
{
	struct all *a = malloc(sizeof(*a));
	struct bytes b = make();

	(void)state;
	assert_non_null(a);
	head(&b);
	for (uint64_t i = 0; i < 50; i++) {
		dr(&b, 22, 0, 77 + i % 3);
		for (uint64_t k = 0; k <= i % 4; k++)
			dr(&b, 0, 8, i << 12 | (77 + i % 3));
	}
	dr(&b, 26, 0, 0);
	assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), 0);
	assert_true(a->n > 100);
	for (size_t i = 0; i < a->n; i++)
		assert_int_equal(a->thread[i], a->v[i].address & 0xfff);
	free(b.v);
	free(a);
}

/* A header of 8 byte records is recognised for what it is, and other versions, too. */
static void test_drmemtrace_first(void **state)
{
	struct all *a = malloc(sizeof(*a));
	struct bytes b = make();

	(void)state;
	assert_non_null(a);
	number(&b, 25, 4);
	number(&b, 5, 4);
	number(&b, 28 | 12 << 16, 4);
	number(&b, 5, 4);
	assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EBADMSG);
	assert_non_null(strstr(a->e.msg, "32-bit program"));
	b.n = 0;
	dr(&b, 25, 0, 9);
	assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EBADMSG);
	assert_non_null(strstr(a->e.msg, "version 9"));
	assert_non_null(strstr(a->e.msg, "1 to 7"));
	/* no header: a part of a trace, that nothing says the end of */
	b.n = 0;
	dr(&b, 0, 8, 0x2000);
	assert_int_equal(read_all(&b, TRACE_DRMEMTRACE, 64, a), 0);
	assert_int_equal(a->n, 1);
	free(b.v);
	free(a);
}

/* --- all --- */

/* At whatever byte a trace ends: what is before is given, and the loss is told, but once. */
static void test_cut_off(void **state)
{
	struct all *whole = malloc(sizeof(*whole)), *a = malloc(sizeof(*a));

	(void)state;
	assert_non_null(whole);
	assert_non_null(a);
	for (unsigned f = TRACE_LACKEY; f < TRACE_FORMATS; f++) {
		struct bytes b = make();
		size_t n, last = 0;

		if (f == TRACE_LACKEY)
			text(&b, lackey);
		else if (f == TRACE_DRMEMTRACE)
			head(&b);
		for (uint64_t i = 0; i < 5 && f != TRACE_LACKEY; i++)
			if (f == TRACE_DRMEMTRACE)
				dr(&b, i % 2, 8, 0x1000 * i);
			else
				champ(&b, (enum trace_format)f, 0x401000 + i, 0x5000, 0x6000);
		if (f == TRACE_DRMEMTRACE)
			dr(&b, 26, 0, 0);
		assert_int_equal(read_all(&b, (enum trace_format)f, 64, whole), 0);
		n = b.n;
		for (b.n = 1; b.n < n; b.n++) {
			const int rc = read_all(&b, (enum trace_format)f, 64, a);
			const size_t record = f == TRACE_CHAMPSIM ? 64 : 96;

			/* of records without marks, a cut between two is no cut */
			if ((f == TRACE_CHAMPSIM || f == TRACE_CLOUDSUITE) && b.n % record == 0)
				assert_int_equal(rc, 0);
			else if (f != TRACE_LACKEY || b.n > 40)
				assert_int_equal(rc, -EBADMSG);
			assert_true(a->n >= last && a->n <= whole->n);
			for (size_t i = 0; i < a->n; i++)
				assert_memory_equal(&a->v[i], &whole->v[i], sizeof(a->v[i]));
			assert_true(rc == 0 || strncmp(a->e.msg, "offset ", 7) == 0);
			last = a->n;
		}
		assert_true(last > 0 && last + 3 >= whole->n);
		free(b.v);
	}
	free(whole);
	free(a);
}

static void test_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
	} rows[] = {
		{ "", 0, "empty" },
		{ "\x1f\x8b\x08\0\0\0\0\0", 8, "gzip -dc FILE | pagetoll predict --trace -" },
		{ "\xfd"
		  "7zXZ\0\0\4",
		  8, "xz -dc FILE |" },
		{ "\x28\xb5\x2f\xfd....", 8, "zstd -dc FILE |" },
		{ "\x04\x22\x4d\x18....", 8, "lz4 -dc FILE |" },
		{ "BZh9....", 8, "bzip2 -dc FILE |" },
		{ "PK\3\4....", 8, "unzip -p FILE |" },
		{ "hello\n", 6, "no trace that is known" },
		{ "\n\n\n", 3, "no trace that is known" },
		{ "==x== Lackey\n", 13, "no trace that is known" },
		{ "\0\0\0\0\0\0\0\0\0\0\0\0", 12, "no trace that is known" },
		{ "\x19\0\0\0\0\0\0\0\0\0\0\0", 12, "no trace that is known" },
	};
	struct all *a = malloc(sizeof(*a));

	(void)state;
	assert_non_null(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = make();

		add(&b, rows[i].bytes, rows[i].n);
		assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EBADMSG);
		if (!strstr(a->e.msg, rows[i].says))
			fail_msg("%zu: %s", i, a->e.msg);
		free(b.v);
	}
	free(a);
}

/* What the source says, after all that it gave; and a line without an end. */
static void test_source(void **state)
{
	struct all *a = malloc(sizeof(*a));
	struct bytes b = make();

	(void)state;
	assert_non_null(a);
	for (unsigned i = 0; i < 20000; i++)
		text(&b, " L 1000,8\n");
	b.fails_at = 150000;
	b.step = 1000;
	assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EIO);
	assert_non_null(strstr(a->e.msg, ": the disk is gone"));
	assert_in_range(b.at, 150000, 151000);
	assert_int_equal(a->n, b.at / 10);
	b.fails_at = 1;
	assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EIO);
	b.fails_at = 0;
	b.n = 100;
	memset(b.v + 100, 'x', 1 << 18);
	b.n += 1 << 18;
	assert_int_equal(read_all(&b, TRACE_AUTO, 64, a), -EBADMSG);
	assert_int_equal(a->n, 10);
	assert_non_null(strstr(a->e.msg, "offset 100, line 11: a line of more than 65536 bytes"));
	free(b.v);
	free(a);
}

static void test_names(void **state)
{
	enum trace_format f = TRACE_FORMATS;

	(void)state;
	for (unsigned i = 0; i < TRACE_FORMATS; i++) {
		assert_int_equal(trace_format_parse(trace_format_name((enum trace_format)i), &f),
				 0);
		assert_int_equal(f, i);
	}
	assert_int_equal(trace_format_parse("Lackey", &f), -EINVAL);
	assert_int_equal(trace_format_parse("", &f), -EINVAL);
	assert_int_equal(f, TRACE_FORMATS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lackey),     cmocka_unit_test(test_lackey_bad),
		cmocka_unit_test(test_champsim),   cmocka_unit_test(test_champsim_bad),
		cmocka_unit_test(test_drmemtrace), cmocka_unit_test(test_drmemtrace_bad),
		cmocka_unit_test(test_cut_off),    cmocka_unit_test(test_drmemtrace_first),
		cmocka_unit_test(test_refused),    cmocka_unit_test(test_source),
		cmocka_unit_test(test_names),      cmocka_unit_test(test_drmemtrace_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
