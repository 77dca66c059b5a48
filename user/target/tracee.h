/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of a running process, held still for some hundred microseconds while it makes system
 * calls in our place (ptrace). Released, it goes on as if it had not been held: registers, signal
 * mask, a system call it was waiting in, signals that came meanwhile. One thread of ours at a time.
 */
#ifndef COZBPF_TRACEE_H
#define COZBPF_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "core/text/errors.h"

struct tracee {
	int pid, tid;
	struct user_regs_struct saved;
	uint64_t mask;       /* of its signals, as it was */
	uint64_t syscall_at; /* a system call instruction in the process, in its vDSO */
	uint64_t since_ns;
	bool called;
};

/*
 * Holds a thread of @pid: one that runs in user mode when there is one, else one that waits in a
 * system call that can be taken up again. -1 with @e: EXIT_FORBIDDEN when it may not be held (a
 * debugger has it, or rights are missing), EXIT_OTHER when it has ended or none can be stopped.
 */
int tracee_hold(int pid, struct tracee *ret, struct error *e);

/* Blocks or unblocks a signal of thread @tid of @pid, which is held still for that. 0, or -1 with
 * @e. */
int tracee_block(int pid, int tid, int signal, bool block, struct error *e);

/* Makes the system call @number with up to six arguments. Its result: -errno when it failed, -ESRCH
 * also when the process is gone. */
int64_t tracee_call(struct tracee *t, long number, const uint64_t args[6]);

/* Lets it go on. Returns for how long it was held, in ns. */
uint64_t tracee_release(struct tracee *t);

/* To be called now and then: lets threads go that did not stop when they were to be held, as soon
 * as they do. Returns how many are left. */
unsigned tracee_settle(void);

/* Whether one of them was making a system call of ours: it must be let go before we end, for it
 * would go on with our registers. */
bool tracee_owes(void);

/* The parts of a process that this needs; for others, too. */
struct process_vdso {
	uint64_t syscall_at;    /* address of a system call instruction */
	uint64_t clock_gettime; /* address of the function; 0: there is none */
};
int tracee_vdso(int pid, struct process_vdso *ret, struct error *e);

#endif
