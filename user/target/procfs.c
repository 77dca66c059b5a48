// SPDX-License-Identifier: BSD-3-Clause
/* See procfs.h. */
#include "target/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of an opening or a reading that fails: whoever reads nothing takes a process for gone, and would
 * leave in it what he has put there. */
#define TRIES 3
#define STATUS_ROOM 4096 /* of most status files; that of a process with many groups has 720 kB */

static int open_surely(const char *path, int flags)
{
	int fd = -1;

	for (int i = 0; fd < 0 && i < TRIES; i++)
		fd = open(path, flags | O_CLOEXEC);
	return fd;
}

/* Reads up to @size bytes from where the descriptor is, or until nothing more comes. Returns
 * whether no reading has failed for good. */
static bool read_surely(int fd, void *ret, size_t size, size_t *ret_n)
{
	int failures = 0;

	*ret_n = 0;
	while (fd >= 0 && *ret_n < size && failures < TRIES) {
		ssize_t n = read(fd, (char *)ret + *ret_n, size - *ret_n);

		if (!n)
			break;
		if (n > 0)
			*ret_n += (size_t)n;
		else
			failures++;
	}
	return fd >= 0 && failures < TRIES;
}

/* Reads a file. Returns its length; 0 when unreadable. */
static size_t read_path(const char *path, void *ret, size_t size)
{
	int fd = open_surely(path, O_RDONLY);
	size_t n;

	read_surely(fd, ret, size, &n);
	if (fd >= 0)
		close(fd);
	return n;
}

/* Reads the text of /proc/PID/task/TID/NAME. Returns its length; 0 when unreadable. */
static size_t read_file(int pid, int tid, const char *name, char *ret, size_t size)
{
	char path[96];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	n = read_path(path, ret, size - 1);
	ret[n] = 0;
	return n;
}

char *procfs_read_status(const char *path)
{
	int fd = open_surely(path, O_RDONLY);
	size_t used = 0, room = 0, n;
	char *text = NULL, *bigger;
	bool ok = fd >= 0;

	while (ok && used + 1 >= room) {
		room = 2 * room + STATUS_ROOM;
		bigger = realloc(text, room);
		text = bigger ? bigger : text;
		ok = bigger && read_surely(fd, text + used, room - used - 1, &n);
		used += ok ? n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (ok) {
		text[used] = 0;
		return text;
	}
	free(text);
	return NULL;
}

static char *status_of(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return procfs_read_status(path);
}

static char *status_of_thread(int pid, int tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	return procfs_read_status(path);
}

/* What stands behind "NAME:" in the text of a status file; NULL without it. The first line is
 * skipped: the process itself chooses its name. */
static const char *field(const char *status, const char *name)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), "\n%s:", name);
	at = status ? strstr(status, key) : NULL;
	return at ? at + strlen(key) : NULL;
}

/* Takes the number at *@at, on the same line. False: there is none. */
static bool take_number(const char **at, int base, uint64_t *ret)
{
	char *end;
	uint64_t number = strtoull(*at, &end, base);

	if (end == *at || memchr(*at, '\n', (size_t)(end - *at)))
		return false;
	*ret = number;
	*at = end;
	return true;
}

bool procfs_number(const char *status, const char *name, int base, uint64_t *ret)
{
	const char *at = field(status, name);

	return at && take_number(&at, base, ret);
}

bool procfs_signals(int pid, int tid, struct signal_masks *ret)
{
	char *status = status_of_thread(pid, tid);
	struct signal_masks m = {0};
	uint64_t shared = 0;
	bool all = procfs_number(status, "SigBlk", 16, &m.blocked) &&
		   procfs_number(status, "SigIgn", 16, &m.ignored) &&
		   procfs_number(status, "SigCgt", 16, &m.caught) &&
		   procfs_number(status, "SigPnd", 16, &m.pending) &&
		   procfs_number(status, "ShdPnd", 16, &shared);

	m.pending |= shared;
	*ret = all ? m : (struct signal_masks){0};
	free(status);
	return all;
}

uint64_t procfs_pending(int pid, int tid)
{
	struct signal_masks masks;

	procfs_signals(pid, tid, &masks);
	return masks.pending;
}

static int number_of(int pid, const char *name)
{
	char *status = status_of(pid);
	uint64_t ret = 0;

	procfs_number(status, name, 10, &ret);
	free(status);
	return (int)ret;
}

/* Number @index of those behind "NAME:" in a status file, or the last one where there are fewer;
 * false without any. */
static bool listed_number(int pid, const char *name, int index, uint64_t *ret)
{
	char *status = status_of(pid);
	const char *at = field(status, name);
	int n = 0;

	while (at && n <= index && take_number(&at, 10, ret))
		n++;
	free(status);
	return n;
}

int procfs_tgid(int pid)
{
	return number_of(pid, "Tgid");
}

int procfs_tracer(int pid)
{
	return number_of(pid, "TracerPid");
}

int procfs_parent(int pid)
{
	return number_of(pid, "PPid");
}

bool procfs_descends(int pid, int ancestor)
{
	while (pid > 1 && pid != ancestor)
		pid = procfs_parent(pid);
	return pid == ancestor;
}

int procfs_inner(int pid)
{
	uint64_t ret = 0;

	/* from the outermost namespace to its own: 32 at most */
	listed_number(pid, "NSpid", 32, &ret);
	return (int)ret;
}

bool procfs_user(int pid, uid_t *ret)
{
	uint64_t user = 0;
	/* real, effective, saved, of files */
	bool ok = listed_number(pid, "Uid", 3, &user);

	*ret = (uid_t)user;
	return ok;
}

int procfs_seccomp(int pid, int tid)
{
	char *status = status_of_thread(pid, tid);
	uint64_t mode = 0;

	if (!status)
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	/* A kernel without seccomp has no such line. */
	procfs_number(status, "Seccomp", 10, &mode);
	free(status);
	return (int)mode;
}

/* The fields behind the name in a stat file. The name may hold anything, but the last ')' ends it.
 * NULL: gone. */
static const char *stat_fields(int pid, int tid, char *text, size_t size)
{
	const char *end;

	if (!read_file(pid, tid, "stat", text, size))
		return NULL;
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end + 2 : NULL;
}

char procfs_state(int pid, int tid)
{
	char text[1024];
	const char *fields = stat_fields(pid, tid, text, sizeof(text));

	return fields ? *fields : 0;
}

uint64_t procfs_start(int pid)
{
	char text[1024];
	const char *at = stat_fields(pid, pid, text, sizeof(text));

	for (int i = 3; at && i < 22; i++) /* the 22nd field; the state is the third */
		at = (at = strchr(at, ' ')) ? at + 1 : NULL;
	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t procfs_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return ((uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec) /
	       (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

const char *procfs_comm(int pid, char *ret, size_t size)
{
	size_t n = read_file(pid, pid, "comm", ret, size);

	if (!n)
		snprintf(ret, size, "?");
	ret[strcspn(ret, "\n")] = 0;
	return ret;
}

uint64_t procfs_auxv(int pid, uint64_t type)
{
	uint64_t pairs[128];
	char path[32];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/auxv", procfs_live_thread(pid));
	n = read_path(path, pairs, sizeof(pairs)) / 16;
	for (size_t i = 0; i < n; i++)
		if (pairs[2 * i] == type)
			return pairs[2 * i + 1];
	return 0;
}

bool procfs_has_memory(int pid)
{
	char path[32], byte;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", procfs_live_thread(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT && errno != ESRCH;
	n = read(fd, &byte, 1);
	close(fd);
	return n != 0;
}

bool procfs_has_variable(int pid, const char *name)
{
	char path[32], *variable = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", procfs_live_thread(pid));
	f = fopen(path, "re");
	while (f && !found && getdelim(&variable, &size, 0, f) > 0)
		found = !strncmp(variable, name, strlen(name));
	free(variable);
	if (f)
		fclose(f);
	return found;
}

struct numbers {
	int *items;
	size_t n, room;
};

static bool add_number(struct numbers *l, int number)
{
	if (l->n == l->room) {
		size_t room = 2 * l->room + 64;
		int *bigger = realloc(l->items, room * sizeof(*bigger));

		if (!bigger)
			return false;
		l->items = bigger;
		l->room = room;
	}
	l->items[l->n++] = number;
	return true;
}

/* The names in a directory that are numbers. False: it cannot be read to its end. */
static bool list_once(const char *path, struct numbers *ret)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	bool all = d;

	ret->n = 0;
	errno = 0;
	while (all && (entry = readdir(d)))
		all = atoi(entry->d_name) <= 0 || add_number(ret, atoi(entry->d_name));
	all = all && !errno;
	if (d)
		closedir(d);
	return all;
}

static bool list(const char *path, struct numbers *ret)
{
	*ret = (struct numbers){0};
	for (int i = 0; i < TRIES; i++)
		if (list_once(path, ret))
			return true;
	return false;
}

bool procfs_threads(int pid, bool (*handle)(int pid, int tid, void *arg), void *arg)
{
	struct numbers threads;
	char name[64];
	bool all;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	all = list(name, &threads);
	for (size_t i = 0; i < threads.n && handle(pid, threads.items[i], arg); i++)
		;
	free(threads.items);
	return all;
}

void procfs_processes(void (*handle)(int pid, void *arg), void *arg)
{
	struct numbers processes;

	list("/proc", &processes);
	for (size_t i = 0; i < processes.n; i++)
		handle(processes.items[i], arg);
	free(processes.items);
}

bool procfs_has_ended(char state)
{
	return !state || state == 'Z' || state == 'X' || state == 'x';
}

static bool take_live(int pid, int tid, void *arg)
{
	if (procfs_has_ended(procfs_state(pid, tid)))
		return true;
	*(int *)arg = tid;
	return false;
}

int procfs_live_thread(int pid)
{
	int tid = 0;
	char state;

	errno = 0;
	state = procfs_state(pid, pid);
	/* Where no more files can be open it may well live: who reads its files says why not. */
	if (!procfs_has_ended(state) || errno == EMFILE || errno == ENFILE)
		return pid;
	procfs_threads(pid, take_live, &tid);
	return tid;
}

/* Calls that the kernel resumes by itself after a stop, or that can be made again without harm:
 * waits that have taken nothing yet. */
static bool is_easy_call(long number)
{
	static const long easy[] = {
	    SYS_futex,
	    SYS_nanosleep,
	    SYS_clock_nanosleep,
	    SYS_ppoll,
	    SYS_pselect6,
	    SYS_epoll_pwait,
	    SYS_wait4,
	    SYS_waitid,
	    SYS_rt_sigsuspend,
	    SYS_restart_syscall,
#ifdef SYS_poll /* newer machines have only the calls that say more */
	    SYS_poll,
	    SYS_select,
	    SYS_epoll_wait,
	    SYS_pause,
#endif
	};

	for (size_t i = 0; i < sizeof(easy) / sizeof(easy[0]); i++)
		if (number == easy[i])
			return true;
	return false;
}

bool procfs_call(int pid, int tid, struct procfs_call *ret)
{
	char text[256], *at = text;
	uint64_t words[8];
	size_t n = 0;

	*ret = (struct procfs_call){.number = -1};
	/* "NUMBER ARGUMENTS... SP PC", "-1 SP PC", or "running" */
	if (!read_file(pid, tid, "syscall", text, sizeof(text)))
		return false;
	ret->number = (int)strtol(text, &at, 10);
	for (; at != text && *at == ' ' && n < 8; n++)
		words[n] = strtoull(at, &at, 16);
	if ((n != 2 && n != 8) || !words[n - 2])
		return false;
	ret->pc = words[n - 1];
	ret->sp = words[n - 2];
	if (n == 8)
		memcpy(ret->args, words, sizeof(ret->args));
	return true;
}

struct easiest {
	int tid, rank;
};

static bool look_for_easier(int pid, int tid, void *arg)
{
	struct easiest *best = arg;
	char text[256], state = procfs_state(pid, tid);
	int rank = 3;

	if (procfs_has_ended(state) || state == 'D' || state == 't')
		return true;
	if (state == 'R' && read_file(pid, tid, "syscall", text, sizeof(text)) &&
	    !strncmp(text, "running", 7))
		rank = 1;
	else if (read_file(pid, tid, "syscall", text, sizeof(text)) &&
		 is_easy_call(strtol(text, NULL, 10)))
		rank = 2;
	if (rank < best->rank)
		*best = (struct easiest){tid, rank};
	return best->rank > 1;
}

int procfs_easy_thread(int pid)
{
	struct easiest best = {0, 4};

	procfs_threads(pid, look_for_easier, &best);
	return best.tid;
}

static int open_memory(int pid, int flags)
{
	int tid = procfs_live_thread(pid);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	return tid ? open_surely(path, flags) : -1;
}

bool procfs_may_hold(int pid, uint64_t at, size_t size, uint64_t from, uint64_t to)
{
	int fd = open_memory(pid, O_RDONLY);
	bool found = fd < 0;
	uint64_t words[512];
	ssize_t n = sizeof(words);

	for (size_t done = 0; !found && done < size && n == sizeof(words); done += sizeof(words)) {
		n = pread(fd, words, sizeof(words), (off_t)(at + done));
		found = n <= 0 && !done;
		for (ssize_t i = 0; i < n / 8; i++)
			found |= words[i] - from < to - from;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

bool procfs_read_memory(int pid, uint64_t addr, void *ret, size_t n)
{
	int fd = open_memory(pid, O_RDONLY);
	bool done = false;

	for (int i = 0; fd >= 0 && !done && i < TRIES; i++)
		done = pread(fd, ret, n, (off_t)addr) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return done;
}

bool procfs_read_text(int pid, uint64_t addr, char *ret, size_t size)
{
	int fd = open_memory(pid, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : pread(fd, ret, size, (off_t)addr);

	if (fd >= 0)
		close(fd);
	return n > 0 && memchr(ret, 0, (size_t)n);
}
