// SPDX-License-Identifier: BSD-3-Clause
/* See tracee.h. Which thread is held, and the rules of ptrace that make it harmless. */
#include "target/tracee_private.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/syscall.h"
#include "shim/vdso.h"
#include "target/procfs.h"

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif
#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif
#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

/* a thread that does not stop by then waits uninterruptibly */
#define STOP_TIMEOUT_NS 2000000000ULL
#define POLL_NS 20000
#define TRIES 3 /* of a request that fails, before the thread counts as gone */
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define GET_RSEQ 0x420f     /* PTRACE_GET_RSEQ_CONFIGURATION */
#define GET_DISPATCH 0x4211 /* PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, newer than libc (6.4) */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

long ask(int request, int tid, uint64_t addr, const void *data)
{
	long ret = -1;

	for (int i = 0; ret < 0 && i < TRIES; i++)
		ret = ptrace(request, tid, addr, data);
	return ret;
}

static long ask_word(int request, int tid, uint64_t addr, uint64_t word)
{
	return ask(request, tid, addr, (const void *)word);
}

/* While a thread is held, no mere computation may delay its release. Without the right to a higher
 * priority the release takes longer. */
static void hurry(bool begin)
{
	static struct sched_param before;
	static int policy = -1;
	const struct sched_param first = {.sched_priority = 1};

	if (!begin && policy >= 0) {
		sched_setscheduler(0, policy, &before);
		policy = -1;
	} else if (begin && policy < 0 && !sched_getparam(0, &before)) {
		policy = sched_getscheduler(0);
		if (policy == SCHED_FIFO || policy == SCHED_RR ||
		    sched_setscheduler(0, SCHED_FIFO, &first))
			policy = -1;
	}
}

/*
 * Takes a stop of a thread that we hold; @ret: signal, and event << 8. Returns 1; 0: there is none;
 * -ESRCH: the thread has ended. Takes stops alone: others read the exit status of a command that we
 * launched. While traced by us, threads of other processes have nobody else to reap them.
 */
static int take_stop(int tid, int *ret)
{
	siginfo_t info = {0};
	char state;

	/* Of an end alone it says that there is no such child. */
	bool ended = waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) && errno != EINTR;

	*ret = info.si_status;
	if (info.si_pid)
		return 1;
	state = procfs_state(tid, tid);
	if (!ended && !procfs_has_ended(state))
		return 0;
	if (procfs_tgid(tid) != tid || procfs_parent(tid) != getpid())
		waitpid(tid, NULL, __WALL | WNOHANG);
	return -ESRCH;
}

/* Waits for the next stop. Returns 0, -ESRCH when the thread has ended, or -ETIMEDOUT. */
static int wait_stop(int tid, int *ret)
{
	const struct timespec pause = {0, POLL_NS};
	uint64_t end = now_ns() + STOP_TIMEOUT_NS;
	int n;

	while (!(n = take_stop(tid, ret))) {
		if (now_ns() > end)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return n < 0 ? n : 0;
}

static bool is_event_stop(int status)
{
	return status >> 8 == PTRACE_EVENT_STOP;
}

/* The signal with which a stopped thread has to be released: the one that it stopped for. */
static long signal_of(int status)
{
	return is_event_stop(status) || status == SYSCALL_STOP ? 0 : status & 0x7f;
}

/* Waits for the stop that PTRACE_INTERRUPT makes, and passes on signals that are delivered
 * meanwhile. */
static int wait_interrupted(int tid)
{
	int status, err;

	while (!(err = wait_stop(tid, &status))) {
		if (is_event_stop(status))
			return 0;
		if (ask_word(PTRACE_CONT, tid, 0, (uint64_t)signal_of(status)))
			return -errno;
	}
	return err;
}

int to_syscall_stop(int tid, bool takes_long)
{
	uint64_t signal = 0;
	int status, err;

	do {
		if (ask_word(PTRACE_SYSCALL, tid, 0, signal))
			return -errno;
		while ((err = wait_stop(tid, &status)) == -ETIMEDOUT && takes_long)
			hurry(false);
		signal = !err && status == SIGSTOP ? SIGSTOP : 0;
	} while (!err && (signal || is_event_stop(status)));
	return err ? err : status == SYSCALL_STOP ? 0 : -EPROTO;
}

/* All 64-bit processes of a kernel have the same vDSO, so ours tells the places in theirs. That
 * they are equal is checked. */
int tracee_vdso(int pid, struct process_vdso *ret, struct error *e)
{
	uint64_t ours = getauxval(AT_SYSINFO_EHDR), theirs = procfs_auxv(pid, AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)ours;
	size_t size = ours ? header->e_shoff + (size_t)header->e_shnum * header->e_shentsize : 0;
	const uint8_t *image = (const uint8_t *)ours, *at;
	uint8_t *copy = malloc(size + 1);
	uint64_t function;

	*ret = (struct process_vdso){0};
	if (!procfs_has_memory(pid)) {
		free(copy);
		error_set(e, EXIT_FORBIDDEN, "process %d cannot be attached to: it has ended", pid);
		return error_hint(e, "name one that runs");
	}
	if (!size || !copy || !theirs || !procfs_read_memory(pid, theirs, copy, size) ||
	    memcmp(copy, image, size)) {
		free(copy);
		error_set(e, EXIT_FORBIDDEN,
		    "process %d cannot be attached to: its vDSO is not the kernel's", pid);
		return error_hint(
		    e, "is it a 32-bit program, or does the machine run with vdso=0?");
	}
	free(copy);
	function = (uint64_t)vdso_symbol(ours, SHIM_VDSO_CLOCK_GETTIME);
	ret->clock_gettime = function ? function - ours + theirs : 0;
	at = find_syscall(image, size);
	if (!at)
		return error_set(e, EXIT_FORBIDDEN, "the vDSO of this kernel makes no system call");
	ret->syscall_at = theirs + (uint64_t)(at - image);
	return 0;
}

static int fail_seize(int pid, int err, struct error *e)
{
	char comm[32];
	int tracer = procfs_tracer(pid);

	if (err == ESRCH)
		return error_set(e, EXIT_OTHER, "process %d has ended", pid);
	if (tracer) {
		error_set(e, EXIT_FORBIDDEN, "process %d is being traced by process %d (%s)", pid,
		    tracer, procfs_comm(tracer, comm, sizeof(comm)));
		return error_hint(e, "end the debugger or strace that holds it first");
	}
	error_set(e, EXIT_FORBIDDEN, "process %d may not be attached to: %s", pid, strerror(err));
	return error_hint(e, "run it with sudo, or grant CAP_SYS_PTRACE; see also "
			     "/proc/sys/kernel/yama/ptrace_scope");
}

/* Whether the thread's calls come back to the program as signals, unless they are made from certain
 * code. */
static bool dispatches(int tid)
{
	struct {
		uint64_t mode, selector, offset, len;
	} config = {0};

	return !ask(GET_DISPATCH, tid, sizeof(config), &config) && config.mode;
}

/* Reasons why the held thread cannot make our call; checked while it is held. */
static int check_held(struct tracee *t, struct error *e)
{
	if (!registers_are_64bit(&t->saved))
		return error_set(e, EXIT_FORBIDDEN,
		    "process %d is a 32-bit program: only 64-bit programs can be attached to",
		    t->pid);
	if (dispatches(t->tid)) {
		error_set(e, EXIT_FORBIDDEN,
		    "process %d dispatches its system calls to itself (as Wine does), so it would "
		    "take those of a pause for its own",
		    t->pid);
		return error_hint(e, "profile a part that is a Linux program of its own");
	}
	if (ask_word(
		PTRACE_SETOPTIONS, t->tid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_SUSPEND_SECCOMP) &&
	    (procfs_seccomp(t->pid, t->tid) ||
		ask_word(PTRACE_SETOPTIONS, t->tid, 0, PTRACE_O_TRACESYSGOOD))) {
		error_set(e, EXIT_FORBIDDEN,
		    "process %d has a seccomp filter, which may kill it for what attaching needs",
		    t->pid);
		/* The kernel lets only those suspend a filter that have none. */
		return error_hint(e, procfs_seccomp(getpid(), getpid())
					 ? "cozbpf has such a filter itself, so it cannot suspend "
					   "another one: run it in a container without one"
					 : "run it with sudo: CAP_SYS_ADMIN is needed to suspend "
					   "the filter meanwhile");
	}
	return 0;
}

/* Takes the end of a thread that was killed while held. Until then an exec of another thread of its
 * process does not get on, nor does whoever wants to hold one of them. */
static void bury(int tid)
{
	int status;

	while (!wait_stop(tid, &status))
		;
}

/* Restored where it was first stopped, in the delivery of signals: there the kernel looks whether a
 * call has to be resumed. */
static void restore(const struct tracee *t)
{
	vectors_restore(t);
	registers_set(t->tid, &t->saved);
	call_enter(t);
	ask(PTRACE_SETSIGMASK, t->tid, 8, &t->mask);
	if (ask_word(PTRACE_DETACH, t->tid, 0, 0))
		bury(t->tid);
}

/*
 * Ends the restartable sequence (rseq) in which the thread was stopped, as the kernel does when a
 * thread loses its CPU. Our call would make the kernel forget the sequence, and the thread would go
 * on in it, with what it has read from a CPU that others have used since.
 */
static void abort_sequence(struct tracee *t)
{
	struct {
		uint64_t at;
		uint32_t size, signature, flags, pad;
	} rseq = {0};
	struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} sequence;
	const uint64_t none = 0;
	uint64_t at, pointer;

	if (ask(GET_RSEQ, t->tid, sizeof(rseq), &rseq) < 0 || !rseq.at)
		return;
	pointer = rseq.at + 8; /* rseq_cs in struct rseq */
	if (!procfs_read_memory(t->pid, pointer, &at, sizeof(at)) || !at ||
	    !procfs_read_memory(t->pid, at, &sequence, sizeof(sequence)) ||
	    registers_pc(&t->saved) - sequence.start >= sequence.length)
		return;
	if (tracee_write(t, pointer, &none, sizeof(none)))
		registers_go_to(&t->saved, sequence.abort);
}

int tracee_hold_thread(int pid, int tid, struct tracee *ret, struct error *e)
{
	uint64_t all = ~0ULL;
	int err;

	ret->pid = pid;
	ret->tid = tid;
	ret->called = false;
	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return fail_seize(pid, errno, e);
	hurry(true);
	call_look(ret);
	ret->since_ns = now_ns();
	ask_word(PTRACE_INTERRUPT, tid, 0, 0);
	err = wait_interrupted(tid);
	if (err)
		hurry(false);
	if (err == -ETIMEDOUT) { /* at our end the kernel lets it go, as if nothing was asked */
		error_set(e, EXIT_OTHER,
		    "thread %d of process %d does not stop: it waits uninterruptibly in the kernel",
		    tid, pid);
		return error_hint(e, "try again when it has got on");
	}
	if (err || registers_get(tid, &ret->saved) || ask(PTRACE_GETSIGMASK, tid, 8, &ret->mask)) {
		bury(tid);
		hurry(false);
		return error_set(e, EXIT_OTHER, "thread %d of process %d has ended", tid, pid);
	}
	call_seen(ret);
	abort_sequence(ret);
	if (check_held(ret, e) || ask(PTRACE_SETSIGMASK, tid, 8, &all)) {
		tracee_release(ret);
		return -1;
	}
	return 0;
}

int tracee_hold(int pid, struct tracee *ret, struct error *e)
{
	int tid;

	if (tracee_vdso(pid, &ret->vdso, e))
		return -1;
	tid = procfs_easy_thread(pid);
	if (!tid && procfs_tracer(pid))
		return fail_seize(pid, EPERM, e);
	if (!tid)
		return error_set(e, EXIT_OTHER,
		    "process %d has no thread that can be stopped: it has ended, or waits "
		    "uninterruptibly",
		    pid);
	if (tracee_hold_thread(pid, tid, ret, e))
		return -1;
	/* Until it was held, another program may have been executed. */
	if (!tracee_vdso(pid, &ret->vdso, e))
		return 0;
	tracee_release(ret);
	return -1;
}

/* Whether the held thread is in the handler, or in another one that has interrupted it: then its
 * stack has an address of the handler's code, to which it returns. */
static bool is_inside(const struct tracee *t, const struct handler_code *handler)
{
	if (!handler->end)
		return false;
	return registers_pc(&t->saved) - handler->start < handler->end - handler->start ||
	       procfs_may_hold(t->pid, registers_sp(&t->saved) & ~7ULL, TRACEE_STACK,
		   handler->start, handler->end);
}

int tracee_unblock(int pid, int tid, int signal, const struct handler_code *handler,
    uint64_t *ret_others, struct error *e)
{
	struct tracee t;

	if (tracee_hold_thread(pid, tid, &t, e))
		return -1;
	if (is_inside(&t, handler)) {
		tracee_release(&t);
		return error_set(e, EXIT_OTHER, "thread %d of process %d is in a pause", tid, pid);
	}
	t.mask &= ~(1ULL << (signal - 1));
	*ret_others = t.mask;
	tracee_release(&t);
	return 0;
}

int tracee_block_again(int pid, int tid, int signal, uint64_t others, struct error *e)
{
	struct tracee t;

	if (tracee_hold_thread(pid, tid, &t, e))
		return -1;
	if (!(others & ~t.mask))
		t.mask |= 1ULL << (signal - 1);
	tracee_release(&t);
	return 0;
}

int64_t tracee_call(struct tracee *t, long number, const uint64_t args[6])
{
	struct user_regs_struct regs;
	int err = 0;

	if (!t->called) {
		vectors_save(t);
		/* Whatever fails from here on, the thread has to be stopped again to be
		 * released. */
		t->called = true;
		err = call_leave(t);
	}
	if (!err)
		err = prepare_call(t, number, args) ? to_syscall_stop(t->tid, false) : -ESRCH;
	if (!err)
		err = to_syscall_stop(t->tid, false);
	if (!err && registers_get(t->tid, &regs))
		err = -ESRCH;
	return err == -ETIMEDOUT ? err : err ? -ESRCH : call_result(&regs);
}

bool tracee_write(const struct tracee *t, uint64_t addr, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i += sizeof(long)) {
		uint64_t word;

		memcpy(&word, (const char *)from + i, sizeof(word));
		if (ask_word(PTRACE_POKEDATA, t->tid, addr + i, word))
			return false;
	}
	return true;
}

bool tracee_read(const struct tracee *t, uint64_t addr, void *ret, size_t n)
{
	for (size_t i = 0; i < n; i += sizeof(long)) {
		long word = -1;

		errno = 0;
		for (int tries = 0; word == -1 && tries < TRIES; tries++)
			word = ptrace(PTRACE_PEEKDATA, t->tid, addr + i, 0);
		if (word == -1 && errno)
			return false;
		memcpy((char *)ret + i, &word, sizeof(word));
	}
	return true;
}

uint64_t tracee_release(struct tracee *t)
{
	uint64_t held;

	call_undo_eintr(t);
	if (t->called) {
		ask_word(PTRACE_INTERRUPT, t->tid, 0, 0);
		ask_word(PTRACE_CONT, t->tid, 0, 0);
		/* However long our call takes: the thread would go on with our registers. */
		while (wait_interrupted(t->tid) == -ETIMEDOUT)
			hurry(false);
	}
	restore(t);
	held = now_ns() - t->since_ns;
	hurry(false);
	return held;
}
