// SPDX-License-Identifier: BSD-3-Clause
/* See listing.h. */
#include "target/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void child(const char *command, const struct identity *id, int out)
{
	if (!identity_assume(id) && dup2(out, STDOUT_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int listing_open(struct listing *l, const char *command, const struct identity *id, struct error *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return error_set(e, EXIT_OTHER, "cannot make a pipe: %s", strerror(errno));
	l->pid = fork();
	if (!l->pid)
		child(command, id, ends[1]);
	close(ends[1]);
	l->out = l->pid < 0 ? NULL : fdopen(ends[0], "r");
	if (l->out)
		return 0;
	close(ends[0]);
	return error_set(e, EXIT_OTHER, "cannot run '%s': %s", command, strerror(errno));
}

int listing_close(struct listing *l, const char *command, bool is_wanted, struct error *e)
{
	int status;

	fclose(l->out);
	if (!is_wanted)
		kill(l->pid, SIGTERM);
	if (waitpid(l->pid, &status, 0) == l->pid && WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	error_set(e, EXIT_USAGE, "'%s', which prints the inputs, has failed", command);
	return error_hint(e, "a shell runs it: /bin/sh -c COMMAND");
}
