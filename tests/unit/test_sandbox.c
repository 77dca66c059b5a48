// SPDX-License-Identifier: BSD-3-Clause
/* Readers that crash, hang, eat memory, do what they must not, or answer nonsense: each is an error
 * for its file, and leaves neither a process nor a descriptor behind. */
#include "check.h"
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/sandbox/confine.h"
#include "symbols/sandbox/messages.h"
#include "symbols/sandbox/sandbox.h"

/* Runs @work as the reader of 'FILE', and checks that nothing of it is left. */
static int run_in(
    const struct sandbox *s, sandbox_work *work, void *arg, struct in *in, struct error *e)
{
	unsigned before = descriptors();
	int ret;

	*e = (struct error){0};
	*in = (struct in){0};
	fflush(stdout);
	ret = sandbox_run(s, work, arg, in, e);
	CHECK_EQ(descriptors(), before);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
	return ret;
}

static int run(sandbox_work *work, struct in *in, struct error *e)
{
	const struct sandbox s = {.what = "FILE"};

	return run_in(&s, work, NULL, in, e);
}

static void check_fails(sandbox_work *work, const char *cause)
{
	struct error e;
	struct in in;

	CHECK_EQ(run(work, &in, &e), -1);
	CHECK_STR(e.cause, cause);
	CHECK_EQ(e.status, EXIT_NO_RESULT);
	CHECK(*e.hint);
	CHECK(!in.data);
}

static int answer_all(void *arg, struct out *out, struct error *e)
{
	(void)arg;
	(void)e;
	put_u32(out, 7);
	put_u64(out, 1ULL << 40);
	put_string(out, "text");
	put_string(out, NULL);
	put_bytes(out, "\1\2\3", 3);
	return 0;
}

TEST(answers)
{
	struct error e;
	struct in in;
	const void *bytes;

	CHECK_EQ(run(answer_all, &in, &e), 0);
	CHECK_EQ(get_u32(&in), 7);
	CHECK_EQ(get_u64(&in), 1LL << 40);
	CHECK_STR(get_string(&in, 5), "text");
	CHECK_STR(get_string(&in, 1), "");
	bytes = get_bytes(&in, 3);
	CHECK(bytes && !memcmp(bytes, "\1\2\3", 3));
	CHECK(in_is_whole(&in));
	CHECK(!get_bytes(&in, 1));
	CHECK(!in_is_whole(&in));
	in_free(&in);
}

static int answer_much(void *arg, struct out *out, struct error *e)
{
	(void)arg;
	(void)e;
	for (uint32_t i = 0; i < 5000000; i++)
		put_u32(out, i);
	return 0;
}

TEST(large_answer)
{
	struct error e;
	struct in in;
	bool good = true;

	CHECK_EQ(run(answer_much, &in, &e), 0);
	CHECK_EQ(in.n, 20000000);
	for (uint32_t i = 0; i < 5000000; i++)
		good &= get_u32(&in) == i;
	CHECK(good);
	CHECK(in_is_whole(&in));
	in_free(&in);
}

/* What is cut, too long or too many is bad, and stays so. */
TEST(bad_bytes)
{
	uint8_t text[] = {3, 0, 0, 0, 'a', 0, 'b', 0}, open[] = {2, 0, 0, 0, 'a', 'b'};
	uint8_t many[16] = {2};
	struct in i = {.data = text, .n = sizeof(text)};

	CHECK_STR(get_string(&i, 100), "");
	CHECK(i.bad);
	CHECK_EQ(get_u32(&i), 0);
	i = (struct in){.data = text, .n = sizeof(text)};
	text[5] = 'c';
	CHECK_STR(get_string(&i, 3), "");
	CHECK(i.bad);
	i = (struct in){.data = text, .n = sizeof(text)};
	CHECK_STR(get_string(&i, 4), "acb");
	CHECK(in_is_whole(&i));
	i = (struct in){.data = open, .n = sizeof(open)};
	CHECK(!get_copy(&i, 100));
	i = (struct in){.data = many, .n = sizeof(many)};
	CHECK_EQ(get_count(&i, 4), 2);
	i = (struct in){.data = many, .n = sizeof(many)};
	CHECK_EQ(get_count(&i, 5), 0);
	CHECK(i.bad);
}

static int fail(void *arg, struct out *out, struct error *e)
{
	(void)arg;
	put_u32(out, 1);
	error_set(e, EXIT_USAGE, "no such thing");
	return error_hint(e, "another one");
}

TEST(errors_are_passed_on)
{
	struct error e;
	struct in in;

	CHECK_EQ(run(fail, &in, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK_STR(e.cause, "no such thing");
	CHECK_STR(e.hint, "another one");
}

static int write_null(void *arg, struct out *out, struct error *e)
{
	volatile int *nowhere = arg;

	(void)out;
	(void)e;
	syscall(SYS_getpid);
	raise(SIGSEGV);
	return *nowhere;
}

static int give_up(void *arg, struct out *out, struct error *e)
{
	(void)arg;
	(void)out;
	(void)e;
	abort();
}

static int leave(void *arg, struct out *out, struct error *e)
{
	(void)arg;
	(void)out;
	(void)e;
	_exit(0);
}

TEST(crashes)
{
	check_fails(write_null, "reading 'FILE' failed: the reader crashed (SIGSEGV)");
	check_fails(give_up, "reading 'FILE' failed: the reader crashed (SIGABRT)");
	check_fails(leave, "reading 'FILE' failed: the reader's answer makes no sense");
}

static int loop(void *arg, struct out *out, struct error *e)
{
	volatile unsigned long n = 0;

	(void)arg;
	(void)out;
	(void)e;
	while (++n)
		;
	return 0;
}

TEST(cpu_time_ends)
{
	const struct sandbox s = {.what = "FILE", .cpu_s = 1};
	struct error e;
	struct in in;

	CHECK_EQ(run_in(&s, loop, NULL, &in, &e), -1);
	CHECK_STR(e.cause, "reading 'FILE' failed: the reader was stopped after 1 s of CPU time");
	CHECK_EQ(e.status, EXIT_NO_RESULT);
}

static bool at_third(void *ctx)
{
	return ++*(unsigned *)ctx == 3;
}

TEST(stopped)
{
	unsigned asked = 0;
	const struct sandbox s = {.what = "FILE", .stop = at_third, .ctx = &asked};
	struct error e;
	struct in in;

	CHECK_EQ(run_in(&s, loop, NULL, &in, &e), -1);
	CHECK_EQ(asked, 3);
	CHECK(strstr(e.cause, "was not read to its end: a signal came"));
}

/* Two ends of a pipe. Whether no one but us had the end to write to. */
struct ends {
	int fds[2];
	bool ours;
};

static bool is_ours(void *ctx)
{
	struct ends *e = ctx;
	struct pollfd p = {.fd = e->fds[0]};

	close(e->fds[1]);
	e->ours = poll(&p, 1, 0) == 1 && p.revents == POLLHUP;
	return true;
}

/* A reader that is killed has closed what is ours before. Of a probe, it would leave the
 * breakpoints. */
TEST(killed_with_nothing_of_ours)
{
	for (int i = 0; i < 20; i++) {
		struct ends ends = {.ours = false};
		const struct sandbox s = {.what = "FILE", .stop = is_ours, .ctx = &ends};
		struct error e = {0};
		struct in in = {0};

		CHECK_EQ(pipe(ends.fds), 0);
		CHECK_EQ(sandbox_run(&s, loop, NULL, &in, &e), -1);
		CHECK(ends.ours);
		close(ends.fds[0]);
	}
}

static int eat(void *arg, struct out *out, struct error *e)
{
	char block[4096] = {0};

	(void)arg;
	(void)e;
	while (!out->failed)
		put_bytes(out, block, sizeof(block));
	return 0;
}

static int run_out(void *arg, struct out *out, struct error *e)
{
	(void)arg;
	(void)out;
	return error_set(e, EXIT_OTHER, "out of memory while reading");
}

TEST(memory_ends)
{
	const struct sandbox s = {.what = "FILE", .memory = 16 << 20};
	struct error e;
	struct in in;

	CHECK_EQ(run_in(&s, SANITIZED ? run_out : eat, NULL, &in, &e), -1);
	CHECK_STR(e.cause, "reading 'FILE' failed: it needed more than 16 MB");
	CHECK_EQ(e.status, EXIT_NO_RESULT);
}

/* System calls that a reader may not use: a number and two arguments. */
static int call(void *arg, struct out *out, struct error *e)
{
	const long *a = arg;

	(void)e;
	put_u64(out, (uint64_t)syscall(a[0], a[1], a[2], a[3], a[4], -1, 0));
	return 0;
}

TEST(forbidden_calls)
{
	long calls[][5] = {
	    {SYS_openat, AT_FDCWD, (long)"/etc/passwd", O_RDONLY, 0},
	    {SYS_socket, AF_INET, SOCK_STREAM, 0, 0},
	    {SYS_ptrace, PTRACE_TRACEME, 0, 0, 0},
	    {SYS_kill, getpid(), 0, 0, 0},
	    {SYS_tgkill, getpid(), getpid(), 0, 0},
	    {SYS_execve, (long)"/bin/true", 0, 0, 0},
	    {SYS_clone, SIGCHLD, 0, 0, 0},
	    {SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS},
	    {SYS_mprotect, (long)calls & -4096, 4096, PROT_READ | PROT_EXEC, 0},
	    {SYS_getpid | 0x40000000, 0, 0, 0, 0},
	};
	const struct sandbox s = {.what = "FILE"};
	struct error e;
	struct in in;

	for (size_t i = 0; !SANITIZED && i < sizeof(calls) / sizeof(*calls); i++) {
		CHECK_EQ(run_in(&s, call, calls[i], &in, &e), -1);
		CHECK_STR(e.cause, "reading 'FILE' failed: the reader crashed (SIGSYS)");
	}
}

/* Looks at itself: no capability, no file of ours, no memory that we share. */
static int look_around(void *arg, struct out *out, struct error *e)
{
	(void)e;
	put_u32(out, fcntl(0, F_GETFD) < 0);
	put_u32(out, fcntl(*(int *)arg, F_GETFD) < 0);
	return 0;
}

TEST(files_are_closed)
{
	int fd = open("/dev/null", O_RDONLY);
	const struct sandbox s = {.what = "FILE"};
	struct error e;
	struct in in;

	/* fcntl() is no call of a reader's: it is asked where there is no filter */
	if (SANITIZED) {
		CHECK_EQ(run_in(&s, look_around, &fd, &in, &e), 0);
		get_u32(&in);
		CHECK_EQ(get_u32(&in), 1);
		in_free(&in);
	}
	close(fd);
}

static int touch(void *arg, struct out *out, struct error *e)
{
	(void)e;
	put_u32(out, *(volatile uint32_t *)arg);
	return 0;
}

TEST(memory_is_not_shared)
{
	uint32_t *shared =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct sandbox s = {.what = "FILE"};
	struct error e;
	struct in in;

	*shared = 1;
	CHECK_EQ(run_in(&s, touch, shared, &in, &e), -1);
	CHECK_STR(e.cause, "reading 'FILE' failed: the reader crashed (SIGSEGV)");
	munmap(shared, 4096);
}

/* Writes bytes of its own as the answer: the pipe is the reader's only pipe. */
struct forged {
	struct frame frame;
	size_t n; /* bytes behind it */
	bool hangs;
};

static int forge(void *arg, struct out *out, struct error *e)
{
	const struct forged *f = arg;
	struct error theirs;
	ssize_t n = 0;

	(void)out;
	(void)e;
	memset(&theirs, 'x', sizeof(theirs));
	/* A socket takes no write of a frame's size as a request: it has no zero at its end. */
	for (int fd = 3; fd < 64; fd++)
		if (lseek(fd, 0, SEEK_CUR) < 0 && errno == ESPIPE &&
		    recvmsg(fd, &(struct msghdr){0}, MSG_DONTWAIT) < 0 && errno == ENOTSOCK) {
			n += write(fd, &f->frame, sizeof(f->frame));
			n += write(fd, &theirs, f->n);
		}
	while (f->hangs)
		n++;
	_exit(n < 0);
}

TEST(forged_answers)
{
	const struct sandbox s = {.what = "FILE"};
	struct forged cases[] = {
	    {{0, 1, 100}, 99, false},      /* short */
	    {{0, 1, UINT64_MAX}, 8, true}, /* huge */
	    {{0, 1, 1ULL << 32}, 8, true}, /* larger than its file can give */
	    {{7, 1, 8}, 8, true},          /* of no kind */
	    {{1, 1, 8}, 8, true},          /* an error of another size */
	    {{1, 1, sizeof(struct error)}, sizeof(struct error), true}, /* without zeros */
	};
	struct error e;
	struct in in;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CHECK_EQ(run_in(&s, forge, &cases[i], &in, &e), -1);
		CHECK_STR(e.cause, "reading 'FILE' failed: the reader's answer makes no sense");
		CHECK_EQ(e.status, EXIT_NO_RESULT);
	}
}

static int open_null(void *ctx, const char *path, char *why, size_t size)
{
	++*(unsigned *)ctx;
	if (!strcmp(path, "yes"))
		return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	snprintf(why, size, "not %s", path);
	return -1;
}

static int ask_for_files(void *arg, struct out *out, struct error *e)
{
	char why[64] = "", magic[4];
	int fd;

	(void)arg;
	(void)e;
	fd = sandbox_open("", "yes", why, sizeof(why));
	put_u32(out, fd >= 0 && pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4));
	put_u32(out, sandbox_open("", "no", why, sizeof(why)) < 0);
	put_string(out, why);
	return 0;
}

TEST(files_are_asked_for)
{
	unsigned asked = 0;
	struct sandbox s = {.what = "FILE", .open = open_null, .ctx = &asked};
	struct error e;
	struct in in;

	CHECK_EQ(run_in(&s, ask_for_files, NULL, &in, &e), 0);
	CHECK_EQ(asked, 2);
	CHECK_EQ(get_u32(&in), 1);
	CHECK_EQ(get_u32(&in), 1);
	CHECK_STR(get_string(&in, 64), "not no");
	in_free(&in);
	s.open = NULL;
	CHECK_EQ(run_in(&s, ask_for_files, NULL, &in, &e), 0);
	CHECK_EQ(get_u32(&in), 0);
	in_free(&in);
}
