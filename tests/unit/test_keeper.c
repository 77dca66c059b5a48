// SPDX-License-Identifier: BSD-3-Clause
/* The process that works on held threads, beside threads of ours (user/target/keeper.c). */
#include "target/keeper.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* Long beside the microseconds that a fork needs to be tried. */
#define WORK_US 200000

static bool begun, over, was_over;

static void *fork_meanwhile(void *arg)
{
	int pid;

	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		usleep(100);
	pid = fork();
	if (!pid)
		_exit(0);
	was_over = __atomic_load_n(&over, __ATOMIC_ACQUIRE);
	waitpid(pid, NULL, 0);
	return arg;
}

static int work(void *arg, struct error *e)
{
	(void)e;
	__atomic_store_n(&begun, true, __ATOMIC_RELEASE);
	usleep(WORK_US);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	return *(int *)arg;
}

/* A thread that forks holds locks of libc. If we are killed then, the keeper has to go on. */
TEST(nobody_forks_while_a_keeper_works)
{
	struct error e = {0};
	pthread_t thread;
	int answer = 7;

	CHECK(!pthread_create(&thread, NULL, fork_meanwhile, NULL));
	CHECK_EQ(keeper_run(work, &answer, &e), 7);
	pthread_join(thread, NULL);
	CHECK(was_over);
	begun = over = false;
	CHECK_EQ(keeper_run(work, &answer, &e), 7);
	CHECK(over);
}
