// SPDX-License-Identifier: BSD-3-Clause
/* What a reader gives up; see confine.h. filter.c has the system calls that are left. */
#include "symbols/sandbox/confine.h"

#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/sandbox/filter.h"

#define NOBODY 65534
#define STACK (8 << 20) /* Linux's default; the demangler takes up to 80 kB for a name */

/* What the reading itself can raise. Others are meant for cozbpf, such as Ctrl-C of a terminal. */
static const int faults[] = {
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};

/* The guard of elf/mapped.c keeps SIGBUS. */
static void forget_handlers(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGBUS)
			signal(sig, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
}

static void unblock_faults(void)
{
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&set, faults[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* Filters of older containers do not know close_range(). */
static void close_between(unsigned from, unsigned to)
{
	struct rlimit l;

	if (from > to || !syscall(SYS_close_range, from, to, 0))
		return;
	for (unsigned fd = from; !getrlimit(RLIMIT_NOFILE, &l) && fd < l.rlim_cur && fd <= to; fd++)
		close((int)fd);
}

/* Closes all between those that stay. A sanitizer's report goes to descriptor 2. */
static void close_others(const struct confinement *c)
{
	unsigned from = SANITIZED ? 3 : 0;

	for (;;) {
		unsigned next = ~0U;

		for (size_t i = 0; i < c->n_keep; i++)
			if (c->keep[i] >= 0 && (unsigned)c->keep[i] >= from &&
			    (unsigned)c->keep[i] < next)
				next = (unsigned)c->keep[i];
		if (next > from)
			close_between(from, next - 1);
		if (next == ~0U)
			return;
		from = next + 1;
	}
}

/* Memory that we share with the kernel's programs is no reader's. *@left: bytes of the rest. */
static int unmap_shared(uint64_t *left)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t room = 0;
	int err = maps ? 0 : -1;

	*left = 0;
	while (maps && getline(&line, &room, maps) > 0) {
		uint64_t lo, hi;
		char rights[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &lo, &hi, rights) != 3)
			err = -1;
		else if (rights[3] == 's')
			err |= munmap((void *)(uintptr_t)lo, hi - lo);
		else
			*left += hi - lo;
	}
	free(line);
	if (maps)
		fclose(maps);
	return err;
}

/* Whoever runs us may have little (ulimit -s). A main thread's stack follows its limit at once. */
static void make_stack_large(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_STACK, &l) || l.rlim_cur >= STACK)
		return;
	l.rlim_cur = l.rlim_max < STACK ? l.rlim_max : STACK;
	setrlimit(RLIMIT_STACK, &l);
}

/* The bounding set goes where that is allowed; without it nothing could be gained anyway. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	for (unsigned long cap = 0; !prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); cap++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
		   ? -1
		   : 0;
}

/* Root's files are root's without capabilities, too. Where nothing else keeps a reader from them,
 * it is nobody. */
static void leave_root(void)
{
	if (geteuid() || can_filter())
		return;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return; /* a user namespace without nobody */
}

/* Whoever has died before this does not send the signal. A change of rights would undo it. */
static int follow_parent(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != parent ? -1 : 0;
}

static int limit(int what, uint64_t value)
{
	struct rlimit l, now;

	if (getrlimit((__rlimit_resource_t)what, &now))
		return -1;
	l.rlim_cur = l.rlim_max = value < now.rlim_max ? value : now.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &l);
}

static int set_limits(const struct confinement *c, uint64_t own)
{
	struct rlimit cpu = {c->cpu_s, c->cpu_s + 5}, now;

	/* The soft limit is a signal of its own (SIGXCPU), which tells what happened. */
	if (!getrlimit(RLIMIT_CPU, &now) && now.rlim_max < cpu.rlim_max)
		cpu.rlim_max = now.rlim_max;
	if (cpu.rlim_cur > cpu.rlim_max)
		cpu.rlim_cur = cpu.rlim_max;
	if (setrlimit(RLIMIT_CPU, &cpu) || limit(RLIMIT_CORE, 0))
		return -1;
	if (SANITIZED) /* a report may go to a file */
		return 0;
	return limit(RLIMIT_FSIZE, 0) || limit(RLIMIT_AS, own + c->memory) ? -1 : 0;
}

int confine(const struct confinement *c, bool *is_filtered)
{
	uint64_t own;

	forget_handlers();
	close_others(c);
	if (unmap_shared(&own))
		return -1;
	make_stack_large();
	leave_root();
	if (drop_capabilities() || set_limits(c, own) || follow_parent(c->parent))
		return -1;
	*is_filtered = !SANITIZED && !filter_system_calls();
	unblock_faults();
	return 0;
}
