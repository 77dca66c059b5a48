/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that stands before libc's in a program that knows nothing of the benches. It times
 * fsync() and fdatasync(), the waits under test, less what they execute and wait for a CPU. Where
 * WORK_VISIT is "sync" or "send", each of these calls is a visit as well.
 */
#include "workload.h"

#include <stdarg.h>
#include <sys/socket.h>

static int is_visit_sync, is_visit_send;

__attribute__((constructor)) static void begin(void)
{
	const char *visit = getenv("WORK_VISIT");

	is_visit_sync = visit && !strcmp(visit, "sync");
	is_visit_send = visit && !strcmp(visit, "send");
	work.counters = work_map_counters();
}

static int sync_by(long call, int fd)
{
	int file = work_open_schedstat(), result;
	uint64_t delayed_ns = work_delayed_ns(file), begin_ns = work_off_cpu_ns(), whole_ns;

	result = (int)syscall(call, fd);
	whole_ns = work_off_cpu_ns() - begin_ns;
	delayed_ns = work_delayed_ns(file) - delayed_ns;
	close(file);
	if (!result)
		work_waited(whole_ns - (delayed_ns < whole_ns ? delayed_ns : whole_ns));
	if (!result && is_visit_sync)
		work_visit();
	return result;
}

int fsync(int fd)
{
	return sync_by(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return sync_by(SYS_fdatasync, fd);
}

ssize_t send(int socket, const void *message, size_t bytes, int flags)
{
	ssize_t sent = sendto(socket, message, bytes, flags, NULL, 0);

	if (sent > 0 && is_visit_send)
		work_visit();
	return sent;
}

/* PostgreSQL asks for SIGPWR when its server ends. Its processes that sleep for a lock would then
 * sleep for ever. */
int prctl(int option, ...)
{
	unsigned long words[4];
	va_list more;

	va_start(more, option);
	for (int i = 0; i < 4; i++)
		words[i] = va_arg(more, unsigned long);
	va_end(more);
	if (option == PR_SET_PDEATHSIG)
		words[0] = SIGKILL;
	return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}
