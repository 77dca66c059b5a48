// SPDX-License-Identifier: BSD-3-Clause
/* See target_file.h. */
#include "run/target_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elf/openfile.h"
#include "target/machine.h"
#include "target/maps.h"
#include "target/procfs.h"

static int parse_pid(const char *text, int *ret, struct error *e)
{
	char *end;
	long pid = strtol(text, &end, 10);

	*ret = (int)pid;
	if (end != text && !*end && pid > 0 && pid <= INT_MAX)
		return 0;
	error_set(e, EXIT_USAGE, "'%s' is not a process number", text);
	return error_hint(e, "give one with -p, for example -p $(pidof -s myserver)");
}

int target_program(int pid, char *ret, size_t size, struct error *e)
{
	static const char deleted[] = " (deleted)";
	char link[64], comm[32];
	int err;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", procfs_live_thread(pid));
	n = readlink(link, ret, size - 1);
	err = n < 0 ? errno : 0;
	if (err == EACCES) {
		error_set(e, EXIT_FORBIDDEN,
		    "process %d may not be read: it belongs to another user, or has more rights",
		    pid);
		return error_hint(e, "run it with sudo, or grant CAP_SYS_PTRACE");
	}
	if (err && err != ENOENT && err != ESRCH)
		return error_set(e, EXIT_OTHER, "the program of process %d cannot be read: %s", pid,
		    strerror(err));
	if (err && !procfs_live_thread(pid))
		return error_set(e, EXIT_OTHER, "process %d has ended", pid);
	if (err)
		return error_set(e, EXIT_USAGE,
		    "process %d (%s) is a thread of the kernel: it has no program", pid,
		    procfs_comm(pid, comm, sizeof(comm)));
	ret[n] = 0;
	if ((size_t)n >= sizeof(deleted) && !strcmp(ret + n - (sizeof(deleted) - 1), deleted))
		ret[n - (ssize_t)(sizeof(deleted) - 1)] = 0;
	return 0;
}

/* Pauses, probes and registers are those of our machine. */
static int check_machine(int pid, struct error *e)
{
	uint8_t header[MACHINE_HEADER] = {0};
	char path[64], why[256], comm[32];
	const char *other = NULL;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", procfs_live_thread(pid));
	fd = file_open("", path, why, sizeof(why));
	if (fd >= 0 && pread(fd, header, sizeof(header), 0) == sizeof(header))
		other = machine_other(header);
	if (fd >= 0)
		close(fd);
	if (!other)
		return 0;
	error_set(e, EXIT_USAGE, "process %d (%s) is a program for another machine: %s", pid,
	    procfs_comm(pid, comm, sizeof(comm)), other);
	return error_hint(e, "only programs of the machine that cozbpf is built for are profiled");
}

/* Nobody waits for it: there is nothing left that runs. */
static int fail_ended(int pid, struct error *e)
{
	char comm[32];
	int parent = procfs_parent(pid);

	error_set(e, EXIT_USAGE, "process %d (%s) has ended: it is a zombie", pid,
	    procfs_comm(pid, comm, sizeof(comm)));
	return error_hint(e, "its parent, process %d, has not waited for it yet", parent);
}

int target_pid(const char *text, int *ret, struct error *e)
{
	char path[PATH_MAX];
	int tgid;

	if (parse_pid(text, ret, e))
		return -1;
	tgid = procfs_tgid(*ret);
	if (tgid && tgid != *ret) {
		error_set(e, EXIT_USAGE, "%d is a thread of process %d", *ret, tgid);
		return error_hint(e, "name the process: -p %d", tgid);
	}
	if (tgid && !procfs_live_thread(*ret) && procfs_state(*ret, *ret) == 'Z')
		return fail_ended(*ret, e);
	if (!tgid || !procfs_live_thread(*ret)) {
		error_set(e, EXIT_USAGE, "there is no process %d", *ret);
		return error_hint(e, "see `ps -e`, or `pidof -s PROGRAM`");
	}
	if (*ret == getpid())
		return error_set(e, EXIT_USAGE, "process %d is cozbpf itself", *ret);
	return target_program(*ret, path, sizeof(path), e) ? -1 : check_machine(*ret, e);
}

static bool is_deleted(const char *mapped, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(mapped, path, n) && !strcmp(mapped + n, " (deleted)");
}

/* Without the right to read what is mapped, a path is not followed where its file has gone: another
 * may be there by now. */
static int refuse_deleted(int pid, const char *path, struct error *e)
{
	error_set(e, EXIT_FORBIDDEN,
	    "'%s' that process %d runs was replaced or deleted, and what is mapped may not be read",
	    path, pid);
	return error_hint(
	    e, "run it with sudo, or grant CAP_CHECKPOINT_RESTORE, or restart the process");
}

int target_mapping(int pid, const char *path, struct map_entry *ret, struct error *e)
{
	struct map_entry *maps = NULL;
	bool found = false;
	size_t n = 0;

	*e = (struct error){0};
	if (maps_read(pid, &maps, &n))
		return -1;
	for (size_t i = 0; i < n && !found; i++) {
		found = !strcmp(maps[i].path, path);
		if (found)
			*ret = maps[i];
		else if (is_deleted(maps[i].path, path))
			refuse_deleted(pid, path, e);
	}
	free(maps);
	return found ? 0 : -1;
}

int target_object(int pid, const char *path, struct object **ret, struct error *e)
{
	struct map_entry m;
	char root[64];
	struct object_place place = {m.file, m.path, root, true};

	if (target_mapping(pid, path, &m, e))
		return -1;
	maps_root(pid, root, sizeof(root));
	return object_open_at(&place, ret, e);
}
