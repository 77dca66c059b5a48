// SPDX-License-Identifier: BSD-3-Clause
/*
 * Holds a process again and again, as cozbpf does when it attaches, and makes calls in it: every
 * other time none, once in four times one that maps memory and is undone.
 * usage: holder PID TIMES GAP_US
 * Prints "N holds, M failed, K refused, longest L us", earlier when the process ends first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/keeper.h"
#include "target/procfs.h"
#include "target/tracee.h"

static uint64_t longest;
static int failed, refused;
static bool stalled; /* an emulator may stop for longer than a thread may take */

static int64_t call(struct tracee *t, long number, const uint64_t args[6])
{
	int64_t ret = tracee_call(t, number, args);

	stalled |= ret == -ETIMEDOUT;
	return ret;
}

static bool map_and_unmap(struct tracee *t)
{
	const uint64_t map[6] = {
	    0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~0ULL, 0};
	int64_t at = call(t, SYS_mmap, map);
	const uint64_t word = 0x0123456789abcdef, unmap[6] = {(uint64_t)at, 65536};
	uint64_t back = 0;

	return at > 0 && tracee_write(t, (uint64_t)at + 65528, &word, 8) &&
	       tracee_read(t, (uint64_t)at + 65528, &back, 8) && back == word &&
	       !call(t, SYS_munmap, unmap);
}

static int hold(void *arg, struct error *e)
{
	int pid = *(const int *)arg;
	static unsigned nth;
	const uint64_t none[6] = {0};
	struct tracee t;
	uint64_t held;
	bool right = true;

	stalled = false;
	if (tracee_hold(pid, &t, e)) {
		refused++;
		return 0;
	}
	if (nth % 2)
		right = call(&t, SYS_getpid, none) == procfs_inner(pid);
	if (nth++ % 4 == 3)
		right = right && map_and_unmap(&t);
	held = tracee_release(&t);
	longest = held > longest ? held : longest;
	refused += stalled;
	return right || stalled ? 0 : error_set(e, 1, "a call went wrong");
}

static bool has_ended(int pid)
{
	char state = procfs_state(pid, pid);

	return !state || state == 'Z' || state == 'X';
}

int main(int argc, char **argv)
{
	int pid = argc > 3 ? atoi(argv[1]) : 0, times = pid ? atoi(argv[2]) : 0;

	int i = 0;

	for (; i < times; i++) {
		struct error e = {0};

		if (keeper_run(hold, &pid, &e)) {
			if (has_ended(pid))
				break;
			failed++;
			printf("%s\n", e.cause);
		} else if (has_ended(pid)) {
			break;
		}
		usleep((useconds_t)atoi(argv[3]));
	}
	printf("%d holds, %d failed, %d refused, longest %llu us\n", i - refused, failed, refused,
	    (unsigned long long)longest / 1000);
	return failed || !i;
}
