// SPDX-License-Identifier: MIT
/*
 * File systems that several machines can see, by the magic number of statfs(2).
 * Sources: include/uapi/linux/magic.h and fs/ of Linux 6.1; statfs(2) of man-pages 6.03. FUSE
 * counts as one of them: sshfs and many cluster file systems come through it, and being careful on
 * a local one costs a little speed only.
 */
#include "store/place.h"

#include <stdint.h>

static const uint32_t network_types[] = {
	0x00006969, /* NFS */
	0x0000517b, /* SMB */
	0xfe534d42, /* SMB2 */
	0xff534d42, /* CIFS */
	0x65735546, /* FUSE */
	0x00c36400, /* Ceph */
	0x0bd00bd0, /* Lustre */
	0x47504653, /* GPFS */
	0x19830326, /* BeeGFS */
	0x5346414f, /* AFS (OpenAFS) */
	0x6b414653, /* AFS (kernel) */
	0x01021997, /* 9P */
	0x7461636f, /* OCFS2 */
	0x01161970, /* GFS2 */
	0x73757245, /* Coda */
	0x20030528, /* OrangeFS */
	0x0000564c, /* NCP */
	0xaad7aaea, /* PanFS */
};

bool place_is_network(const char *dir, statfs_fn ask)
{
	struct statfs st;

	if (ask(dir, &st))
		return false;
	for (size_t i = 0; i < sizeof(network_types) / sizeof(*network_types); i++) {
		if (network_types[i] == (uint32_t)st.f_type)
			return true;
	}
	return false;
}
