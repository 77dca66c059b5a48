// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process of one thread that waits in one kind of call, again and again, while holder.c holds it.
 * Counts the calls that ended otherwise than they would have without.
 * usage: held KIND SECONDS
 * KIND: running, vectors (the same, with SVE's registers where there are any), nanosleep, futex,
 * poll, epoll, semaphore, sigtimedwait, read; sigsuspend and epoll_signal wait for signals that
 * another process sends one by one, and a lost one ends them. Prints "ready PID", then "KIND: N
 * rounds, M wrong".
 */
#include "../e2e/fixtures/fixture.h"

#include <linux/futex.h>
#include <poll.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Longer than the time between two holds: a wait that begins anew each time never ends. */
#define WAIT_MS 40
#define SHORT_MS 1    /* of calls that begin anew on x86-64 as well */
#define LOST_MS 10000 /* beyond what a busy emulator takes away */

static int feed[2], answers[2], epoll, set;
static volatile sig_atomic_t handled, over;

static void on_usr1(int sig)
{
	(void)sig;
	handled++;
}

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

/* Each returns whether the call did what it does when nobody holds the thread. */
static int run_on(void)
{
	TURNS(100);
	return 1;
}

/* Each byte of a long vector is 5, and its place in a mask is set; a loop, and that is so still. */
static int run_vectors(void)
{
	uint64_t turns = 1000000, right, all;

	if (!(getauxval(AT_HWCAP) & HWCAP_SVE))
		return run_on();
	__asm__ volatile(".arch_extension sve\n"
			 "	ptrue p0.b\n"
			 "	dup z0.b, #5\n"
			 "1:	subs %0, %0, #1\n"
			 "	b.ne 1b\n"
			 "	cmpeq p1.b, p0/z, z0.b, #5\n"
			 "	cntp %1, p0, p1.b\n"
			 "	cntb %2\n"
			 : "+&r"(turns), "=&r"(right), "=&r"(all)
			 :
			 : "v0", "cc");
	return right == all;
}

static int wait_nanosleep(void)
{
	struct timespec t = {0, WAIT_MS * 1000000};

	return !nanosleep(&t, NULL);
}

static int wait_futex(void)
{
	struct timespec t = {0, WAIT_MS * 1000000};
	static uint32_t word;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) < 0 &&
	       errno == ETIMEDOUT;
}

static int wait_poll(void)
{
	struct pollfd p = {feed[0], POLLIN, 0};

	return !poll(&p, 1, WAIT_MS);
}

static int wait_epoll(void)
{
	struct epoll_event event;

	return !epoll_wait(epoll, &event, 1, SHORT_MS);
}

static int wait_semaphore(void)
{
	struct sembuf down = {0, -1, 0};
	struct timespec t = {0, SHORT_MS * 1000000};

	return semtimedop(set, &down, 1, &t) < 0 && errno == EAGAIN;
}

static int wait_signal(void)
{
	struct timespec t = {0, SHORT_MS * 1000000};
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	return sigtimedwait(&mask, NULL, &t) < 0 && errno == EAGAIN;
}

static int wait_read(void)
{
	char c;

	ssize_t n = read(feed[0], &c, 1);

	over = !n; /* whoever feeds it has ended */
	return n == 1;
}

/* The signal is blocked except within the call, which has to end with EINTR. */
static int suspended(int (*wait)(const sigset_t *mask))
{
	sigset_t mask;
	int before = handled;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGUSR1);
	sigdelset(&mask, SIGTERM);
	if (wait(&mask) >= 0 || errno != EINTR || handled != before + 1)
		return 0;
	return write(answers[1], "", 1) == 1;
}

static int in_epoll(const sigset_t *mask)
{
	struct epoll_event event;

	return epoll_pwait(epoll, &event, 1, -1, mask);
}

static int wait_sigsuspend(void)
{
	return suspended(sigsuspend);
}

static int wait_epoll_signal(void)
{
	return suspended(in_epoll);
}

static const struct kind {
	const char *name;
	int (*wait)(void);
	int feeds, signals;
} kinds[] = {
    {"running", run_on, 0, 0},
    {"vectors", run_vectors, 0, 0},
    {"nanosleep", wait_nanosleep, 0, 0},
    {"futex", wait_futex, 0, 0},
    {"poll", wait_poll, 0, 0},
    {"epoll", wait_epoll, 0, 0},
    {"semaphore", wait_semaphore, 0, 0},
    {"sigtimedwait", wait_signal, 0, 0},
    {"read", wait_read, 1, 0},
    {"sigsuspend", wait_sigsuspend, 0, 1},
    {"epoll_signal", wait_epoll_signal, 0, 1},
};

/* Feeds the pipe or sends signals, each when the last one has been answered. */
static void help(const struct kind *k, pid_t target, uint64_t end)
{
	struct timespec t = {0, 2000000};
	struct pollfd answered = {answers[0], POLLIN, 0};
	char c;

	while (now_ns() < end) {
		nanosleep(&t, NULL);
		if (k->feeds && write(feed[1], "", 1) != 1)
			_exit(1);
		if (!k->signals)
			continue;
		kill(target, SIGUSR1);
		if (poll(&answered, 1, LOST_MS) != 1 || read(answers[0], &c, 1) != 1) {
			tell("a signal was lost\n");
			kill(target, SIGKILL);
			_exit(1);
		}
	}
	if (k->signals)
		kill(target, SIGTERM);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t rounds = 0, wrong = 0, end;
	const struct kind *k = NULL;
	struct sigaction action = {.sa_handler = on_usr1};
	char text[64];
	sigset_t mask;

	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			k = &kinds[i];
	if (!k)
		return 2;
	end = now_ns() + strtoull(argv[2], NULL, 10) * 1000000000;
	/* No descriptor has the number 0: a first argument that got lost is no other one's. */
	epoll = epoll_create1(0);
	set = semget(IPC_PRIVATE, 1, 0600);
	if (pipe(feed) || pipe(answers) || sigaction(SIGUSR1, &action, NULL) || set < 0)
		fail("preparation");
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGTERM, on_term);
	if ((k->feeds || k->signals) && !fork())
		help(k, getppid(), end);
	if (k->feeds)
		close(feed[1]);
	snprintf(text, sizeof(text), "ready %d\n", getpid());
	tell(text);
	while (!over && ((k->feeds || k->signals) || now_ns() < end)) {
		int right;

		errno = 0;
		right = k->wait();
		if (!over && !right && !wrong++)
			fprintf(stderr, "held: %s: %s\n", k->name, strerror(errno));
		rounds++;
	}
	semctl(set, 0, IPC_RMID);
	printf("%s: %llu rounds, %llu wrong\n", k->name, (unsigned long long)rounds,
	    (unsigned long long)wrong);
	return wrong != 0;
}
