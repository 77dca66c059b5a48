/* SPDX-License-Identifier: BSD-3-Clause */
/* What each processor has to give for a thread to be held: tracee_x86.c, tracee_arm64.c. And what
 * they have of tracee.c. */
#ifndef COZBPF_TRACEE_PRIVATE_H
#define COZBPF_TRACEE_PRIVATE_H

#include "target/tracee.h"

/* Read and write the registers of a stopped thread. 0, or -1 with errno. */
long registers_get(int tid, struct user_regs_struct *ret);
long registers_set(int tid, const struct user_regs_struct *regs);

/* Whether they are those of a 64-bit program. */
bool registers_are_64bit(const struct user_regs_struct *regs);

uint64_t registers_pc(const struct user_regs_struct *regs);
uint64_t registers_sp(const struct user_regs_struct *regs);
void registers_go_to(struct user_regs_struct *regs, uint64_t pc);

/* The instruction for system calls in @code, any readable copy of it; NULL: none. */
const uint8_t *find_syscall(const uint8_t *code, size_t n);

/* Lets the stopped thread @t make the system call @number by the instruction at @t->vdso.syscall_at
 * when it goes on. Returns whether it will. */
bool prepare_call(const struct tracee *t, long number, const uint64_t args[6]);
int64_t call_result(const struct user_regs_struct *regs);

/* What a system call takes from registers that are not among those above: before the first call of
 * ours, and when the last one has been made. */
void vectors_save(struct tracee *t);
void vectors_restore(const struct tracee *t);

/* The call that the thread was stopped in. call_look(): it is traced by now, and will be stopped.
 * call_seen(): it has just been stopped. call_leave(): it
 * will make calls of ours, from now on; 0 or -errno. call_undo_eintr(): it will be released.
 * call_enter(): its registers are those from before, and its signals still blocked. */
void call_look(struct tracee *t);
void call_seen(struct tracee *t);
int call_leave(struct tracee *t);
void call_undo_eintr(struct tracee *t);
void call_enter(const struct tracee *t);

/* Makes a request again when it fails: what is asked of a held thread must be done, and that the
 * thread has gone is true each time. */
long ask(int request, int tid, uint64_t addr, const void *data);

/* Runs to the entry or the exit of the system call. All signals are blocked, so only a stop of the
 * whole process can intervene. 0, or -errno: -ETIMEDOUT when it does not get there in time, unless
 * it may take long. */
int to_syscall_stop(int tid, bool takes_long);

#endif
