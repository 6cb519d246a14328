/* SPDX-License-Identifier: MIT */
/* System settings that a killed experiment left changed. */
#ifndef PAGETOLL_CLI_RECOVER_H
#define PAGETOLL_CLI_RECOVER_H

#include "cli/cli.h"
#include "record/run.h"

/*
 * Path of the machine's journal, $PAGETOLL_RUN or /run/pagetoll with "/settings.journal" behind it;
 * malloc()ed, NULL: no memory.
 */
char *cli_settings_journal(struct err *e);
/* The same, and the folder exists. */
char *cli_settings_journal_made(struct err *e);
/*
 * Puts back what is still changed, and says so on stderr; also says when another process has
 * settings changed at the moment. Never ends the program: what cannot be restored is told with the
 * command that does it.
 */
void cli_recover_settings(const struct common *c);
/*
 * What is left changed, named and not touched: for what measures nothing. With @r as findings of
 * that run, with NULL on stderr.
 */
void cli_name_left_settings(const struct common *c, struct run *r);

#endif
