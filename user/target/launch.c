// SPDX-License-Identifier: BSD-3-Clause
/* See launch.h. */
#include "target/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/descriptors.h"
#include "target/maps.h"

static bool ignored_children; /* as commands are to have it */

void launch_keep_statuses(void)
{
	ignored_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static int take(const char *path, char *ret, size_t size, struct error *e)
{
	if ((size_t)snprintf(ret, size, "%s", path) < size)
		return 0;
	return error_set(e, EXIT_USAGE, "the path of '%s' is too long", path);
}

int launch_resolve(const char *path, char *ret, size_t size, struct error *e)
{
	char *real = realpath(path, NULL);
	int err = real ? take(real, ret, size, e)
		       : error_set(e, EXIT_USAGE, "cannot resolve '%s': %s", path, strerror(errno));

	free(real);
	return err;
}

int launch_find(const char *command, char *ret, size_t size, struct error *e)
{
	const char *path = getenv("PATH"), *end;
	char candidate[PATH_MAX];

	if (strchr(command, '/')) {
		if (is_program(command))
			return take(command, ret, size, e);
		error_set(e, EXIT_USAGE, "cannot run '%s': %s", command,
		    access(command, F_OK) ? strerror(errno) : "it is not an executable file");
		return error_hint(e, "name a program, or a file that may be executed (chmod +x)");
	}
	path = path ? path : "/usr/bin:/bin";
	for (bool more = true; more; path = end + 1) {
		end = strchrnul(path, ':');
		more = *end;
		/* an empty part, the last one too, is the current directory */
		snprintf(candidate, sizeof(candidate), "%.*s%s%s", (int)(end - path), path,
		    end == path ? "" : "/", command);
		if (is_program(candidate))
			return take(candidate, ret, size, e);
	}
	error_set(e, EXIT_USAGE, "there is no command '%s' in PATH", command);
	return error_hint(e, "give its path: cozbpf -- ./%s", command);
}

/* The command, and what it starts, may be in another directory. Links stay: one may be the way
 * around a blank. */
static bool make_absolute(const char *path, char *ret, size_t size)
{
	char here[PATH_MAX] = "";

	if (*path != '/' && !getcwd(here, sizeof(here)))
		return false;
	return (size_t)snprintf(ret, size, "%s%s%s", here, *here ? "/" : "", path) < size;
}

int launch_find_shim(char *ret, size_t size, struct error *e)
{
	const char *given = getenv("COZBPF_SHIM");
	char self[PATH_MAX];
	ssize_t n;

	if (given) {
		if (!access(given, R_OK) && make_absolute(given, self, sizeof(self)))
			return take(self, ret, size, e);
		error_set(e, EXIT_OTHER, "cannot read '%s', which COZBPF_SHIM names: %s", given,
		    strerror(errno));
		return error_hint(e, "unset COZBPF_SHIM, or let it name libcozbpf-shim.so");
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = 0;
		*strrchr(self, '/') = 0;
		snprintf(ret, size, "%s/" MAPS_SHIM, self);
		if (!access(ret, R_OK))
			return 0;
		snprintf(ret, size, "%s/../lib/cozbpf/" MAPS_SHIM, self);
		if (!access(ret, R_OK))
			return 0;
	}
	snprintf(ret, size, "%s/" MAPS_SHIM, COZBPF_LIBDIR);
	if (!access(ret, R_OK))
		return 0;
	error_set(
	    e, EXIT_OTHER, "libcozbpf-shim.so is neither beside cozbpf nor in %s", COZBPF_LIBDIR);
	return error_hint(e, "run `make install`, or name the file in COZBPF_SHIM");
}

const char *launch_shim_refusal(const char *shim, const struct identity *id)
{
	if (strpbrk(shim, " \t\n:"))
		return "a blank or ':' in the path ends a name in LD_PRELOAD";
	return identity_may_read(id, shim) ? NULL : "the command's user may not read the file";
}

/* The shim comes last, so libraries that the user preloads keep their place. */
static void set_preload(const struct launch_options *o)
{
	const char *old = getenv("LD_PRELOAD");
	char number[16], *both = NULL;

	if (!*o->shim) {
		unsetenv("COZBPF_SIGNAL"); /* of another cozbpf, which has started us */
		return;
	}
	snprintf(number, sizeof(number), "%d", o->signal);
	setenv("COZBPF_SIGNAL", number, 1);
	snprintf(number, sizeof(number), "%u", o->quantum_ns);
	if (o->quantum_ns)
		setenv("COZBPF_QUANTUM", number, 1);
	else
		unsetenv("COZBPF_QUANTUM");
	if (o->counters)
		setenv("COZBPF_COUNTERS", "1", 1);
	else
		unsetenv("COZBPF_COUNTERS");
	if (old && *old && asprintf(&both, "%s:%s", old, o->shim) > 0)
		setenv("LD_PRELOAD", both, 1);
	else
		setenv("LD_PRELOAD", o->shim, 1);
	free(both);
}

static _Noreturn void child(const struct launch_options *o, int go, int result)
{
	int err;
	char c;

	if (read(go, &c, 1) != 1)
		_exit(127); /* the profiler gave up before the command started */
	err = -identity_assume(o->identity);
	if (!err) {
		descriptors_put_back();
		set_preload(o);
		if (ignored_children)
			signal(SIGCHLD, SIG_IGN);
		sigprocmask(SIG_SETMASK, o->mask, NULL);
		execv(o->path, o->argv);
		err = errno;
	}
	if (write(result, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int launch_prepare(const struct launch_options *o, struct launch *ret, struct error *e)
{
	int go[2], result[2];

	if (pipe2(go, O_CLOEXEC))
		return error_set(e, EXIT_OTHER, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(result, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error_set(e, EXIT_OTHER, "cannot make a pipe: %s", strerror(errno));
	}
	ret->pid = fork();
	if (!ret->pid) {
		close(go[1]);
		child(o, go[0], result[1]);
	}
	close(go[0]);
	close(result[1]);
	ret->go_fd = go[1];
	ret->result_fd = result[0];
	ret->pidfd = -1;
	if (ret->pid < 0) {
		launch_deinit(ret);
		return error_set(e, EXIT_OTHER, "cannot fork: %s", strerror(errno));
	}
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	if (ret->pidfd < 0) {
		int err = errno;

		launch_deinit(ret);
		waitpid(ret->pid, NULL, 0);
		return error_set(e, EXIT_FORBIDDEN, "the kernel gives no pidfd: %s", strerror(err));
	}
	return 0;
}

int launch_go(struct launch *l, const char *path, struct error *e)
{
	int err = 0;
	ssize_t n;

	if (write(l->go_fd, "", 1) != 1)
		return error_set(e, EXIT_OTHER, "the command ended before it started");
	close(l->go_fd);
	l->go_fd = -1;
	/* end of file: the exec has closed it */
	do
		n = read(l->result_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close(l->result_fd);
	l->result_fd = -1;
	if (n != sizeof(err))
		return 0;
	waitpid(l->pid, NULL, 0);
	return error_set(e, EXIT_OTHER, "cannot run '%s': %s", path, strerror(err));
}

void launch_deinit(struct launch *l)
{
	if (l->go_fd >= 0)
		close(l->go_fd);
	if (l->result_fd >= 0)
		close(l->result_fd);
	if (l->pidfd >= 0)
		close(l->pidfd);
	l->go_fd = l->result_fd = l->pidfd = -1;
}
