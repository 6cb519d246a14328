/* SPDX-License-Identifier: MIT */
/*
 * /proc/self/cgroup and /proc/self/mountinfo. Input: the controller on the first line, then the one
 * file, a line "--", and the other.
 */
#include "fuzz.h"

#include "host/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	char *self = strchr(text, '\n');
	char *mounts = self ? strstr(self, "\n--\n") : NULL;
	struct cgroup g;

	if (mounts) {
		*self++ = '\0';
		/* With nothing between, the separator's newline was the first line's end. */
		if (mounts >= self)
			*mounts = '\0';
		else
			self = mounts + 1;
		mounts += 4;
		if (cgroup_locate(self, mounts, text, &g) == 0) {
			size_t steps = 0;

			CHECK(g.dir[0] != '/');
			CHECK(strlen(g.dir) < sizeof(g.dir));
			CHECK(g.mount_len <= strlen(g.dir));
			CHECK(g.version == (*text ? 1u : 2u));
			while (cgroup_to_parent(&g))
				CHECK(++steps < sizeof(g.dir));
			CHECK(strlen(g.dir) == g.mount_len);
			CHECK(cgroup_name(&g)[0] == '/');
		}
	}
	free(text);
	return 0;
}
