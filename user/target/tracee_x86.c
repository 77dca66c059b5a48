// SPDX-License-Identifier: BSD-3-Clause
/* See tracee_private.h. x86-64: the kernel leaves to the tracer which call was interrupted, and how
 * the call has ended. So a call is resumed where its registers are restored. */
#include "target/tracee_private.h"

#if defined(__x86_64__)

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "target/procfs.h"

#define CODE_64BIT 0x33 /* code segment of 64-bit programs */

long registers_get(int tid, struct user_regs_struct *ret)
{
	return ask(PTRACE_GETREGS, tid, 0, ret);
}

long registers_set(int tid, const struct user_regs_struct *regs)
{
	return ask(PTRACE_SETREGS, tid, 0, regs);
}

bool registers_are_64bit(const struct user_regs_struct *regs)
{
	return regs->cs == CODE_64BIT;
}

uint64_t registers_pc(const struct user_regs_struct *regs)
{
	return regs->rip;
}

uint64_t registers_sp(const struct user_regs_struct *regs)
{
	return regs->rsp;
}

void registers_go_to(struct user_regs_struct *regs, uint64_t pc)
{
	regs->rip = pc;
}

const uint8_t *find_syscall(const uint8_t *code, size_t n)
{
	static const uint8_t instruction[] = {0x0f, 0x05};

	return memmem(code, n, instruction, sizeof(instruction));
}

bool prepare_call(const struct tracee *t, long number, const uint64_t args[6])
{
	struct user_regs_struct regs = t->saved;

	regs.orig_rax = ~0ULL; /* not in a system call: nothing is resumed */
	regs.rip = t->vdso.syscall_at;
	regs.rax = (unsigned long)number;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	return !registers_set(t->tid, &regs);
}

int64_t call_result(const struct user_regs_struct *regs)
{
	return (int64_t)regs->rax;
}

void vectors_save(struct tracee *t)
{
	(void)t;
}

void vectors_restore(const struct tracee *t)
{
	(void)t;
}

void call_look(struct tracee *t)
{
	(void)t;
}

void call_seen(struct tracee *t)
{
	(void)t;
}

int call_leave(struct tracee *t)
{
	(void)t;
	return 0;
}

/* Whether its call has answered EINTR and can be made again. close() has closed all the
 * same, and the number may be another thread's by now. */
static bool was_interrupted(const struct user_regs_struct *regs)
{
	return (int64_t)regs->orig_rax >= 0 && (int64_t)regs->rax == -EINTR &&
	       regs->orig_rax != SYS_close;
}

/*
 * The kernel resumes an interrupted system call by itself, except for calls that always answer
 * EINTR, epoll_wait first of all. When no signal was to be delivered, the program did nothing to
 * deserve EINTR: the call is made again.
 */
void call_undo_eintr(struct tracee *t)
{
	if (!was_interrupted(&t->saved) || procfs_pending(t->pid, t->tid) & ~t->mask)
		return;
	t->saved.rip -= 2;
	t->saved.rax = t->saved.orig_rax;
	t->saved.orig_rax = ~0ULL;
}

void call_enter(const struct tracee *t)
{
	(void)t;
}

#endif
