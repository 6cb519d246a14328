// SPDX-License-Identifier: MIT
/* The version with the facts of its build: numbers of different builds may differ. */
#include "cli/cli.h"

#include <stdio.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *cli_version(void)
{
	return PAGETOLL_VERSION " (" COMPILER ", " PAGETOLL_CPU_FAMILY ", " PAGETOLL_BUILDTYPE
				", sanitizers: " PAGETOLL_SANITIZE ")";
}

int cli_print_version(void)
{
	struct str out = { 0 };

	str_addf(&out, "pagetoll %s\n", PAGETOLL_VERSION);
	str_addf(&out, "compiler:   %s\n", COMPILER);
	str_addf(&out, "built for:  %s\n", PAGETOLL_CPU_FAMILY);
	str_addf(&out, "build type: %s\n", PAGETOLL_BUILDTYPE);
	str_addf(&out, "sanitizers: %s\n", PAGETOLL_SANITIZE);
	str_addf(&out, "libraries:  hwloc %s, jansson %s\n", PAGETOLL_HWLOC, JANSSON_VERSION);
	str_addf(&out, "run files:  schema %d\n", RUN_SCHEMA_VERSION);
	return cli_print_str(&out);
}
