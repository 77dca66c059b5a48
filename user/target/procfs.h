/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc tells of a process or thread. Names in its text are chosen by the process: bounded,
 * never trusted. Works when the main thread has ended. */
#ifndef COZBPF_PROCFS_H
#define COZBPF_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The text of a status file, for procfs_number(), to its end; to be freed. NULL: gone, or it cannot
 * be read. */
char *procfs_read_status(const char *path);
/* The number behind "NAME:" in such a text. False, and *@ret as it was: there is none. */
bool procfs_number(const char *status, const char *name, int base, uint64_t *ret);

/* Masks of signals: bit n - 1 is signal n. All 0 when they cannot be read. */
struct signal_masks {
	uint64_t blocked, ignored, caught, pending; /* pending: for the thread or its process */
};

bool procfs_signals(int pid, int tid, struct signal_masks *ret);
uint64_t procfs_pending(int pid, int tid);

int procfs_tgid(int pid);   /* the process of a thread id; 0: none */
int procfs_tracer(int pid); /* 0: not traced */
int procfs_parent(int pid);
/* Whether it is @ancestor, its child, a child's child and so on. */
bool procfs_descends(int pid, int ancestor);
int procfs_inner(int pid);             /* its number in its own PID namespace; 0: gone */
bool procfs_user(int pid, uid_t *ret); /* as whom it makes files; false: gone */
int procfs_seccomp(int pid, int tid);  /* SECCOMP_MODE_*; 0: gone; -1: it cannot be read */
char procfs_state(int pid, int tid);   /* 'R', 'S', ...; 0: gone */
bool procfs_has_ended(char state);     /* gone, or a zombie */
bool procfs_has_memory(int pid);       /* false: it ends, has ended, or is the kernel's */
/* start time in clock ticks since boot; with the number it names a process for good; 0: gone */
uint64_t procfs_start(int pid);
uint64_t procfs_now(void);                                /* in the same ticks */
const char *procfs_comm(int pid, char *ret, size_t size); /* returns @ret; "?" when it has gone */

/* Value of an entry of its auxiliary vector (AT_*); 0 without it. */
uint64_t procfs_auxv(int pid, uint64_t type);

/* Whether a variable was in the environment at the program's start; @name ends in '='. */
bool procfs_has_variable(int pid, const char *name);

/* Where a thread waits, or was stopped. */
struct procfs_call {
	int number; /* below 0: in no system call, so it has no arguments */
	uint64_t args[6], sp, pc;
};
/* False: it runs, or has gone. */
bool procfs_call(int pid, int tid, struct procfs_call *ret);

/* A thread that has not ended, so its /proc files can stand for the process; 0: none. */
int procfs_live_thread(int pid);

/* The thread to hold (tracee.h): a running one, else one in a call that can be resumed, else any.
 * 0: none. */
int procfs_easy_thread(int pid);

/* Hands each process to @handle. */
void procfs_processes(void (*handle)(int pid, void *arg), void *arg);

/* Hands each thread to @handle until it returns false. Returns false when the threads cannot be
 * listed: there may be others. */
bool procfs_threads(int pid, bool (*handle)(int pid, int tid, void *arg), void *arg);

/* Whether an aligned word of [@from, @to) stands within @size bytes from @at, or before its mapping
 * ends. Also true when nothing of that can be read. */
bool procfs_may_hold(int pid, uint64_t at, size_t size, uint64_t from, uint64_t to);

/* Reads its memory, despite page protection. Returns whether all @n bytes were read. */
bool procfs_read_memory(int pid, uint64_t addr, void *ret, size_t n);
/* The same for text up to its end, which has to be within @size bytes. */
bool procfs_read_text(int pid, uint64_t addr, char *ret, size_t size);

#endif
