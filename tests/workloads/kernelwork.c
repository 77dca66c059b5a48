// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every thread has the kernel do most of its work, then works 4 ms itself; a visit is such a
 * round. --via random: one getrandom() of 1920 KiB. --via create: 640 files are created in one
 * directory, and removed, on a tmpfs that is mounted nowhere, so nothing is left behind. --via
 * shared: so many all the time, and all threads wait for that directory; from a line speedup of 50
 * % on each has its own, which is the fix for that. Otherwise a line speedup leaves that much of
 * the bytes, or of the files: s gains a little less than s x the kernel's share, since what a call
 * costs beside stays. That share is printed at the end, by the threads' CPU time.
 */
#include "workload.h"

#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>

#define FILES_MAX 1024
#define THREADS_MAX 64

static long work_us = 4000, kib = 1920, files = 640;
static const char *via = "random";
static uint64_t own_iters, kernel_ns, whole_ns;
static pthread_t threads[THREADS_MAX];
static int at, own[THREADS_MAX], ends;

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void draw(char *into, size_t n)
{
	for (ssize_t got; n; n -= (size_t)got) {
		got = getrandom(into, n, 0);
		if (got < 0)
			work_fail("getrandom");
	}
}

/* In the directory @at. Numbers of other threads' files differ. */
static void create(int at, long thread, long n)
{
	char name[32];

	for (int pass = 0; pass < 2; pass++)
		for (long i = 0; i < n; i++) {
			int fd;

			snprintf(name, sizeof(name), "%ld", thread * FILES_MAX + i);
			if (pass && unlinkat(at, name, 0))
				work_fail(name);
			if (pass)
				continue;
			fd = openat(at, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
			if (fd < 0 || close(fd))
				work_fail(name);
		}
}

/* One round of the kernel's work. */
static void ask(long thread, char *bytes)
{
	double share = work_share();

	if (bytes)
		draw(bytes, (size_t)((double)(kib << 10) * share));
	else if (own[thread])
		create(share > 0.5 ? at : own[thread], thread, files);
	else
		create(at, thread, (long)((double)files * share + 0.5));
}

static void *run(void *argument)
{
	char *bytes = strcmp(via, "random") ? NULL : malloc((size_t)kib << 10);

	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
		uint64_t begin = thread_ns(), done;

		ask((long)argument, bytes);
		done = thread_ns();
		if (!own[(long)argument])
			work_waited(done - begin);
		SPIN(own_iters);
		progress();
		__atomic_add_fetch(&kernel_ns, done - begin, __ATOMIC_RELAXED);
		__atomic_add_fetch(&whole_ns, thread_ns() - begin, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Of a thread, below the common one. */
static int make_own(long thread)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "of-%ld", thread);
	fd = mkdirat(at, name, 0700) ? -1 : openat(at, name, O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		work_fail(name);
	return fd;
}

static void make_folders(void)
{
	int context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		work_fail("a tmpfs");
	at = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (at < 0)
		work_fail("fsmount");
	for (long i = 0; !strcmp(via, "shared") && i < work.threads; i++)
		own[i] = make_own(i);
}

static void print_share(void)
{
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	for (long i = 0; i < work.threads; i++)
		pthread_join(threads[i], NULL);
	dprintf(1, "kernel %.6f of %.6f\n", kernel_ns / 1e9, whole_ns / 1e9);
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"work-us", &work_us}, {"kib", &kib}, {"files", &files}, {"via", NULL, &via}, {NULL}};

	work_init(argc, argv, 1, options);
	errno = EINVAL;
	if (kib < 1 || files < 1 || files > FILES_MAX || work.threads > THREADS_MAX)
		work_fail("--kib, --files, --threads");
	own_iters = work_iters(work_us);
	if (strcmp(via, "random") != 0)
		make_folders();
	work.report = print_share;
	for (long i = 0; i < work.threads; i++)
		threads[i] = work_thread(run, (void *)i);
	work_wait();
}
