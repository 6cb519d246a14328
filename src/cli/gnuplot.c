// SPDX-License-Identifier: MIT
/*
 * The program gnuplot as a child. It never gets a file's name: gnuplot takes a name that begins
 * with
 * '|' for a command.
 */
#include "cli/gnuplot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"

enum { NOT_FOUND = 127, SAID_MAX = 300 };

static void child(int script, int output, int said)
{
	if (dup2(script, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(said, STDERR_FILENO) >= 0)
		execlp("gnuplot", "gnuplot", "-d", (char *)NULL);
	_exit(errno == ENOENT || errno == EACCES ? NOT_FOUND : NOT_FOUND - 1);
}

/* The last line that has words is the one that names the error. */
static int complaint(int said, int status, struct err *e)
{
	char text[4096];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);
	char *line = text;

	text[n > 0 ? n : 0] = '\0';
	for (char *p = strtok(text, "\n"); p; p = strtok(NULL, "\n"))
		if (strspn(p, " \t^") < strlen(p))
			line = p;
	if (!*line)
		return err_set(e, EIO, "gnuplot failed with status %d and said nothing",
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return err_set(e, EIO, "gnuplot: %.*s", SAID_MAX, line + strspn(line, " \t"));
}

static int wait_for(pid_t pid, int said, struct err *e)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "cannot wait for gnuplot: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return err_set(e, ENOENT, "there is no program gnuplot");
	return complaint(said, status, e);
}

int gnuplot_run(const struct str *script, int output, struct err *e)
{
	int in = memfd_create("script", MFD_CLOEXEC), said = memfd_create("said", MFD_CLOEXEC);
	int rc = in < 0 || said < 0 ? -errno : io_write_all(in, script->data, script->len);
	pid_t pid;

	if (rc == 0 && lseek(in, 0, SEEK_SET) < 0)
		rc = -errno;
	pid = rc == 0 ? fork() : -1;
	if (pid == 0)
		child(in, output, said);
	if (rc == 0 && pid < 0)
		rc = -errno;
	if (rc < 0)
		rc = err_set(e, -rc, "cannot run gnuplot: %s", strerror(-rc));
	else
		rc = wait_for(pid, said, e);
	if (in >= 0)
		close(in);
	if (said >= 0)
		close(said);
	return rc;
}
