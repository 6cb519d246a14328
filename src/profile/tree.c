// SPDX-License-Identifier: MIT
/*
 * Sources: proc(5): /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN; exact only for stopped
 * tasks, a child can be missed while its sibling ends), /proc/PID/status, /proc/PID/stat; VmPTE is
 * mm_pgtables_bytes() (fs/proc/task_mmu.c of Linux 6.1): the bytes of the page tables of all
 * levels.
 */
#include "profile/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kernel_text.h"

/* Process ids, in the order found; the children of v[at] are not yet looked for. */
struct queue {
	uint32_t *v; /* owned */
	size_t n, cap;
	const struct u32_list *strangers; /* never taken; NULL: none */
};

static int push(struct queue *q, uint32_t pid)
{
	if (q->strangers && u32_list_contains(q->strangers, pid))
		return 0;
	if (q->n == q->cap) {
		size_t cap = q->cap ? 2 * q->cap : 64;
		uint32_t *grown = reallocarray(q->v, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		q->v = grown;
		q->cap = cap;
	}
	q->v[q->n++] = pid;
	return 0;
}

/* "12 15 16 " */
static int push_children(struct queue *q, const char *text)
{
	while (*text) {
		char *end;
		unsigned long pid = strtoul(text, &end, 10);
		int rc;

		if (end == text)
			break;
		if (pid > 0 && pid <= INT32_MAX) {
			rc = push(q, (uint32_t)pid);
			if (rc)
				return rc;
		}
		text = end + (*end == ' ');
	}
	return 0;
}

/* 1: the kernel has no such file. */
static int children_of(const struct sysroot *sr, uint32_t pid, struct queue *q)
{
	struct u32_list threads = { 0 };
	char path[64];
	int rc = 0;

	snprintf(path, sizeof(path), "proc/%u/task", pid);
	if (sysroot_list_ids(sr, path, "", &threads, NULL) < 0)
		return 0; /* it has ended */
	for (size_t i = 0; rc == 0 && i < threads.n; i++) {
		char *text;

		snprintf(path, sizeof(path), "proc/%u/task/%u", pid, threads.v[i]);
		if (!sysroot_exists(sr, path))
			continue;
		snprintf(path, sizeof(path), "proc/%u/task/%u/children", pid, threads.v[i]);
		if (sysroot_read(sr, path, &text, NULL, NULL) < 0) {
			rc = sysroot_exists(sr, path) ? 0 : 1;
			continue;
		}
		rc = push_children(q, text);
		free(text);
	}
	u32_list_done(&threads);
	return rc;
}

/* The parent in "PID (NAME) STATE PPID ..."; the name may hold anything. 0: unreadable. */
static uint32_t parent_of(const struct sysroot *sr, uint32_t pid)
{
	unsigned parent = 0;
	char path[64], *text;
	const char *at;

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	if (sysroot_read(sr, path, &text, NULL, NULL) < 0)
		return 0;
	at = strrchr(text, ')');
	if (!at || sscanf(at, ") %*c %u", &parent) != 1)
		parent = 0;
	free(text);
	return parent;
}

/* The slow way, for kernels that do not list children: every process, by its parent. */
static int search_all(const struct sysroot *sr, uint32_t root, struct queue *q)
{
	struct u32_list all = { 0 };
	uint32_t *parents;
	int rc = sysroot_list_ids(sr, "proc", "", &all, NULL);

	q->n = 0;
	if (rc < 0)
		return -ENOSYS;
	parents = calloc(all.n + 1, sizeof(*parents));
	rc = parents ? push(q, root) : -ENOMEM;
	for (size_t i = 0; rc == 0 && i < all.n; i++)
		parents[i] = parent_of(sr, all.v[i]);
	for (size_t at = 0; rc == 0 && at < q->n; at++) {
		for (size_t i = 0; rc == 0 && i < all.n; i++) {
			/* Each once, whatever a torn reading says of parents. */
			if (parents[i] != q->v[at] || all.v[i] == root)
				continue;
			parents[i] = 0;
			rc = push(q, all.v[i]);
		}
	}
	free(parents);
	u32_list_done(&all);
	return rc;
}

static void add_process(const struct sysroot *sr, uint32_t pid, struct tree_look *look)
{
	uint64_t resident, tables, most;
	char path[64], *text;

	snprintf(path, sizeof(path), "proc/%u/status", pid);
	if (sysroot_read(sr, path, &text, NULL, NULL) < 0)
		return;
	if (ktext_key(text, "VmRSS", &resident) == 0 && ktext_key(text, "VmPTE", &tables) == 0) {
		look->n++;
		look->resident_bytes += resident;
		look->page_table_bytes += tables;
		if (ktext_key(text, "VmHWM", &most) == 0 && most > look->largest_bytes)
			look->largest_bytes = most;
	}
	free(text);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int tree_children(const struct sysroot *sr, pid_t root, struct u32_list *ret_children)
{
	struct queue q = { 0 };
	int rc = children_of(sr, (uint32_t)root, &q);

	/* All descendants, where only parents are told; the first one found is @root. */
	if (rc > 0) {
		rc = search_all(sr, (uint32_t)root, &q);
		if (rc == 0)
			q.v[0] = q.v[--q.n];
	}
	if (rc) {
		free(q.v);
		return rc;
	}
	if (q.n)
		qsort(q.v, q.n, sizeof(*q.v), compare_u32);
	*ret_children = (struct u32_list){ .v = q.v, .n = q.n };
	return 0;
}

int tree_look(const struct sysroot *sr, pid_t root, const struct u32_list *strangers,
	      struct tree_look *ret)
{
	enum { MOST = 1 << 20 }; /* a recorded machine could have a circle */
	struct tree_look look = { 0 };
	struct queue q = { .strangers = strangers };
	int rc = push(&q, (uint32_t)root);

	for (size_t at = 0; rc == 0 && at < q.n && q.n < MOST; at++)
		rc = children_of(sr, q.v[at], &q);
	if (rc > 0)
		rc = search_all(sr, (uint32_t)root, &q);
	for (size_t i = 1; rc == 0 && i < q.n; i++)
		add_process(sr, q.v[i], &look);
	free(q.v);
	if (rc == 0)
		*ret = look;
	return rc;
}
