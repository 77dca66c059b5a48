/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * What the kernel side (bpf/) and the loader (user/kernel/) share: map values, events and the
 * control block. Nothing else is shared. Fixed-width integers only, no pointers, explicit padding.
 * All times are CLOCK_MONOTONIC nanoseconds unless the name says otherwise.
 */
#ifndef COZBPF_ABI_H
#define COZBPF_ABI_H

#include <cozbpf/abi_blocks.h>
#include <cozbpf/abi_go.h>
#include <cozbpf/abi_pause.h>
#include <cozbpf/abi_peers.h>
#include <cozbpf/abi_spins.h>
#include <cozbpf/abi_waits.h>

/* executable mappings per process; those in scope come first, what is beyond is neither in scope
 * nor unwound */
#define COZBPF_MAPPINGS 40
#define COZBPF_SYSCALLS 512 /* numbers of system calls */
/* as units: that of all, that of what the kernel does in none, then by number */
#define COZBPF_SYSCALL_UNITS (COZBPF_SYSCALLS + 2)
#define COZBPF_PROCESSES 4096 /* processes of the target alive at a time */
/* last samples kept per account, from which the share f is taken: one bit each in hit_bits */
#define COZBPF_RING 32
/* kinds of stretches between edges told apart per account (SEGMENTS), a power of two */
#define COZBPF_SEGMENTS 16
#define COZBPF_CPUS 8192    /* Linux has no more (NR_CPUS_RANGE_END of x86) */
#define COZBPF_CPUS_OLD 512 /* so many of them are looked at for spinners without bpf_loop() */
#define COZBPF_POINTS 64    /* progress points */
#define COZBPF_POINT_EXIT (COZBPF_POINTS - 1)
#define COZBPF_ARGS 128        /* keys of latency pairs: one for each probe site at most */
#define COZBPF_BUCKETS 1024    /* virtual-time buckets per point and experiment */
#define COZBPF_FRAMES 64       /* call-chain frames looked at per sample */
#define COZBPF_CANDIDATES 64   /* places that are watched before one becomes a progress point */
#define COZBPF_SHARE_ONE 65536 /* fixed-point 1.0 of a thread's share */
/* functions of the kernel that are looked at per sample, where callers count */
#define COZBPF_KERNEL_FRAMES 48

/* Read-only for the kernel side, set before loading. */
struct cozbpf_config {
	__u32 signal;    /* number of the pause signal */
	__u32 min_stack; /* bytes that a signal frame and the handler need on an alternate stack */
	__u32 follow_children; /* forked processes are target too */
	__u32 min_debt_ns;     /* smaller debts wait for the next sample: a signal costs some
				  microseconds */
	__u32 pause_exit_ns;   /* cost of leaving the handler: a pause ends that much earlier */
	__u32 sleep_pauses; /* 0: pauses always hold the CPU; 1: sleep when no thread of the target
			       can be waiting for a CPU */
	__u32 n_cpus;
	__u32 any_stack;   /* pauses on stacks that the program has made, too (--any-stack) */
	__u32 sync_uprobe; /* edges come from probed calls, not from wake-ups (--sync) */
	__u32 inclusive;   /* a function's samples are those of what it calls, too (--inclusive) */
	__u32 pauses;      /* COZBPF_BY_* */
	__u32 quantum_ns;
	__u32 waits;      /* classes of waits that are units, a bit each */
	__u32 wait_first; /* the first id of the first class */
	__u32 wait_disk;  /* io is for files on this device, as the kernel numbers it; 0: on any */
	__u32 call_first; /* the first id of system calls; 0: they are no units */
	/* the kernel's function that counts with what it calls; 0: none does, but where all do */
	__u32 kernel_unit;
	__u32 goroutines; /* accounts follow the goroutines of Go programs */
	struct cozbpf_go go;
	__u32 blocks;       /* blocks are timed (abi_blocks.h): what threads execute is counted */
	__u32 perturb;      /* samples that owe a random pause, in 1/COZBPF_PERTURB_ONE */
	__u64 perturb_seed; /* what is random follows from this */
	__u32 peers;        /* other nodes share our delays (abi_peers.h) */
	__u32 page_size;
#ifdef COZBPF_RULE_SWITCHES
	__u64 rules_off; /* a bit for each rule of delay_rules.h that is turned off */
#endif
};

/*
 * Cookie of a probe of a progress point: the point, what a visit there means, and where the key is
 * that joins the two ends of a latency: 0: the thread, else 1 + an index into the map `args`.
 */
#define COZBPF_COOKIE(point, role, key) ((__u64)(point) | (__u64)(role) << 8 | (__u64)(key) << 16)
#define COZBPF_COOKIE_POINT(cookie) ((__u32)(cookie)&0xff)
#define COZBPF_COOKIE_ROLE(cookie) ((__u32)((cookie) >> 8) & 3)
#define COZBPF_COOKIE_KEY(cookie) ((__u32)((cookie) >> 16) & 0xffff)
#define COZBPF_ROLE_VISIT 0
#define COZBPF_ROLE_BEGIN 1
#define COZBPF_ROLE_END 2

/*
 * Argument of a probe (made by user/core/places/probe_args.c): what the kernel side reads where the
 * probe is hit. All of it is 0 for none. CONST: `value`. REG: `size` bytes at `reg_off` in struct
 * pt_regs. MEM: `size` bytes of the target's memory at the register's 8 bytes + `value`. What is
 * read is extended to 64 bits, with its sign when `is_signed`.
 */
struct cozbpf_arg {
	__u8 kind; /* COZBPF_ARG_* */
	__u8 size; /* 1, 2, 4 or 8 */
	__u8 is_signed;
	__u8 pad;
	__u32 reg_off; /* bytes; of the second lowest byte for %ah and its like */
	__s64 value;
};
#define COZBPF_ARG_NONE 0
#define COZBPF_ARG_CONST 1
#define COZBPF_ARG_REG 2
#define COZBPF_ARG_MEM 3

#define COZBPF_COUNTERS 64 /* of Coz's coz.h in one process, those of its forks included */
/* bytes, the zero at the end included; of longer names it is their end */
#define COZBPF_COUNTER_NAME 120
#define COZBPF_COUNTER_SETS 64      /* processes that have counters and did not get them by fork */
#define COZBPF_COUNTER_THROUGHPUT 1 /* what Coz calls the kinds */
#define COZBPF_COUNTER_BEGIN 2
#define COZBPF_COUNTER_END 3

/* The counters of a process and its forks, which share their memory (user/shim/counters.c). A
 * sample looks by how much they have grown. */
struct cozbpf_counter {
	__u64 address; /* in each of the processes */
	__u64 seen;    /* the kernel side's: the count up to which visits have been counted */
	__u64 point;
};
struct cozbpf_counter_set {
	__u64 n;
	struct cozbpf_counter counters[COZBPF_COUNTERS];
};

/* Cookie of a probe on a call of the paper's Tables 1 and 2: what the call may do, and how its
 * result says that it was not cut short. */
#define COZBPF_CALL_BLOCKS 1 /* else it may only wake */
#define COZBPF_CALL_RESULT(cookie) ((cookie) >> 1 & 3)
#define COZBPF_RESULT_ZERO (0 << 1)     /* 0 */
#define COZBPF_RESULT_POSITIVE (1 << 1) /* 0 or more */
#define COZBPF_RESULT_ANY (2 << 1)      /* it always was */

/* cozbpf_thread.call: where the thread is with a probed call that may block */
#define COZBPF_CALL_NONE 0
#define COZBPF_CALL_MADE 1
#define COZBPF_CALL_BLOCKED 2

/* [lo, lo + len) in file offsets of its object; sorted by lo within a slice. */
struct cozbpf_range {
	__u64 lo;
	__u32 len;
	__u32 line;
};

/*
 * How to get from a frame to its caller's, from file offset `lo` on up to the next row
 * (user/symbols/elf/cfi_machine.c). The CFA is the caller's stack pointer. On x86-64 the return
 * address lies right below it.
 */
struct cozbpf_unwind_row {
	__u32 lo;
	__s16 cfa; /* from the register that `kind` names */
	__s8 slot; /* place of what is saved, in 8 bytes: below 0 from the CFA, on arm64 else from
		    * that register. x86-64: the caller's rbp; 0: it is still in rbp */
	__u8 kind; /* COZBPF_UNWIND_* */
};
#define COZBPF_UNWIND_NONE 0 /* by frame pointers */
/* x86-64 */
#define COZBPF_UNWIND_RSP 1
#define COZBPF_UNWIND_RBP 2
#define COZBPF_UNWIND_PLT 3 /* rsp, and 8 more in the last third of each 16 bytes */
/* arm64: what is saved, by sp. By x29 with COZBPF_UNWIND_X29 added. */
#define COZBPF_UNWIND_LINK 4  /* nothing: the return address is still in x30 */
#define COZBPF_UNWIND_PAIR 5  /* x29, and behind it the return address */
#define COZBPF_UNWIND_ALONE 6 /* the return address; x29 is the caller's */
#define COZBPF_UNWIND_X29 8
#define COZBPF_UNWIND_LAST (COZBPF_UNWIND_ALONE | COZBPF_UNWIND_X29)

/*
 * An executable mapping: [start, end) in the process, `offset` the file offset at start, [first,
 * first + count) its ranges of lines in scope, likewise its rows for unwinding. Of code that the
 * process has made, which is in no file, `offset` is `start`: addresses stand for offsets.
 */
struct cozbpf_mapping {
	__u64 start, end, offset;
	__u32 first, count;
	__u32 unwind_first, unwind_count;
	__u32 file, pad; /* the loader's number of the file, from 1 */
};

struct cozbpf_proc {
	__u32 n_mappings, pad;
	struct cozbpf_mapping mappings[COZBPF_MAPPINGS];
};

/* Where a sample has found a thread, the innermost frame first; while progress points are looked
 * for. */
struct cozbpf_frame {
	__u32 file;   /* its number; 0: in none that the loader knows */
	__u32 offset; /* in the file; of a caller that of its call's last byte */
};
struct cozbpf_stack {
	__u32 n, pad;
	struct cozbpf_frame frames[COZBPF_FRAMES];
};

/* What happened to one process of the target; for the report. */
struct cozbpf_proc_stats {
	char comm[16];
	__u64 samples;       /* all samples, pauses excluded */
	__u64 in_scope;      /* those attributed to a line */
	__u64 made;          /* those of no line, in code that the process has made while it ran */
	__u64 asked;         /* pauses asked of the shim */
	__u64 begun;         /* pauses begun */
	__u64 withdrawn;     /* asks not begun in time */
	__u64 no_shim;       /* asks not made: the signal's action is not the shim's */
	__u64 blocked;       /* asks not made: the thread blocks the signal */
	__u64 small_stack;   /* asks not made: the stack has no room for a signal */
	__u64 foreign_stack; /* asks not made: the program has made the stack, as for a coroutine */
	__u64 not_sent;      /* the kernel refused the signal */
	__u64 filtered;      /* asks not made: a pause's system calls might kill the thread */
	__u64 runtime;       /* asks not made: Go's runtime must not be stopped there */
};

/* executed in a line that is a progress point: one of the visits counted here */
#define COZBPF_SAMPLED_UNIT_NS 1000

struct cozbpf_line_count {
	__u64 all;   /* samples of the whole run */
	__u64 free;  /* those taken in delay-free time: no experiment open, or a baseline */
	__u64 point; /* 1 + the progress point that is visited by executing the line; 0: none.
			Written by the loader */
	__u64 seen;  /* inclusive: time of the sample that was counted last; a recursive function
			is on a stack more than once */
};

/* Visits whose virtual time since the opening falls into one bucket. sum: of those virtual times.
 */
struct cozbpf_bucket {
	__u64 count, sum;
};

struct cozbpf_point {
	__u64 visits; /* of the whole run, experiment or not */
	__u64 paced;  /* those of threads that a periodic timer paces */
	__u64 fed;    /* those of threads that are paced or late, by the pace of the visit before */
	__u64 pace_ns; /* period of that pace */
	__u32 pace_phase, pad;
	__u64 late[2]; /* those after V0 that are in no bucket, of even and of odd experiments;
			  reset by the loader */
	struct cozbpf_bucket buckets[COZBPF_BUCKETS];
};

/* A stretch of a CPU's time that one thread of the target had, and the virtual time that it took:
 * less what L grew by, more where L was set back. */
struct cozbpf_slice {
	__u64 from, to, took;
};

/* The clock of a CPU (JOIN_CPU): L of the last target thread that left it; and its slice. */
struct cozbpf_cpu {
	__u64 paid, left_at, left_required; /* R then */
	__u64 began, began_paid;            /* the slice that runs; 0: none does */
	struct cozbpf_slice slice;          /* the one before */
	__u32 began_epoch;
	__u32 epoch;
	__u32 irq; /* depth-less flag: timer, interrupt or softirq context whose wake-ups are no
		      edges */
	__u64 irq_exit_at;
	__u64 timer_at;      /* expiry of the timer that runs, while `irq` has COZBPF_IRQ_TIMER */
	__u64 soft_timer_at; /* likewise, of COZBPF_IRQ_SOFT_TIMER: the other may interrupt it */
	__u64 joins;         /* wake-ups of the target's threads by one of them */
	__u64 other_wakes;   /* those that were no thread's doing */
	__u64 go_switches;   /* goroutines that a thread has gone over to here */
	__u64 go_busy;       /* since when there was always one to go over to; 0: there is none */
	__u64 outsiders_ns; /* threads of the target waited that long here because outsiders had the
			       CPU */
	__u64 misplaced_ns; /* they waited that long here for others of the target, beside an idle
			       CPU */
	/* delay_executed(): what threads of the target have executed here in experiments,
	 * virtually, and up to where it is counted. */
	__u64 executed_ns, executed_to, executed_paid;
	__u32 executed_epoch;
	__u32 number; /* of this CPU, from 1 */
	/* config.blocks: what threads of the target have executed here, really, up to ran_since; 0:
	 * none of them is here */
	__u64 ran_ns, ran_since;
};

/* What the thread on a CPU earns, for spinners on other CPUs to read (delay_spin.h). A cache line
 * of its own, which that CPU alone writes. */
struct cozbpf_earner {
	__u64 since, paid; /* as in the account; since 0: no thread of the target has the CPU */
	__u32 share, epoch;
	__u64 spun_at, awaited_id;
	__u32 number;      /* of this CPU, from 1 */
	__u32 awaits;      /* of the CPU whose thread it seems to spin for; 0: of none */
	__u64 released_at; /* the spinners that have gone on until then are known here */
	__u64 spun_ns;     /* so long threads of the target have spun on this CPU */
};

/* A CPU that the target has left idle: others that wait for theirs could have it. Who has put its
 * number there writes the rest. */
struct cozbpf_idle {
	__u64 from, to; /* of the latest idle time; to is that of the one before while it lasts */
	__u32 cpu, pad; /* the number of the CPU that is idle; 0: none is known to be */
};

struct cozbpf_ring_entry {
	__u32 line, weight_ns;
};

/* A sample of a young thread, and the line of the one before it in the same thread;
 * COZBPF_NO_SAMPLE: it was its first, or an edge lay between. */
struct cozbpf_young_entry {
	__u32 line, weight_ns, before, pad;
};
#define COZBPF_NO_SAMPLE 0xffffffffU

/* The latest samples of young threads of one kind. */
struct cozbpf_young {
	__u64 next;
	struct cozbpf_young_entry ring[COZBPF_RING];
};
/* The first window is all young threads'; the others are those of the first thread that a thread
 * makes after a wait, of the second one, and so on. */
#define COZBPF_KINDS 8

/* Threads that one thread has made: the latest virtual time, in an experiment, at which one ended.
 */
struct cozbpf_family {
	__u64 ended;
	__u32 maker, epoch;
};
#define COZBPF_FAMILIES 64

/* A thread that a periodic timer wakes, by its number. */
struct cozbpf_timer {
	__u64 period_ns; /* 0: none does */
	__u32 phase, thread;
};
#define COZBPF_TIMERS 64

/* The control block, in .bss. The first group is the loader's while no experiment is open, and
 * constant while one is. */
struct cozbpf_control {
	__u64 opened_ns;  /* opening: everybody's L and R are 0 */
	__u64 counted_ns; /* V0: visits count from here; what the experiment before left in queues
			     has drained */
	__u32 line;       /* selected line */
	__u32 n_lines;    /* so many ids are selected from there on: a function's lines follow it */
	__u32 other;      /* likewise of a couple's second line, */
	__u32 n_others;   /* 0: there is none */
	__u32 speedup_pct;  /* s in percent */
	__u32 epoch;        /* number of the experiment, from 1 */
	__u32 active;       /* an experiment is open; written last */
	__u32 bucket_shift; /* width of a bucket: 1 << bucket_shift ns */
	__u32 pick;         /* one of the in-scope samples is to put its line into `picked` */
	__u32 picked;
	__u64 period_ns; /* CPU time between samples */
	/* The rest is the kernel side's. R has a cache line of its own, with what is read beside
	 * it: every credit does, and the line above never changes. */
	__u64 required;        /* R */
	__u64 required_before; /* sum of R over the experiments before; the loader's */
	struct cozbpf_idle idle;
	__s64 sample_early_ns; /* the thread stops that much before the sample is due */
	__u64 sample_cost_ns; /* for which a sample keeps its thread from executing; 0: not known */
	__u32 sample_entry_ns; /* of that, before the sample's program looks at the clock */
	__u32 sample_free;     /* virtual time is without what samples cost */
	__u64 pause_horizon;   /* end of the latest pause asked for */
	__u64 expires_ns; /* the loader's: no pause is asked for from then on. The loader puts it
			     off while it watches the experiment (session_watch()) */
	__u64 samples, in_scope, in_pause,
	    deep_debt; /* of the whole run; deep_debt: samples of threads that owe too much */
	__u64 kernel_samples; /* blocks: those within the kernel */
	__u64 sync_calls;     /* probes of calls that were hit, returns included */
	__u64 events_lost, storage_lost;
	__s64 threads; /* living threads of the target */
	__u64 born;    /* all that it had, those that ran already not counted */
	__u64 adopted; /* threads that ran already when they became the target's */
	__s64 stopped; /* threads that stand still: SIGSTOP, a frozen control group */
	__u64 stops;   /* how often one came to stand still, or went on after that */
	struct cozbpf_young young[COZBPF_KINDS]; /* threads that are young (delay_on_fork()) */
	struct cozbpf_family families[COZBPF_FAMILIES]; /* by the maker's number */
	struct cozbpf_timer timers[COZBPF_TIMERS];      /* by the number of who is woken */
	/* Reset by the loader: samples of the selected line while visits count in this experiment,
	 * and what it executed. */
	__u64 selected_samples, selected_ns;
	__u64 pick_from; /* likewise: so many samples were candidates for `picked` */
	/* likewise: turns of a fixed loop, one at each sample, and their time */
	__u64 loop_ns, loops;
	__u64 sampled;         /* the loader's: lines are progress points */
	__u64 spins;           /* a thread was seen to spin by the probes for that */
	__u64 look_for;        /* the loader's: COZBPF_SPINS_*, what samples look for */
	__u64 has_peers;       /* the loader's: R of other nodes comes late (SPIN_WHOLE) */
	__u64 spin_probe_ns;   /* the loader's: what a probe adds to a turn of a loop that spins */
	__u64 spin_samples[2]; /* samples that found a thread there, of each */
	__u64 counters;        /* the loader's: there are counters to be looked at */
	__u32 root; /* the command's process: its exit is a visit to the point COZBPF_POINT_EXIT; 0:
		       there is none */
	__u32 pid_level;  /* depth of the loader's PID namespace, in whose numbers processes are
			     named here; written by adopt */
	__u64 sample_cpu; /* the loader's: the CPU, from 1, on which it measures what samples cost;
			     0: it does not */
	__u64 sample_due_ns,
	    sample_seen_ns; /* when the last one there was due, and when it looked at the clock */
	__u32 kernel_first,
	    kernel_count; /* the loader's: the kernel's own ranges, by addresses; none: a sample in
			     the kernel is one of the line that made the call */
	/* the loader's, for the next reading of the iterator: of this process the filters as they
	 * are now let pauses be (or do not) */
	__u32 filters_of, filters_good;
	__u32 go_of;      /* likewise: the goroutines of this process have accounts */
	__u32 go_bad;     /* threads whose runtime is not as config.go says */
	__u64 seen_again; /* likewise: the hooks were off meanwhile */
	__u64 go_born, go_adopted, go_crowded; /* goroutines: made; met; without an account of their
						  own since the map is full */
	/* Waits as units: samples that waits stand for, which are in `samples`, too; lines that
	 * found no id left; waits whose begin was not seen. */
	__u64 wait_samples, wait_crowded, wait_before;
	/* samples of waits whose stack, waker or system call found no room */
	__u64 wait_stacks_lost, wakers_lost, wait_calls_lost;
	__u64 perturbed, perturbed_ns; /* pauses of config.perturb that have begun; their time */
	/* the lock that the selected line waited for first in this experiment, and that of a
	 * couple's second line; 0: none yet */
	__u64 wait_lock, other_lock;
	__u64 waiting; /* so many of the following are somebody's */
	struct cozbpf_waiter waiters[COZBPF_WAITERS];
} __attribute__((aligned(64)));

enum cozbpf_event_kind {
	COZBPF_EVENT_FORK = 1, /* a process; arg: its parent */
	COZBPF_EVENT_EXEC = 2,
	COZBPF_EVENT_EXIT = 3,    /* the last thread of a process */
	COZBPF_EVENT_COUNTER = 4, /* a counter has been made, or (address 0) could not be; arg:
				     COZBPF_COUNTER_*; in a struct cozbpf_counter_event */
};

struct cozbpf_event {
	__u32 kind, tgid, arg, pad;
};

struct cozbpf_counter_event {
	struct cozbpf_event event;
	__u64 address;
	char name[COZBPF_COUNTER_NAME];
};

/* Interrupt kinds in cozbpf_cpu.irq: while one is set a wake-up on this CPU is not the current
 * thread's doing. */
#define COZBPF_IRQ_TIMER 1
#define COZBPF_IRQ_SOFT 2
#define COZBPF_IRQ_DEVICE 4
#define COZBPF_IRQ_SOFT_TIMER 8

/* Seccomp of a thread; else the address of its filter in the kernel. */
#define COZBPF_FILTER_NONE 0
#define COZBPF_FILTER_OURS 1   /* whichever the command that we launch begins with: ours */
#define COZBPF_FILTER_STRICT 2 /* a pause kills it */
#define COZBPF_FILTER_UNKNOWN 3

/* whether a periodic timer woke the thread, or a thread that was woken so */
#define COZBPF_PACED_NONE 0
#define COZBPF_PACED 1      /* it waits for its pace */
#define COZBPF_PACED_LATE 2 /* it has not waited for long: its pace waits for it */
#define COZBPF_PACED_ASKS 3 /* not known yet: the timer of thread pace_phase, set to pace_ns */

/* pause states of a thread */
#define COZBPF_PAUSE_NONE 0
#define COZBPF_PAUSE_ASKED 1 /* signal sent, handler not seen yet */
#define COZBPF_PAUSE_BEGUN 2 /* in the handler */

/* whether a signal frame fits the stack that a thread is on */
#define COZBPF_STACK_FITS 0
#define COZBPF_STACK_SMALL 1
#define COZBPF_STACK_FOREIGN 2 /* where it ends is known to the program alone */

/*
 * What one line of execution has taken of delay, and the samples that tell how much of its time it
 * spends in the selected line (delay_account.h). A runtime's own threads could have one as well.
 */
struct cozbpf_account {
	/* What others' events touch most. */
	__u64 run_since; /* executing, and credited up to here; 0: not executing. In a pause: the
			    pause's end */
	__u64 paid;      /* L */
	__u32 epoch;
	__u32 share;       /* f of the selected line, in 1/COZBPF_SHARE_ONE */
	__u16 persistence; /* lag-1 correlation of samples falling in the line, in
			      1/COZBPF_SHARE_ONE, one short of it at most */
	__u8 segment;      /* kind of segment it is in */
	__u8 share_due;    /* a waker has put it into that segment: its share is to be looked up */
	__u8 last_valid;   /* there was a sample before, and no edge since */
	__u8 last_hit;     /* that sample was in the line */
	__u8 paced;        /* COZBPF_PACED_*: what pace_ns, pace_phase, paced_at say */
	__u8 rested; /* woken by no thread of the target: its debt accrued while it was off the
			CPU */
	/* Its own from here on. */
	__u64 carry;                          /* stood still beyond its debt */
	__u64 spun_at;                        /* when it was last seen to spin; 0: never */
	__u64 spun_over;                      /* spun in this stretch beyond what R let L grow */
	__u64 unsampled;                      /* executed since the last sample, up to run_since */
	__u64 wanted_required;                /* R as it began to want a CPU */
	__u32 segment_share[COZBPF_SEGMENTS]; /* f per kind of segment, where share_known has its
						 bit */
	__u32 share_known;
	__u32 ring_next, ring_used;
	__u32 hit_bits, edge_bits; /* of the last 32 samples, the latest lowest: in the line; an
				      edge before it */
	__u32 pace_phase;          /* expiry modulo period: tells timers of one period apart */
	__u64 pace_ns, paced_at;   /* period of the timer, and when the pace woke it */
	__u32 kind, forks;         /* whose window it was born with; threads made since it waited */
	__u64 ring_weight, ring_hits; /* sums over the ring: all, and the selected line's */
	__u64 segment_weight[COZBPF_SEGMENTS],
	    segment_hits[COZBPF_SEGMENTS]; /* the same per kind of segment */
	__u8 ring_segment[COZBPF_RING];
	struct cozbpf_ring_entry ring[COZBPF_RING];
};

/*
 * A thread of the target: value of the task storage. A task belongs to the target when it has one
 * with member set. The kernel places the value 8 bytes into a cache line, so that the first 56
 * bytes, and the account's wanted_required, are most of what a waker touches on another CPU.
 */
struct cozbpf_thread {
	__u64 blocked_at, runnable_at; /* 0: not so */
	__u32 slack;                   /* woken: how far the waker's L is above what it took, ns */
	__u8 member;
	__u8 pause, pause_hold;
	__u8 left; /* how it left its CPU: DELAY_BLOCKED, ... of delay_switch.h */
	struct cozbpf_account account;
	/* Its own CPU's from here on. */
	__s32 excess; /* since the last pause: what samples have taken beyond a baseline's, ns */
	__u32 entry;  /* the last sample that asked for a pause has kept it from executing before it
			 looked at the clock, ns */
	__u32 entries; /* a running mean of that */
	__s32 aside;   /* the thread stands still for that much longer than the pause shows
			  (delay_aside()), ns */
	__u64 asked_at, pause_from, pause_end;
	__u64 timer_at, timer_period; /* expiry of the timer that woke it last, and how long after
					 the one before */
	__u64 call_required, call_at; /* R and the time when it blocked in a probed call */
	__u64 stack_sp;               /* stack pointer for which `stack` was found; 0: none */
	__u64 filter; /* the seccomp filter that is known to let pauses be, COZBPF_FILTER_* */
	__u32 number, maker; /* of this thread, and of the one that made it; 0: not known */
	__u32 tgid;
	__u8 call;      /* COZBPF_CALL_* */
	__u8 relay;     /* the next signal delivered is to be sent again, with its value */
	__u8 returning; /* no sample since its last pause: it may still be on its way out of the
			   handler, with the signal blocked */
	__u8 stack;     /* COZBPF_STACK_*, as found last */
	/* The units of its wait, and of the wait for a CPU that follows; 0: none. UNSEEN: it waited
	 * before it was the target's. */
	__u32 wait, queue;
	__u64 wait_at;     /* since when it waits so, for what it is in or for a CPU; experiments do
			      not move this */
	__u32 wait_rest;   /* it waited that long beyond what samples stand for, ns */
	__u8 wait_is_lock; /* whoever holds it may go on, virtually, beside who waits for it */
	__u8 wait_outside; /* no thread of the target has ended its last wait */
	__u8 waiter;       /* 1 + its place in control.waiters; 0: it has none */
	__u8 wait_selected; /* it waits for the lock that is selected, in another line */
	struct cozbpf_wait_stack wait_stack; /* its unit: once the wait is counted */
	__u32 wait_call;                     /* of struct cozbpf_wait_call */
	__u32 wait_likely; /* how long waits of it have lasted lately, ns; 0: none has */
	struct cozbpf_runs runs;
	/* config.blocks: executed up to the last sample; as much of all is in a CPU's ran_ns */
	__u64 ran_ns, told_ns;
	__u32 order, draws; /* config.perturb: which thread it is, as they came; its samples */
	__u32 stopped;      /* it is counted in control.stopped */
	__u32 pad;
};

#define COZBPF_ABI_ASSERT(cond) _Static_assert(cond, #cond)
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_range) == 16);
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_unwind_row) == 8);
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_mapping) == 48);
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_arg) == 16);
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_proc) == 8 + 48 * COZBPF_MAPPINGS);
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_cpu) == 25 * 8);
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_earner) == 64);
COZBPF_ABI_ASSERT(
    sizeof(struct cozbpf_account) == 15 * 8 + 16 + 20 * COZBPF_SEGMENTS + 9 * COZBPF_RING);
COZBPF_ABI_ASSERT(__builtin_offsetof(struct cozbpf_thread, account.carry) <= 56);
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_thread) ==
		  27 * 8 + sizeof(struct cozbpf_wait_stack) + sizeof(struct cozbpf_account));
COZBPF_ABI_ASSERT(sizeof(struct cozbpf_event) == 16);
COZBPF_ABI_ASSERT(__builtin_offsetof(struct cozbpf_control, required) == 64);
COZBPF_ABI_ASSERT(__builtin_offsetof(struct cozbpf_control, pause_horizon) == 128);

#endif
