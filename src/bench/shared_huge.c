/* SPDX-License-Identifier: MIT */
/*
 * The switch of huge pages for shared memory. It is another one than that of anonymous memory, so
 * that page=thp can be usable and a memfd still has none. Leaves out hugetlb pages, which have a
 * pool. Source: Documentation/admin-guide/mm/transhuge.rst.
 */
#include "bench/shared_huge.h"

#include <string.h>

#include "host/sysroot.h"

int bench_skip_without_shared_huge(struct bench_ctx *ctx)
{
	static const char path[] = "sys/kernel/mm/transparent_hugepage/shmem_enabled";
	struct sysroot sr;
	char word[32] = "unknown";

	if (bench_page_kind(ctx) != PAGE_KIND_THP)
		return 0;
	if (sysroot_init(&sr, NULL, NULL) == 0)
		sysroot_read_choice(&sr, path, word, sizeof(word), NULL);
	if (strcmp(word, "never") != 0 && strcmp(word, "deny") != 0)
		return 0;
	return bench_skip(ctx,
			  "page=thp: huge pages are switched off for shared memory (%s); as root: "
			  "echo advise > /%s",
			  word, path);
}
