// SPDX-License-Identifier: BSD-3-Clause
/* What a thread waits in. A signal is unblocked in threads that block it for reasons of their own,
 * not in those that its handler has blocked it in. */
#include "target/tracee.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "target/keeper.h"
#include "target/procfs.h"

#define SIGNAL 44
#define LONG_S 60 /* beyond the test's end: the child is killed */

enum where { WAITS, RUNS, BLOCKS };

extern const char __start_pause_code[], __stop_pause_code[];
/* Neither these addresses nor the action are on the child's stack. */
static const struct handler_code nowhere,
    code = {(uintptr_t)__start_pause_code, (uintptr_t)__stop_pause_code};
static volatile sig_atomic_t runs;
static int ready[2];

static void tell(void)
{
	if (write(ready[1], "", 1) != 1)
		_exit(1);
}

/* As a pause: the thread sleeps in a call, or holds its CPU. */
__attribute__((section("pause_code"), noinline)) static void handle(int signal)
{
	const struct timespec wait = {LONG_S, 0};

	(void)signal;
	tell();
	while (runs)
		;
	nanosleep(&wait, NULL);
}

static int begin(enum where where)
{
	static const struct sigaction action = {.sa_handler = handle};
	sigset_t mask;
	char byte;
	int pid;

	CHECK(!pipe(ready));
	runs = where == RUNS;
	pid = fork();
	if (!pid) {
		sigemptyset(&mask);
		sigaddset(&mask, SIGNAL);
		sigaction(SIGNAL, &action, NULL);
		if (where == BLOCKS) {
			sigprocmask(SIG_BLOCK, &mask, NULL);
			tell();
			sleep(LONG_S);
		}
		raise(SIGNAL);
		_exit(1);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static bool is_blocked(int pid)
{
	struct signal_masks masks;

	CHECK(procfs_signals(pid, pid, &masks));
	return masks.blocked >> (SIGNAL - 1) & 1;
}

static void end(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(the_call_that_a_thread_waits_in)
{
	struct procfs_call call = {0};
	char byte;
	int in[2], pid;

	CHECK(!pipe(in));
	pid = fork();
	if (!pid)
		_exit((int)syscall(SYS_read, in[0], &byte, 1));
	for (int i = 0; i < 5000 && (!procfs_call(pid, pid, &call) || call.number < 0); i++)
		usleep(1000);
	CHECK_EQ(call.number, SYS_read);
	CHECK_EQ(call.args[0], in[0]);
	CHECK_EQ(call.args[1], (uintptr_t)&byte);
	CHECK_EQ(call.args[2], 1);
	CHECK(call.sp && call.pc);
	end(pid);
	close(in[0]);
	close(in[1]);
	pid = begin(RUNS);
	CHECK(!procfs_call(pid, pid, &call));
	end(pid);
	CHECK(!procfs_call(pid, pid, &call));
}

TEST(a_pause_blocks_the_signal)
{
	struct error e;
	uint64_t others;

	for (enum where where = WAITS; where <= RUNS; where++) {
		int pid = begin(where);

		CHECK_EQ(tracee_unblock(pid, pid, SIGNAL, &code, &others, &e), -1);
		CHECK(strstr(e.cause, "is in a pause"));
		CHECK(is_blocked(pid));
		CHECK_EQ(tracee_unblock(pid, pid, SIGNAL, &nowhere, &others, &e), 0);
		CHECK(!is_blocked(pid));
		end(pid);
	}
}

TEST(a_thread_blocks_it_itself)
{
	int pid = begin(BLOCKS);
	uint64_t others = 1;
	struct error e;

	CHECK_EQ(tracee_unblock(pid, pid, SIGNAL, &code, &others, &e), 0);
	CHECK_EQ(others, 0);
	CHECK(!is_blocked(pid));
	CHECK_EQ(tracee_block_again(pid, pid, SIGNAL, others, &e), 0);
	CHECK(is_blocked(pid));
	end(pid);
}

/* Sends SIGSTOP within the time that a thread is held for, or a little before or after. */
static int stop_soon(int pid, useconds_t us)
{
	int stopper = fork();

	if (!stopper) {
		usleep(us);
		kill(pid, SIGSTOP);
		_exit(0);
	}
	return stopper;
}

static int hold_for_calls(void *pid, struct error *e)
{
	const uint64_t none[6] = {0};
	struct tracee t;

	if (tracee_hold(*(int *)pid, &t, e))
		return -1;
	for (int i = 0; i < 20; i++)
		CHECK_EQ(tracee_call(&t, SYS_getpid, none), *(int *)pid);
	tracee_release(&t);
	return 0;
}

static bool stops(int pid)
{
	for (int i = 0; i < 1000 && procfs_state(pid, pid) != 'T'; i++)
		usleep(1000);
	return procfs_state(pid, pid) == 'T';
}

/* A process that is stopped while it makes calls for us stays so when it is released. */
TEST(stopped_while_held)
{
	int pid = begin(BLOCKS);
	struct error e;

	for (useconds_t us = 0; us < 60; us++) {
		int stopper = stop_soon(pid, us * 50);

		CHECK_EQ(keeper_run(hold_for_calls, &pid, &e), 0);
		CHECK_EQ(waitpid(stopper, NULL, 0), stopper);
		CHECK(stops(pid));
		kill(pid, SIGCONT);
	}
	end(pid);
}
