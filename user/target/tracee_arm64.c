// SPDX-License-Identifier: BSD-3-Clause
/*
 * See tracee_private.h. arm64: before a tracer sees a thread that was stopped in a system call, the
 * kernel has already set its registers such that it makes the call again, or has answered EINTR. A
 * call of the first kind that was left is entered again, and the thread released at the entry:
 * signals that have come meanwhile find it in its call, and the kernel's own rules hold.
 */
#include "target/tracee_private.h"

#if defined(__aarch64__)

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "target/procfs.h"

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif
#ifndef NT_ARM_SVE
#define NT_ARM_SVE 0x405
#endif
#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b /* SVE's registers in SME's streaming mode */
#endif

#define SVC 0xd4000001U /* svc #0 */
#define NO_CALL (-1)
#define LOOKS 20
#define LOOK_NS 20000
/* A frame has 4 kB, with long vectors or matrices up to more than 64: the kernel tells how much on
 * this machine. 4 kB more are for its alignment. It is searched for in parts that overlap by more
 * than what is compared. */
#define FRAME_MAX (getauxval(AT_MINSIGSTKSZ) + 4096)
#define FRAME_PART 2048
#define MODE_AARCH32 0x10 /* PSR_MODE32_BIT */

long registers_get(int tid, struct user_regs_struct *ret)
{
	struct iovec part = {ret, sizeof(*ret)};

	memset(ret, 0, sizeof(*ret));
	return ask(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part);
}

long registers_set(int tid, const struct user_regs_struct *regs)
{
	struct iovec part = {(void *)regs, sizeof(*regs)};

	return ask(PTRACE_SETREGSET, tid, NT_PRSTATUS, &part);
}

/* What stands before SVE's registers; without IN_USE these are no more than V0 to V31. */
struct vector_header {
	uint32_t size, max_size;
	uint16_t length, max_length, flags, reserved;
};
#define IN_USE 1
#define VECTORS_MAX 9216 /* of 256 bytes each, which is the longest */

/* Of the thread that is held: it is one at a time. */
static struct vectors {
	union {
		struct vector_header header;
		uint8_t bytes[VECTORS_MAX];
	};
	size_t n; /* 0: there is nothing to restore */
} vectors[2];

static const uint64_t vector_sets[] = {NT_ARM_SVE, NT_ARM_SSVE};

/* A system call leaves of SVE's registers V0 to V31 alone, and ends the streaming mode. */
void vectors_save(struct tracee *t)
{
	for (size_t i = 0; i < 2; i++) {
		struct iovec part = {vectors[i].bytes, sizeof(vectors[i].bytes)};
		bool read = !ask(PTRACE_GETREGSET, t->tid, vector_sets[i], &part);

		vectors[i].n = read && vectors[i].header.flags & IN_USE ? part.iov_len : 0;
	}
}

void vectors_restore(const struct tracee *t)
{
	for (size_t i = 0; t->called && i < 2; i++) {
		struct iovec part = {vectors[i].bytes, vectors[i].n};

		if (part.iov_len)
			ask(PTRACE_SETREGSET, t->tid, vector_sets[i], &part);
	}
}

/* A program of 32 bits has fewer registers; its program counter is where ours are not. */
bool registers_are_64bit(const struct user_regs_struct *regs)
{
	return regs->pc && !(regs->pstate & MODE_AARCH32);
}

uint64_t registers_pc(const struct user_regs_struct *regs)
{
	return regs->pc;
}

uint64_t registers_sp(const struct user_regs_struct *regs)
{
	return regs->sp;
}

void registers_go_to(struct user_regs_struct *regs, uint64_t pc)
{
	regs->pc = pc;
}

const uint8_t *find_syscall(const uint8_t *code, size_t n)
{
	const uint32_t svc = SVC;

	for (size_t at = 0; at + sizeof(svc) <= n; at += sizeof(svc))
		if (!memcmp(code + at, &svc, sizeof(svc)))
			return code + at;
	return NULL;
}

/* Which call the kernel takes the thread to be in. */
static bool set_number(int tid, int number)
{
	struct iovec part = {&number, sizeof(number)};

	return !ask(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &part);
}

bool prepare_call(const struct tracee *t, long number, const uint64_t args[6])
{
	struct user_regs_struct regs = t->saved;

	regs.pc = t->vdso.syscall_at;
	regs.regs[8] = (uint64_t)number;
	memcpy(regs.regs, args, 6 * sizeof(*args));
	return set_number(t->tid, NO_CALL) && !registers_set(t->tid, &regs);
}

int64_t call_result(const struct user_regs_struct *regs)
{
	return (int64_t)regs->regs[0];
}

static bool is_svc(const struct tracee *t, uint64_t at)
{
	uint32_t word = 0;

	return procfs_read_memory(t->pid, at, &word, sizeof(word)) && word == SVC;
}

/* Whether the thread was stopped in the call that it waited in before, as far as all but the first
 * argument tell. */
static bool has_waited_in_it(const struct tracee *t)
{
	return t->waits.number == (int)t->saved.regs[8] && t->waits.pc == t->saved.pc &&
	       t->waits.sp == t->saved.sp &&
	       !memcmp(&t->waits.args[1], &t->saved.regs[1], 5 * sizeof(uint64_t));
}

/*
 * The first argument of the call that a stopped thread was in. Its register holds the answer by
 * now. The kernel keeps the argument, and shows it where it takes the thread to be in a call. Some
 * kernels (6.12.117) take the register for the argument then: so what was shown before counts.
 */
static bool first_argument(const struct tracee *t, uint64_t *ret)
{
	struct procfs_call call;
	bool shown = set_number(t->tid, (int)t->saved.regs[8]) &&
		     procfs_call(t->pid, t->tid, &call) && call.number >= 0 &&
		     call.args[0] != t->saved.regs[0];

	*ret = shown ? call.args[0] : t->waits.args[0];
	return set_number(t->tid, NO_CALL) && (shown || has_waited_in_it(t));
}

/* A thread that runs may be about to wait: it is given some time, so that there is no doubt. */
void call_look(struct tracee *t)
{
	const struct timespec pause = {0, LOOK_NS};

	for (int i = 0; i < LOOKS && !procfs_call(t->pid, t->tid, &t->waits); i++)
		nanosleep(&pause, NULL);
}

/* Whether a signal handler has just returned to where the thread is: below its stack pointer there
 * is still the frame that the kernel has restored its registers from. */
static bool has_returned(const struct tracee *t)
{
	const size_t n = offsetof(struct user_regs_struct, pstate) / sizeof(uint64_t);
	const uint64_t most = FRAME_MAX;
	uint64_t frame[FRAME_PART / sizeof(uint64_t)];

	for (uint64_t at = t->saved.sp - FRAME_PART; t->saved.sp - at <= most;
	     at -= FRAME_PART / 2) {
		if (!procfs_read_memory(t->pid, at, frame, sizeof(frame)))
			return false;
		for (size_t i = 0; i + n <= sizeof(frame) / sizeof(*frame); i++)
			if (!memcmp(&frame[i], &t->saved, n * sizeof(uint64_t)))
				return true;
	}
	return false;
}

/*
 * Whether its call has answered EINTR because of us. A handler may as well have interrupted it, and
 * returned to it just when we stopped the thread: the program is to see that EINTR. A thread that
 * waited when it was traced already has had no handler since, which would have stopped for us.
 */
static bool is_ours(const struct tracee *t)
{
	return t->waits.pc ? t->waits.pc == t->saved.pc : !has_returned(t);
}

/* Of a call that has answered EINTR the first argument is kept, before calls of ours take its
 * place. close() cannot be made again: it has closed all the same. */
void call_seen(struct tracee *t)
{
	t->enter = false;
	t->eintr = (int64_t)t->saved.regs[0] == -EINTR && t->saved.regs[8] != SYS_close &&
		   is_svc(t, t->saved.pc - sizeof(uint32_t)) && is_ours(t) &&
		   first_argument(t, &t->argument);
}

/* Lets the kernel begin to resume the call: it chooses restart_syscall() for calls that have to go
 * on with the time that is left. That call is then not made. */
int call_leave(struct tracee *t)
{
	struct user_regs_struct regs;
	int err;

	if (t->eintr || !is_svc(t, t->saved.pc))
		return 0;
	err = to_syscall_stop(t->tid, false);
	if (err)
		return err;
	if (registers_get(t->tid, &regs) || !set_number(t->tid, NO_CALL))
		return -ESRCH;
	t->saved.regs[8] = regs.regs[8];
	t->enter = true;
	return to_syscall_stop(t->tid, false);
}

/*
 * Calls that always answer EINTR, epoll_pwait first of all. When no signal was to be delivered, the
 * program did nothing to deserve that: the call is made again. It is not released at its entry: to
 * be released there looks like a signal to the call.
 */
void call_undo_eintr(struct tracee *t)
{
	if (!t->eintr || procfs_pending(t->pid, t->tid) & ~t->mask)
		return;
	t->saved.regs[0] = t->argument;
	t->saved.pc -= sizeof(uint32_t);
}

void call_enter(const struct tracee *t)
{
	if (t->enter)
		to_syscall_stop(t->tid, true);
}

#endif
