/* SPDX-License-Identifier: MIT */
/*
 * Sources: proc(5) smaps; mm/vmstat.c (per-node counters are batched per
 * CPU and folded about once a second or by reading vm.stat_refresh).
 */
#include "mem/proof.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "host/clock.h"
#include "host/counters.h"
#include "host/pagemap.h"
#include "host/sysroot.h"
#include "mem/policy.h"

enum { SAMPLE_MAX = 1024 };

static void add_bytes(int64_t *sum, int64_t bytes)
{
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = INT64_MAX;
}

/* One "Key:  123 kB" line of smaps, added up while inside the region. */
static void count_line(const char *line, struct proof_pages *p)
{
	static const char *const huge[] = { "AnonHugePages", "ShmemPmdMapped", "FilePmdMapped",
					    "Private_Hugetlb", "Shared_Hugetlb" };
	char key[64];
	long long kb;
	int64_t bytes;

	if (sscanf(line, "%63[A-Za-z_]: %lld kB", key, &kb) != 2 || kb < 0 ||
	    __builtin_mul_overflow(kb, 1024, &bytes))
		return;
	if (strcmp(key, "Rss") == 0)
		add_bytes(&p->rss_bytes, bytes);
	else if (strcmp(key, "KernelPageSize") == 0 &&
		 (p->kernel_page_bytes == 0 || bytes < p->kernel_page_bytes))
		p->kernel_page_bytes = bytes;
	for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++)
		if (strcmp(key, huge[i]) == 0)
			add_bytes(&p->huge_bytes, bytes);
}

void proof_parse_smaps(char *text, uintptr_t from, uintptr_t to, struct proof_pages *ret)
{
	struct proof_pages p = { 0 };
	char *save = NULL;
	bool inside = false;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start < to && end > from;
		else if (inside)
			count_line(line, &p);
	}
	*ret = p;
}

int proof_pages(const struct region *r, struct proof_pages *ret, struct err *e)
{
	uintptr_t base = (uintptr_t)r->base;
	struct sysroot sr;
	char *text;
	int result = sysroot_init(&sr, NULL, e);

	if (result == 0)
		result = sysroot_read(&sr, "proc/self/smaps", &text, NULL, e);
	if (result < 0)
		return result;
	proof_parse_smaps(text, base, base + r->spec.span_bytes, ret);
	free(text);
	return 0;
}

int64_t proof_table_bytes(void)
{
	struct sysroot sr;
	uint64_t bytes;

	if (sysroot_init(&sr, NULL, NULL) < 0 ||
	    sysroot_read_key(&sr, "proc/self/status", "VmPTE", &bytes, NULL) < 0)
		return -1;
	return (int64_t)bytes;
}

/* Evenly spread sample of the elements: the k-th of @count out of @n. */
static size_t sampled(size_t n, size_t count, size_t k)
{
	return (size_t)((double)n / (double)count * (double)k);
}

static size_t sample_size(size_t n)
{
	return n < SAMPLE_MAX ? n : SAMPLE_MAX;
}

int proof_data_nodes(const struct region *r, const uint64_t *offsets, size_t n, int node,
		     struct proof_nodes *ret)
{
	size_t count = sample_size(n);
	void *pages[SAMPLE_MAX] = { NULL };
	int nodes[SAMPLE_MAX];
	struct proof_nodes p = { .asked = (int64_t)count };
	int result;

	for (size_t k = 0; k < count; k++)
		pages[k] = r->base + offsets[sampled(n, count, k)];
	result = policy_page_nodes(pages, count, nodes);
	if (result < 0)
		return result;
	for (size_t k = 0; k < count; k++) {
		if (nodes[k] < 0)
			p.absent++;
		else if (nodes[k] == node)
			p.on_node++;
		else
			p.elsewhere++;
	}
	*ret = p;
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int proof_frames(const struct region *r, const uint64_t *offsets, size_t n, int64_t *ret_asked,
		 int64_t *ret_frames, int64_t *ret_run)
{
	uint64_t frames[SAMPLE_MAX];
	size_t count = sample_size(n);
	int64_t different = 1, run = 0;
	int fd, result = pagemap_open(&fd, NULL);

	if (result < 0)
		return result;
	for (size_t k = 0; k < count && result == 0; k++)
		result = pagemap_frame(fd, r->base + offsets[k], &frames[k]);
	close(fd);
	if (result < 0)
		return result;
	for (size_t k = 1; k < count; k++)
		run += frames[k] == frames[k - 1] + 1;
	qsort(frames, count, sizeof(frames[0]), compare_u64);
	for (size_t k = 1; k < count; k++)
		different += frames[k] != frames[k - 1];
	*ret_asked = (int64_t)count;
	*ret_frames = different;
	*ret_run = run;
	return 0;
}

int proof_large_folios(const struct region *r, const uint64_t *offsets, size_t n,
		       int64_t *ret_asked, int64_t *ret_large)
{
	/* include/uapi/linux/kernel-page-flags.h: parts of a folio of several pages */
	const uint64_t compound = UINT64_C(1) << 15 | UINT64_C(1) << 16;
	size_t count = sample_size(n);
	struct sysroot sr;
	int64_t large = 0;
	int map = -1, flags = -1;
	int result = sysroot_init(&sr, NULL, NULL);

	if (result == 0)
		result = sysroot_open(&sr, "proc/kpageflags", &flags, NULL);
	if (result == 0)
		result = pagemap_open(&map, NULL);
	for (size_t k = 0; k < count && result == 0; k++) {
		uint64_t frame, word = 0;

		result = pagemap_frame(map, r->base + offsets[sampled(n, count, k)], &frame);
		if (result == 0 && pread(flags, &word, sizeof(word),
					 (off_t)(frame * sizeof(word))) != (ssize_t)sizeof(word))
			result = -EIO;
		large += (word & compound) != 0;
	}
	if (map >= 0)
		close(map);
	if (flags >= 0)
		close(flags);
	if (result < 0)
		return result;
	*ret_asked = (int64_t)count;
	*ret_large = large;
	return 0;
}

int64_t proof_huge_faults(const struct region *r, const uint64_t *offsets, size_t n,
			  uint64_t base_page_bytes)
{
	struct thread_counts before, after;
	size_t count = n < 64 ? n : 64;

	counters_thread(&before);
	for (size_t k = 0; k < count; k++) {
		uint64_t at = offsets[sampled(n, count, k)];

		(void)*(volatile const char *)(r->base + (at ^ base_page_bytes));
	}
	counters_thread(&after);
	return after.minor_faults - before.minor_faults;
}

static int read_table_counter(const struct sysroot *sr, uint32_t node, int64_t *ret, struct err *e)
{
	char path[96], *text;
	const char *at;
	int result;

	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/vmstat", node);
	result = sysroot_read(sr, path, &text, NULL, e);
	if (result < 0)
		return result;
	at = strstr(text, "nr_page_table_pages ");
	if (!at) {
		free(text);
		return err_set(e, ENODATA, "%s has no nr_page_table_pages", path);
	}
	*ret = (int64_t)strtoll(at + strlen("nr_page_table_pages "), NULL, 10);
	free(text);
	return 0;
}

/* Folds the CPUs' shares into the counters; for root only. */
static bool refresh_counters(const struct sysroot *sr)
{
	char *text;

	if (sysroot_read(sr, "proc/sys/vm/stat_refresh", &text, NULL, NULL) < 0)
		return false;
	free(text);
	return true;
}

static void settle_counters(const struct sysroot *sr)
{
	if (refresh_counters(sr))
		return;
	struct timespec t = { .tv_sec = 1, .tv_nsec = 200000000 };

	nanosleep(&t, NULL);
}

/* Counters of all nodes: of the one asked for, and of the others together. */
static int read_counters(const struct sysroot *sr, const struct u32_list *nodes, int node,
			 int64_t *ret_on, int64_t *ret_elsewhere, struct err *e)
{
	int64_t on = 0, elsewhere = 0;

	settle_counters(sr);
	for (size_t i = 0; i < nodes->n; i++) {
		int64_t pages = 0;
		int result = read_table_counter(sr, nodes->v[i], &pages, e);

		if (result < 0)
			return result;
		if ((int)nodes->v[i] == node)
			on += pages;
		else
			elsewhere += pages;
	}
	*ret_on = on;
	*ret_elsewhere = elsewhere;
	return 0;
}

/*
 * The kernel frees page tables some time after their process is gone (by RCU): before the witness
 * is made, waits until the counters stand still, 2 seconds at most.
 */
static int read_still_counters(const struct sysroot *sr, const struct u32_list *nodes, int node,
			       int64_t *ret_on, int64_t *ret_elsewhere, struct err *e)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const int64_t deadline_ns = clock_now_ns() + INT64_C(2000000000);
	int64_t last_on = -1, last_elsewhere = -1;

	for (int still = 0; still < 2 && clock_now_ns() < deadline_ns;) {
		int result = read_counters(sr, nodes, node, ret_on, ret_elsewhere, e);

		if (result < 0)
			return result;
		still = *ret_on == last_on && *ret_elsewhere == last_elsewhere ? still + 1 : 0;
		last_on = *ret_on;
		last_elsewhere = *ret_elsewhere;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int map_witness(int node, uint64_t page, uint64_t tables, struct proof_tables *p,
		       char **ret_map, struct err *e)
{
	uint64_t span = page * (page / sizeof(uint64_t));
	char *map = mmap(NULL, tables * span, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return err_set(e, errno, "mapping the witness: %s", strerror(errno));
	madvise(map, tables * span, MADV_NOHUGEPAGE);
	if (node >= 0)
		p->policy_error = policy_bind_task((uint32_t)node);
	for (uint64_t i = 0; i < tables; i++)
		(void)*(volatile const char *)(map + i * span);
	if (node >= 0 && p->policy_error == 0)
		policy_reset_task();
	p->tables = (int64_t)tables;
	*ret_map = map;
	return 0;
}

int proof_table_nodes(int node, uint64_t base_page_bytes, uint64_t tables, struct proof_tables *ret,
		      struct err *e)
{
	uint64_t span = base_page_bytes * (base_page_bytes / sizeof(uint64_t));
	struct proof_tables p = { 0 };
	struct u32_list nodes = { 0 };
	struct sysroot sr;
	int64_t on = 0, elsewhere = 0;
	char *map = NULL;
	int result = sysroot_init(&sr, NULL, e);

	if (result == 0)
		result = sysroot_read_list(&sr, "sys/devices/system/node/has_memory", &nodes, e);
	if (result == 0)
		result = read_still_counters(&sr, &nodes, node, &on, &elsewhere, e);
	if (result == 0)
		result = map_witness(node, base_page_bytes, tables, &p, &map, e);
	if (result == 0)
		result = read_counters(&sr, &nodes, node, &p.on_node, &p.elsewhere, e);
	if (map)
		munmap(map, tables * span);
	u32_list_done(&nodes);
	if (result == 0) {
		p.on_node -= on;
		p.elsewhere -= elsewhere;
		*ret = p;
	}
	return result;
}

int proof_count_tables(int node, struct proof_counted *ret)
{
	struct u32_list nodes = { 0 };
	struct sysroot sr;
	int result = sysroot_init(&sr, NULL, NULL);

	if (result == 0)
		result = sysroot_read_list(&sr, "sys/devices/system/node/has_memory", &nodes, NULL);
	if (result == 0 && nodes.n < 2)
		result = -ENODEV;
	if (result == 0 && !refresh_counters(&sr))
		result = -EACCES;
	if (result == 0)
		result = read_counters(&sr, &nodes, node, &ret->on_node, &ret->elsewhere, NULL);
	u32_list_done(&nodes);
	return result;
}

size_t proof_count_nodes(void)
{
	struct u32_list nodes = { 0 };
	struct sysroot sr;
	size_t n = 1;

	if (sysroot_init(&sr, NULL, NULL) == 0 &&
	    sysroot_read_list(&sr, "sys/devices/system/node/has_memory", &nodes, NULL) == 0 &&
	    nodes.n > 0)
		n = nodes.n;
	u32_list_done(&nodes);
	return n;
}
