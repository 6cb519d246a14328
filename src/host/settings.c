// SPDX-License-Identifier: MIT
/*
 * The registry of kernel settings, and reading and writing a single one. Left out: what must be put
 * back and when (settings_journal.c).
 *
 * Sources: Linux 6.1, Documentation/admin-guide/mm/transhuge.rst (enabled, defrag),
 * Documentation/admin-guide/sysctl/kernel.rst (numa_balancing), mm/memory.c
 * (fault_around_bytes_set(): rounded down to a power of two, at most what one page table maps).
 */
#include "host/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

static const char *const thp_modes[] = { "always", "madvise", "never", NULL };
static const char *const defrag_modes[] = { "always",  "defer", "defer+madvise",
					    "madvise", "never", NULL };

const struct setting_kind setting_kinds[] = {
	{
		.name = "fault-around-bytes",
		.path = "sys/kernel/debug/fault_around_bytes",
		.summary = "how much a read fault on a file maps around the address",
		.form = SETTING_SIZE,
		.min = 4096,
		.max = 512 << 20, /* what one table maps with pages of 64 KiB */
		.absent = "debugfs is not mounted, or the kernel has none; as root: mount -t "
			  "debugfs none /sys/kernel/debug",
	},
	{
		.name = "numa-balancing",
		.path = "proc/sys/kernel/numa_balancing",
		.summary = "automatic placement: 0 off, 1 balance, 2 tiers",
		.form = SETTING_NUMBER,
		.max = 3,
		.absent = "the kernel is built without CONFIG_NUMA_BALANCING",
	},
	{
		.name = "thp",
		.path = "sys/kernel/mm/transparent_hugepage/enabled",
		.summary = "which memory gets transparent huge pages",
		.form = SETTING_CHOICE,
		.choices = thp_modes,
		.absent = "the kernel is built without CONFIG_TRANSPARENT_HUGEPAGE",
	},
	{
		.name = "thp-defrag",
		.path = "sys/kernel/mm/transparent_hugepage/defrag",
		.summary = "what a fault does to get a huge page",
		.form = SETTING_CHOICE,
		.choices = defrag_modes,
		.absent = "the kernel is built without CONFIG_TRANSPARENT_HUGEPAGE",
	},
	{ .name = NULL },
};

const struct setting_kind *setting_find(const char *name)
{
	for (const struct setting_kind *k = setting_kinds; k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

static int refuse_choice(const struct setting_kind *k, const char *text, struct err *e)
{
	char all[160] = "";
	size_t used = 0;

	for (size_t i = 0; k->choices[i] && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 k->choices[i]);
	return err_set(e, EINVAL, "%s=%.40s: accepted: %s", k->name, text, all);
}

static int parse_number(const struct setting_kind *k, const char *text, uint64_t *ret,
			struct err *e)
{
	char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES];
	bool is_size = k->form == SETTING_SIZE;
	struct err why = { 0 };
	uint64_t v = 0;
	int rc = is_size ? parse_size(text, &v, &why) : parse_u64(text, &v, &why);

	if (rc < 0)
		return err_set(e, -rc, "%s: %s", k->name, why.msg);
	if (v < k->min || v > k->max) {
		snprintf(low, sizeof(low), "%llu", (unsigned long long)k->min);
		snprintf(high, sizeof(high), "%llu", (unsigned long long)k->max);
		return err_set(e, ERANGE, "%s=%.40s is out of range; accepted: %s to %s", k->name,
			       text, is_size ? format_size(low, k->min) : low,
			       is_size ? format_size(high, k->max) : high);
	}
	/* The kernel would round it down silently. */
	if (is_size && (v & (v - 1)))
		return err_set(e, EINVAL, "%s=%.40s is no power of two, which the kernel needs",
			       k->name, text);
	*ret = v;
	return 0;
}

int setting_parse(const struct setting_kind *k, const char *text, char ret[SETTING_TEXT_BYTES],
		  struct err *e)
{
	uint64_t v = 0;
	int rc;

	if (k->form == SETTING_CHOICE) {
		for (size_t i = 0; k->choices[i]; i++) {
			if (strcmp(k->choices[i], text) == 0) {
				snprintf(ret, SETTING_TEXT_BYTES, "%s", text);
				return 0;
			}
		}
		return refuse_choice(k, text, e);
	}
	rc = parse_number(k, text, &v, e);
	if (rc == 0)
		snprintf(ret, SETTING_TEXT_BYTES, "%llu", (unsigned long long)v);
	return rc;
}

int setting_read(const struct sysroot *sr, const struct setting_kind *k,
		 char ret[SETTING_TEXT_BYTES], struct err *e)
{
	char text[SETTING_TEXT_BYTES];
	struct err why = { 0 };
	uint64_t v = 0;
	int rc;

	if (k->form == SETTING_CHOICE)
		rc = sysroot_read_choice(sr, k->path, text, sizeof(text), &why);
	else
		rc = sysroot_read_u64(sr, k->path, &v, &why);
	if (rc == -ENOENT || rc == -ENOTDIR)
		return err_set(e, ENOENT, "%s: there is no %s/%s: %s", k->name,
			       sr->is_live ? "" : sr->dir, k->path, k->absent);
	if (rc < 0)
		return err_set(e, -rc, "%s: %s%s", k->name, why.msg,
			       rc != -EACCES && rc != -EPERM ? ""
			       : geteuid() == 0
				       ? "; root may not either: the kernel is locked down "
					 "(see kernel_lockdown(7))"
				       : "; this needs root");
	if (k->form != SETTING_CHOICE)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	memcpy(ret, text, sizeof(text));
	return 0;
}

/* @what: "set thp to never". */
static int refuse_write(const struct sysroot *sr, const struct setting_kind *k, const char *what,
			int code, struct err *e)
{
	const char *remedy = "";

	if (code == EACCES || code == EPERM)
		remedy = "; system settings are changed as root only: use sudo";
	else if (code == EROFS)
		remedy = "; this container may not change the kernel's settings: run on the host";
	else if (code == ENOENT || code == ENOTDIR)
		return err_set(e, ENOENT, "%s: there is no %s/%s: %s", k->name,
			       sr->is_live ? "" : sr->dir, k->path, k->absent);
	else if (code == EINVAL)
		remedy = "; this kernel does not know that value";
	return err_set(e, code, "cannot %s in %s/%s: %s%s", what, sr->is_live ? "" : sr->dir,
		       k->path, strerror(code), remedy);
}

int setting_may_write(const struct sysroot *sr, const struct setting_kind *k, struct err *e)
{
	char full[PATH_MAX], what[64];
	int n = snprintf(full, sizeof(full), "%s/%s", sr->is_live ? "" : sr->dir, k->path);
	int fd;

	snprintf(what, sizeof(what), "set %s", k->name);
	if (n < 0 || (size_t)n >= sizeof(full))
		return refuse_write(sr, k, what, ENAMETOOLONG, e);
	fd = open(full, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return refuse_write(sr, k, what, errno, e);
	close(fd);
	return 0;
}

/*
 * A kernel's file takes one write and keeps its form; a plain file of an invented machine gets just
 * the text, which for a choice has to have brackets to be read back.
 */
static int write_value(const struct sysroot *sr, const struct setting_kind *k, const char *value)
{
	char full[PATH_MAX], text[SETTING_TEXT_BYTES + 3];
	bool brackets = !sr->is_live && k->form == SETTING_CHOICE;
	int n = snprintf(full, sizeof(full), "%s/%s", sr->is_live ? "" : sr->dir, k->path);
	int fd, code = 0;

	if (n < 0 || (size_t)n >= sizeof(full))
		return -ENAMETOOLONG;
	snprintf(text, sizeof(text), "%s%s%s", brackets ? "[" : "", value, brackets ? "]" : "");
	fd = open(full, O_WRONLY | O_CLOEXEC | O_NOCTTY | (sr->is_live ? 0 : O_TRUNC));
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		code = errno;
	if (close(fd) < 0 && !code)
		code = errno;
	return -code;
}

int setting_write(const struct sysroot *sr, const struct setting_kind *k, const char *value,
		  struct err *e)
{
	char now[SETTING_TEXT_BYTES];
	char what[SETTING_TEXT_BYTES + 64];
	int rc = write_value(sr, k, value);

	snprintf(what, sizeof(what), "set %s to %s", k->name, value);
	if (rc < 0)
		return refuse_write(sr, k, what, -rc, e);
	rc = setting_read(sr, k, now, e);
	if (rc < 0)
		return rc;
	if (strcmp(now, value) != 0)
		return err_set(e, EIO, "%s was set to %s but reads %s", k->name, value, now);
	return 0;
}
