/* SPDX-License-Identifier: MIT */
/* Signals that end what measures: the first asks to stop, the second ends the program at once. */
#ifndef PAGETOLL_CLI_STOP_H
#define PAGETOLL_CLI_STOP_H

#include <signal.h>

#include "host/settings.h"

/*
 * Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT, except those that are ignored. The second one puts
 * @changed (NULL: nothing; must live until stop_forget()) back before the program ends. Returns
 * what is set by the first: its number.
 */
const volatile sig_atomic_t *stop_catch(const struct settings *changed);
void stop_forget(void);
/*
 * Ends the program by the signal that was caught, as whoever sent it expects, once results are
 * printed; returns if there was none.
 */
void stop_end(void);
/* The signal that was caught; 0: none. */
int stop_caught(void);

#endif
