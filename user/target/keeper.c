// SPDX-License-Identifier: BSD-3-Clause
/* See keeper.h. As posix_spawn() does it: the child has our memory and our thread's storage, which
 * we leave alone until the child has ended. */
#include "target/keeper.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define STACK 262144

struct job {
	int (*work)(void *arg, struct error *e);
	void *arg;
	struct error *e;
	int status;
	bool done;
};

/* Held while a keeper works, and by who forks. A thread that forks has locks of libc for as long as
 * the kernel copies our memory. Killed meanwhile, it would leave them to the keeper for ever. */
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void begin_fork(void)
{
	pthread_mutex_lock(&forking);
}

static void end_fork(void)
{
	pthread_mutex_unlock(&forking);
}

static void watch_forks(void)
{
	pthread_atfork(begin_fork, end_fork, end_fork);
}

/* volatile: libc says of clone() that nothing in this file is called by it. */
static volatile bool is_keeper;

static int keep(void *arg)
{
	struct job *j = arg;

	prctl(PR_SET_NAME, "keeper", 0, 0, 0); /* not for `pkill -9 cozbpf` */
	j->status = j->work(j->arg, j->e);
	j->done = true;
	return 0;
}

int keeper_run(int (*work)(void *arg, struct error *e), void *arg, struct error *e)
{
	struct job j = {work, arg, e, -1, false};
	sigset_t all, before;
	char *stack;
	int pid, err;

	if (is_keeper)
		return work(arg, e);
	stack = mmap(
	    NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return error_set(e, EXIT_OTHER, "out of memory");
	pthread_once(&watched, watch_forks);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_mutex_lock(&forking);
	is_keeper = true;
	pid = clone(keep, stack + STACK, CLONE_VM | CLONE_VFORK, &j);
	err = errno;
	is_keeper = false;
	pthread_mutex_unlock(&forking);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	munmap(stack, STACK);
	if (j.done)
		return j.status;
	error_set(e, EXIT_OTHER, "no thread of the target can be held: %s",
	    pid < 0 ? strerror(err) : "the process that does so was killed");
	return error_hint_files(e, pid < 0 ? err : 0);
}
