// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process to be attached to again and again. What each thread has done, and in how much CPU time,
 * stands in a shared file (argv[1]), with the number of calls that failed though nobody here made
 * them fail. SIGUSR1: it forks a child that works for a while. SIGUSR2: it executes itself again.
 */
#include "../e2e/fixtures/fixture.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define REST_NS                                                                           \
	1000000 /* of each worker after 0.1 ms of work: many targets are tested at a time \
		 */
#define CHILD_TURNS 20

static struct {
	struct {
		uint64_t turns, cpu_ns;
	} worker[2];
	uint64_t woken, errors;
} * done;
static int wakes;

static void must(int success)
{
	if (!success)
		__atomic_add_fetch(&done->errors, 1, __ATOMIC_RELAXED);
}

static void record(int worker, uint64_t turns)
{
	__atomic_store_n(
	    &done->worker[worker].cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
	__atomic_store_n(&done->worker[worker].turns, turns, __ATOMIC_RELAXED);
}

static void *work_on_line(void *unused)
{
	const struct timespec rest = {0, REST_NS};
	const uint64_t one = 1;

	(void)unused;
	for (uint64_t turns = 10;; turns += 10) {
		TURNS(10); /* HOT */
		progress();
		record(0, turns);
		must(write(wakes, &one, sizeof(one)) == sizeof(one));
		must(!nanosleep(&rest, NULL));
	}
	return NULL;
}

static void *work(void *unused)
{
	const struct timespec rest = {0, REST_NS};

	(void)unused;
	for (uint64_t turns = 10;; turns += 10) {
		TURNS(10); /* VICTIM */
		record(1, turns);
		must(!nanosleep(&rest, NULL));
	}
	return NULL;
}

/* Calls that a tracer disturbs most easily. */
static void *wait_for_events(void *unused)
{
	int epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};
	uint64_t n;

	(void)unused;
	must(!epoll_ctl(epoll, EPOLL_CTL_ADD, wakes, &event));
	while (1) {
		must(epoll_wait(epoll, &event, 1, -1) == 1);
		must(read(wakes, &n, sizeof(n)) == sizeof(n));
		__atomic_add_fetch(&done->woken, n, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Of a child: it has no threads but this one. */
static void work_a_while(void)
{
	for (int i = 0; i < CHILD_TURNS; i++) {
		TURNS(100);
		progress();
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t set;
	int fd, sig;

	fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0 || ftruncate(fd, sizeof(*done)))
		fail("the shared file");
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	wakes = eventfd(0, EFD_CLOEXEC);
	if (done == MAP_FAILED || wakes < 0)
		fail("mmap");
	signal(SIGCHLD, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&thread, NULL, work_on_line, NULL) ||
	    pthread_create(&thread, NULL, work, NULL) ||
	    pthread_create(&thread, NULL, wait_for_events, NULL))
		fail("pthread_create");
	while (1) {
		must(!sigwait(&set, &sig));
		if (sig == SIGUSR1 && !fork())
			work_a_while();
		if (sig == SIGUSR2)
			execv("/proc/self/exe", argv);
	}
}
