/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is profiled: a command that we launch (launched.c), or processes that run already
 * (attached.c). They differ in a table of operations; the rest of user/run/ calls that.
 */
#ifndef COZBPF_RUN_TARGET_H
#define COZBPF_RUN_TARGET_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "core/text/errors.h"
#include "symbols/symbols.h"
#include "target/claims.h"
#include "target/identity.h"
#include "target/inject.h"
#include "target/launch.h"
#include "target/quota.h"

struct console;
struct file;
struct files;
struct process;
struct run_options;
struct session;
struct target;

/* What a signal that was sent to us means for the run: a bit set. */
enum target_signal {
	TARGET_SIGNAL_ENDS = 1,   /* no further run */
	TARGET_SIGNAL_SPOILS = 2, /* the target did not run meanwhile: the experiment is void */
};

struct target_ops {
	/* Its end ends a run, and there may be another one. Else a run ends when we are told to,
	 * and has no beginning. */
	bool restarts;

	/* Finds out what is to be profiled: path, signal. */
	int (*find)(struct target *t, struct error *e);
	/* Fills the line map with the lines in scope that are there at the start. */
	int (*read_lines)(struct target *t, struct error *e);
	/* The file at @path that progress point @name is in. -1 with @e. */
	int (*find_file)(struct target *t, const char *path, const char *name, struct file **ret,
	    struct error *e);

	/* Makes it the kernel side's target, before the record of a run's beginning is written. A
	 * command exists then, and waits for start(). @mask: the signal mask it gets;
	 * @with_counters: it is given counters for Coz's places. -1 with @e. */
	int (*hold)(struct target *t, const sigset_t *mask, bool with_counters, struct error *e);
	int (*start)(struct target *t, struct error *e);
	/* In each tick: takes in processes that have joined. */
	void (*join)(struct target *t, uint64_t now);
	bool (*has_ended)(struct target *t);
	/* Whether it has been stopped (Ctrl-Z, kill -STOP), has gone on, since the last call; lets
	 * it go on. */
	bool (*has_stopped)(struct target *t);
	bool (*has_continued)(struct target *t);
	void (*go_on)(struct target *t);
	/* Passes a signal on that was sent to us, if it is meant for the target. */
	unsigned (*take_signal)(struct target *t, const struct signalfd_siginfo *info);
	/* Adds the control groups whose quotas hold it back. */
	void (*watch_quotas)(struct target *t);
	/* Takes back what we have changed in a command that goes on to its end unprofiled, and in
	 * what it leaves behind. */
	void (*leave)(struct target *t);
	/* Sends a signal to all of a command's processes. */
	void (*send)(struct target *t, int sig);
	/* The counterpart of hold(), whether that has succeeded or not: processes that run already
	 * are as they were. */
	void (*release)(struct target *t);
};

/* A process of the target; processes.c and handlers.c. */
struct process {
	int pid;
	uint64_t start; /* as procfs_start(): a later process may get its number */
	/* when to read its mappings again */
	uint64_t rescan_ns;
	uint64_t interval_ns;
	/* its calls, for --sync=uprobe */
	bool probed;
	bool injected;
	struct injection injection; /* when it is; else of threads that were made to unblock */
	/* pauses that could not be asked for since the signal was blocked, at the last look */
	uint64_t blocked;
	/* those since it came by seccomp filters, at the last look */
	uint64_t filtered;
	bool filters_known; /* those that the process had when it was attached to */
	bool filters_bad;   /* for good: none can be taken off */
	unsigned filter_tries;
	/* when to look whether it has a pause handler; 0: not any more */
	uint64_t shim_ns;
	unsigned shim_looks; /* so far, since it has executed its program */
	struct process *next;
};

struct target {
	/* Borrowed. The session is there once the lines are read. */
	const struct run_options *o;
	const struct console *console;
	struct session *session;
	struct files *files;
	const struct target_ops *ops;
	/* To be read. */
	/* of the program, of the first one where there are several */
	char path[4096], name[NAME_MAX + 1];
	struct identity identity; /* whom a command runs as */
	int signal;               /* number of the pause signal */
	int exit_status;          /* of the command */
	int ended_by;             /* the signal that ended the command; 0: none did */
	struct rusage usage;      /* of the command, and of what it has waited for */
	struct process *processes;
	uint64_t unblock_ns; /* when to look who blocks the signal */
	/* start time (procfs_start()) of the first child that can have inherited a handler; 0: none
	 * can */
	uint64_t injected_since;
	/* target.c */
	struct quota quota; /* of its control groups, in this run */
	uint64_t quota_ns;  /* when to read on */
	uint64_t answer_ns; /* when to answer others who would have its processes */
	/* launched.c */
	char executed[4096]; /* what leads to `path`, links and all */
	char shim[4096];     /* "": nothing is preloaded */
	bool shim_known;     /* it has been looked for */
	struct launch launch;
	int claim_fd; /* of the command (owner.h) */
	/* attached.c */
	struct claims attached; /* named with -p, or of the control group named */
	char cgroup[4096];      /* directory of the control group attached to; empty: none */
	uint64_t join_ns;       /* when to look for its new members */
	int *members;           /* room for a list of them */
};

extern const struct target_ops target_launched, target_attached;

/* Chooses the table by the options, and finds the target. @t: zeroed, and what is borrowed set. */
int target_init(struct target *t, struct error *e);
void target_deinit(struct target *t);

/* Whether the shim is preloaded to what it executes. */
bool target_preloads(const struct target *t);
/* Readable when it may have ended; -1: nothing tells. */
int target_fd(const struct target *t);
/* Process number @i of those attached to; 0: there are no more. */
int target_pid_at(const struct target *t, unsigned i);
/* How many CPUs those attached to may use; of a command those that it will inherit from us. */
unsigned target_cpus(const struct target *t);

/* How long CPU quotas hold it back. Begins to watch; reads on when that is due; the time in ns of
 * this run. */
void target_begin_quotas(struct target *t, uint64_t now);
void target_read_quotas(struct target *t, uint64_t now);
uint64_t target_end_quotas(struct target *t);

/* Answers those who have asked whose its processes are, when that is due. */
void target_answer(struct target *t, uint64_t now);

#endif
