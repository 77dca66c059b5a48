// SPDX-License-Identifier: BSD-3-Clause
/* Whether there may be a live view, and on which terminal. */
#include "run/console_private.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/procfs.h"
#include "symbols/elf/privileges.h"

static dev_t terminal_device(int fd)
{
	unsigned device = 0;
	struct stat s;

	if (!isatty(fd))
		return 0;
	if (!ioctl(fd, TIOCGDEV, &device)) /* of /dev/tty, too */
		return device;
	return fstat(fd, &s) ? 0 : s.st_rdev;
}

/* Opens the terminal anew, for reading and writing. -1: there is none. */
static int open_terminal(bool wanted)
{
	int ret = -1;

	if (isatty(STDERR_FILENO))
		ret = open("/proc/self/fd/2", O_RDWR | O_CLOEXEC | O_NOCTTY);
	else if (!wanted)
		return -1;
	return ret < 0 ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : ret;
}

/* A command's own output and the view on one terminal would spoil each other. */
static int check_output(const struct console_options *o, int fd, struct error *e)
{
	static const char *const names[] = {[STDOUT_FILENO] = "output", [STDERR_FILENO] = "error"};

	for (int i = STDOUT_FILENO; o->has_command && i <= STDERR_FILENO; i++) {
		if (terminal_device(i) != terminal_device(fd))
			continue;
		error_set(e, EXIT_USAGE,
		    "the command's standard %s is the terminal that the live view needs for itself",
		    names[i]);
		return error_hint(e, "redirect it: cozbpf --tui ... -- cmd >out.txt 2>&1; or "
				     "attach to it from another terminal, with -p");
	}
	return 0;
}

static int check_terminal(const struct console_options *o, int fd, struct error *e)
{
	WITHOUT_PRIVILEGES; /* ncurses reads the terminal's description */

	if (fd < 0) {
		error_set(e, EXIT_USAGE, "there is no terminal for the live view");
		return error_hint(e, "leave out --tui, or start it on a terminal");
	}
	if (check_output(o, fd, e) || screen_check(fd, e))
		return -1;
	if (screen_is_ours(fd))
		return 0;
	error_set(e, EXIT_USAGE, "there is no live view in the background");
	return error_hint(e, "leave out --tui, or start it in the foreground");
}

int console_plan(struct console *c, struct error *e)
{
	const char *no_colour = getenv("NO_COLOR");
	struct error ignored;
	struct view *v;
	int fd;

	if (c->o.quiet || c->o.no_tui || (!c->o.tui && c->o.has_command))
		return 0;
	fd = open_terminal(c->o.tui);
	v = calloc(1, sizeof(*v));
	if (!v || check_terminal(&c->o, fd, c->o.tui ? e : &ignored)) {
		if (fd >= 0)
			close(fd);
		free(v);
		return c->o.tui && v ? -1 : 0;
	}
	v->fd = fd;
	v->has_keys = !c->o.has_command || terminal_device(STDIN_FILENO) != terminal_device(fd);
	v->has_colours = !no_colour || !*no_colour;
	v->shares_stderr = terminal_device(STDERR_FILENO) == terminal_device(fd);
	c->view = v;
	return 0;
}

void view_name_target(struct view *v, const struct console_target *t)
{
	size_t size = sizeof(v->target);
	char *text = v->target, comm[64];

	text[0] = 0;
	if (t->cgroup)
		snprintf(text, size, "control group %s", t->cgroup);
	for (char *const *word = t->command; word && *word; word++)
		snprintf(
		    text + strlen(text), size - strlen(text), "%s%s", text[0] ? " " : "", *word);
	for (size_t i = 0; i < t->n_pids && !t->cgroup; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s (process %d)",
		    i ? ", " : "", procfs_comm(t->pids[i], comm, sizeof(comm)), t->pids[i]);
}

/* A program that was started in a shell's background writes to the same terminal. */
int view_writer(const struct view *v, const struct console_target *t)
{
	struct stat ours, theirs;
	char path[64];

	/* A container's terminals may have our numbers: the file system tells. */
	if (!v->shares_stderr || fstat(STDERR_FILENO, &ours))
		return 0;
	for (size_t i = 0; i < t->n_pids; i++) {
		for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
			snprintf(path, sizeof(path), "/proc/%d/fd/%d", t->pids[i], fd);
			if (!stat(path, &theirs) && theirs.st_rdev == ours.st_rdev &&
			    theirs.st_dev == ours.st_dev)
				return t->pids[i];
		}
	}
	return 0;
}
