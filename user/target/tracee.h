/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of a running process, held still for some hundred microseconds while it makes system
 * calls for us (ptrace). Released, it goes on as if it had not been held: registers, signal mask,
 * the system call it waited in, signals that came meanwhile. We hold one thread at a time, within
 * keeper_run() only: a thread that does not stop in time is let go when the keeper ends.
 */
#ifndef COZBPF_TRACEE_H
#define COZBPF_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "core/text/errors.h"
#include "target/procfs.h"

/* Parts of a process that cannot be found before it is held: an exec changes them. */
struct process_vdso {
	uint64_t syscall_at;    /* address of a system call instruction, in its vDSO */
	uint64_t clock_gettime; /* address of the function; 0: none */
};

/* bytes of a stack that are searched for the frame of an interrupted handler */
#define TRACEE_STACK 262144

struct tracee {
	int pid, tid;
	struct user_regs_struct saved;
	uint64_t mask; /* its signal mask before */
	struct process_vdso vdso;
	uint64_t since_ns;
	bool called;
	struct procfs_call waits; /* arm64: before it is stopped; .pc 0: it does not */
	/* arm64, of the call that it was stopped in: it has been left, and is entered again; it has
	 * answered EINTR, and what its first argument was. */
	bool enter, eintr;
	uint64_t argument;
};

/*
 * Holds a thread of @pid: one in user mode if there is one, else one in a system call that can be
 * resumed. Returns -1 with @e: EXIT_FORBIDDEN when it may not be held (a debugger has it, or rights
 * are missing), EXIT_OTHER when it has ended or none can be stopped.
 */
int tracee_hold(int pid, struct tracee *ret, struct error *e);

/* Holds thread @tid of @pid, to be looked at: it makes no call. Returns 0, or -1 with @e. */
int tracee_hold_thread(int pid, int tid, struct tracee *ret, struct error *e);

/* Where the code of the pause handler is in a process: [start, end); both 0: nowhere. */
struct handler_code {
	uint64_t start, end;
};

/* Holds thread @tid of @pid still to unblock a signal. Returns 0, and what it still blocks, or -1
 * with @e. It is -1, too, for a thread in @handler: the kernel blocks the signal there, and
 * unblocks it at the handler's end. */
int tracee_unblock(int pid, int tid, int signal, const struct handler_code *handler,
    uint64_t *ret_others, struct error *e);

/* The reverse. A thread that does not block all of @others any more has set its mask since then,
 * and that stays. */
int tracee_block_again(int pid, int tid, int signal, uint64_t others, struct error *e);

/* Makes the system call @number with up to six arguments. Returns its result: -errno when it
 * failed, -ESRCH also when the process has gone, and -ETIMEDOUT when it does not get on. */
int64_t tracee_call(struct tracee *t, long number, const uint64_t args[6]);

/* Writes @n bytes, a multiple of 8, into its memory despite page protection: a kernel may forbid
 * that to /proc/PID/mem (proc_mem.force_override=never). Returns whether all were written. */
bool tracee_write(const struct tracee *t, uint64_t addr, const void *from, size_t n);

/* Reads @n bytes, a multiple of 8. Returns whether all were read. */
bool tracee_read(const struct tracee *t, uint64_t addr, void *ret, size_t n);

/* Releases the thread. Returns for how long it was held, in ns. */
uint64_t tracee_release(struct tracee *t);

/* Whether the process can be worked with, without holding it. 0, or -1 with @e. */
int tracee_vdso(int pid, struct process_vdso *ret, struct error *e);

#endif
