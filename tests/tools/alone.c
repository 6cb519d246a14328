// SPDX-License-Identifier: MIT
/*
 * Runs a command and sees that it ends and leaves no process behind:
 *
 *	alone 30 -- pagetoll run
 *
 * Exit status: the command's, 128 + N when signal N ended it; 98 when it took longer than so many
 * seconds, 99 when processes outlived it, each with a line on stderr, and they are killed. Orphans
 * become ours (PR_SET_CHILD_SUBREAPER, prctl(2)).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TOO_LONG = 98, LEFT_BEHIND = 99, CANNOT = 125, GRACE_MS = 1000 };

static void pause_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for @pid until @until; others are reaped on the way. False: it has not ended. */
static int wait_for(pid_t pid, long until, int *ret_status)
{
	do {
		int status;
		pid_t got = waitpid(-1, &status, WNOHANG);

		if (got == pid) {
			*ret_status = status;
			return 1;
		}
		if (got < 0 && errno == ECHILD)
			return 0;
		if (got <= 0)
			pause_ms(2);
	} while (now_ms() < until);
	return 0;
}

static void name_process(pid_t pid)
{
	char path[64], name[256] = "?";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	if (f) {
		size_t n = fread(name, 1, sizeof(name) - 1, f);

		name[n] = '\0';
		for (size_t i = 0; i + 1 < n; i++)
			name[i] = name[i] ? name[i] : ' ';
		fclose(f);
	}
	fprintf(stderr, "alone: left behind: %d %s\n", (int)pid, name);
}

/* The children that are there; each is killed. How many. */
static unsigned kill_children(void)
{
	unsigned n = 0;
	char path[64];
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1) {
		name_process((pid_t)pid);
		kill((pid_t)pid, SIGKILL);
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

/* Orphans may be on their way out: they have a second. How many stay. */
static unsigned settle(void)
{
	long until = now_ms() + GRACE_MS;

	while (now_ms() < until) {
		pid_t got = waitpid(-1, NULL, WNOHANG);

		if (got < 0 && errno == ECHILD)
			return 0;
		if (got <= 0)
			pause_ms(2);
	}
	return kill_children();
}

int main(int argc, char **argv)
{
	char *end = NULL;
	long seconds = argc > 3 ? strtol(argv[1], &end, 10) : 0;
	int status = 0, ended;
	pid_t pid;

	if (seconds <= 0 || *end || strcmp(argv[2], "--") != 0) {
		fprintf(stderr, "usage: alone SECONDS -- COMMAND [WORD]...\n");
		return CANNOT;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) || (pid = fork()) < 0) {
		perror("alone");
		return CANNOT;
	}
	if (pid == 0) {
		execvp(argv[3], argv + 3);
		perror(argv[3]);
		_exit(CANNOT);
	}
	ended = wait_for(pid, now_ms() + seconds * 1000, &status);
	if (!ended) {
		fprintf(stderr, "alone: still running after %ld seconds\n", seconds);
		while (kill_children())
			while (waitpid(-1, NULL, 0) > 0)
				;
		return TOO_LONG;
	}
	if (settle())
		return LEFT_BEHIND;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
