// SPDX-License-Identifier: MIT
/* Handlers have no argument of their own, so what they need stands here, set while measuring. */
#include "cli/stop.h"

#include <stddef.h>

static volatile sig_atomic_t stop_signal;
static const struct settings *volatile changed_settings;

static void on_stop(int sig)
{
	if (!stop_signal) {
		stop_signal = sig;
		return;
	}
	if (changed_settings)
		settings_restore_now(changed_settings);
	signal(sig, SIG_DFL);
	raise(sig);
}

const volatile sig_atomic_t *stop_catch(const struct settings *changed)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction sa = { .sa_handler = on_stop }, old;

	changed_settings = changed;
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&sa.sa_mask, signals[i]);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* Under nohup, or in the background, what is ignored stays ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &sa, NULL);
	}
	return &stop_signal;
}

void stop_forget(void)
{
	changed_settings = NULL;
}

void stop_end(void)
{
	if (!stop_signal)
		return;
	signal(stop_signal, SIG_DFL);
	raise(stop_signal);
}

int stop_caught(void)
{
	return stop_signal;
}
