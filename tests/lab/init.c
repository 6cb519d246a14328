// SPDX-License-Identifier: MIT
/*
 * The first process of a lab guest: runs the steps of /steps one after the other and writes what
 * they printed to the results device, then resets the machine (QEMU ends on that: -no-reboot).
 * Left out: judging. tests/lab/run does that on the host.
 *
 * A step is a line of fields separated by tabs: CASE, STEP, then the words of the command.
 * NAME=VALUE words in front are its environment; "as-user" in front makes it an ordinary user.
 * Built in, so that the guest needs no shell: "write FILE TEXT" and "read FILE". A result is
 *
 *	@@ CASE STEP STATUS MILLISECONDS STDOUT_BYTES STDERR_BYTES
 *
 * and both texts; STATUS is the exit status, 128 + the signal, or 124 after LIMIT_SECONDS.
 * Sources: bootparam(7); kernel Documentation/filesystems/ramfs-rootfs-initramfs.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 120, MAX_WORDS = 64, USER_ID = 1000, TIMED_OUT = 124, CANNOT_RUN = 127 };

static void die(const char *what)
{
	fprintf(stderr, "lab init: %s: %s\n", what, strerror(errno));
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void mount_all(void)
{
	static const char *const rows[][2] = {
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "devtmpfs", "/dev" },
		{ "tmpfs", "/tmp" },
		{ "debugfs", "/sys/kernel/debug" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (mount(rows[i][0], rows[i][1], rows[i][0], 0, NULL) < 0)
			fprintf(stderr, "lab init: %s: %s\n", rows[i][1], strerror(errno));
	chmod("/tmp", 01777);
}

/* The second serial line, which must not turn line ends into two characters. */
static FILE *open_results(const char *path)
{
	struct termios t;
	FILE *f = fopen(path, "w");

	if (!f)
		die(path);
	if (tcgetattr(fileno(f), &t) == 0) {
		cfmakeraw(&t);
		tcsetattr(fileno(f), TCSANOW, &t);
	}
	return f;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	return close(fd) < 0;
}

static int read_file(const char *path)
{
	char buffer[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)n, stdout);
	close(fd);
	fflush(stdout);
	return n < 0;
}

/* Never returns. */
static void run_words(char **words)
{
	while (words[0] && strchr(words[0], '='))
		putenv(*words++);
	if (words[0] && strcmp(words[0], "as-user") == 0) {
		if (setgid(USER_ID) < 0 || setuid(USER_ID) < 0)
			_exit(CANNOT_RUN);
		putenv((char[]){ "PAGETOLL_DATA=/tmp/user" });
		words++;
	}
	if (!words[0])
		_exit(CANNOT_RUN);
	if (strcmp(words[0], "write") == 0 && words[1] && words[2])
		_exit(write_file(words[1], words[2]));
	if (strcmp(words[0], "read") == 0 && words[1])
		_exit(read_file(words[1]));
	execvp(words[0], words);
	fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
	_exit(CANNOT_RUN);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for @pid and reaps every other orphan meanwhile. */
static int wait_for(pid_t pid)
{
	int64_t start_ms = now_ms();
	bool killed = false;

	for (;;) {
		int status;
		pid_t done = waitpid(-1, &status, WNOHANG);

		if (done == pid && killed)
			return TIMED_OUT;
		if (done == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (done > 0)
			continue;
		if (!killed && now_ms() - start_ms >= LIMIT_SECONDS * 1000) {
			kill(-pid, SIGKILL);
			killed = true;
		}
		poll(NULL, 0, 10);
	}
}

static void copy_out(FILE *from, FILE *to)
{
	char buffer[4096];
	size_t n;

	rewind(from);
	while ((n = fread(buffer, 1, sizeof(buffer), from)) > 0)
		fwrite(buffer, 1, n, to);
}

static void run_step(char **words, FILE *results)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int64_t start_ms = now_ms();
	pid_t pid;
	int status;

	if (!out || !err)
		die("temporary files");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		setsid();
		if (dup2(fileno(out), STDOUT_FILENO) < 0 || dup2(fileno(err), STDERR_FILENO) < 0)
			_exit(CANNOT_RUN);
		run_words(words + 2);
	}
	status = wait_for(pid);
	fseek(out, 0, SEEK_END);
	fseek(err, 0, SEEK_END);
	fprintf(results, "@@ %s %s %d %jd %ld %ld\n", words[0], words[1], status,
		(intmax_t)(now_ms() - start_ms), ftell(out), ftell(err));
	copy_out(out, results);
	copy_out(err, results);
	fclose(out);
	fclose(err);
}

/* Splits at tabs; NULL behind the last word. The number of words. */
static size_t split(char *line, char *words[MAX_WORDS + 1])
{
	size_t n = 0;
	char *save = NULL;

	line[strcspn(line, "\n")] = '\0';
	for (char *w = strtok_r(line, "\t", &save); w && n < MAX_WORDS;
	     w = strtok_r(NULL, "\t", &save))
		words[n++] = w;
	words[n] = NULL;
	return n;
}

int main(void)
{
	char *words[MAX_WORDS + 1], *line = NULL;
	const char *device = getenv("results"); /* the kernel makes name=value words environment */
	size_t room = 0;
	FILE *steps, *results;

	mount_all();
	setenv("PATH", "/bin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("NO_COLOR", "1", 1);
	setenv("PAGETOLL_DATA", "/tmp/data", 1);
	steps = fopen("/steps", "r");
	if (!steps)
		die("/steps");
	results = open_results(device ? device : "/dev/ttyS1");
	while (getline(&line, &room, steps) > 0)
		if (split(line, words) >= 3)
			run_step(words, results);
	fprintf(results, "@@ end\n");
	fflush(results);
	tcdrain(fileno(results));
	reboot(RB_AUTOBOOT);
	return 1;
}
