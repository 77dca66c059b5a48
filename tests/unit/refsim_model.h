/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reference simulator (refsim.h) is made of: the programs it runs, how they are profiled,
 * and its state. No behaviour but the knobs. */
#ifndef COZBPF_TESTS_REFSIM_MODEL_H
#define COZBPF_TESTS_REFSIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cozbpf/delay_wait.h>
#include "core/experiment/rng.h"
#include "core/experiment/visits.h"

#define SIM_THREADS 40
#define SIM_CPUS 8
#define SIM_OBJECTS 16
#define SIM_NEVER UINT64_MAX
/* the line that experiments select; 0 is no line, others are other lines */
#define SIM_SELECTED 1

enum sim_kind {
	SIM_RUN,   /* execute `ns` in line `arg` */
	SIM_VISIT, /* the progress point */
	SIM_LOCK,  /* a mutex that may be taken from the woken waiter, as pthread's */
	SIM_UNLOCK,
	SIM_BARRIER,      /* of `ns` threads */
	SIM_SPIN_BARRIER, /* of `ns` threads that wait by spinning */
	SIM_TICKET,       /* a lock that goes to who has waited longest; one waits by spinning */
	SIM_GIVE,
	SIM_PUSH, /* into queue `arg`, `ns` entries long */
	SIM_POP,
	SIM_OFFER, /* the same as SIM_PUSH, lost where the queue is full */
	SIM_SLEEP, /* for `ns`: a timer */
	SIM_TICK,  /* until the next multiple of `ns`: an absolute timer */
	SIM_SPAWN, /* a thread that runs program `arg` */
	SIM_JOIN,  /* until all threads spawned have ended */
	SIM_EXIT,
	SIM_AWAY, /* what an outsider does: wait for its next turn, and take its turn */
	SIM_BURST,
	SIM_LOOP, /* back to the first op; the last op of a program is this or SIM_EXIT */
};

struct sim_op {
	enum sim_kind kind;
	unsigned arg;
	uint64_t ns;
};

#define RUN(line, for_ns)                                      \
	{                                                      \
		.kind = SIM_RUN, .arg = (line), .ns = (for_ns) \
	}
#define VISIT                     \
	{                         \
		.kind = SIM_VISIT \
	}
#define LOCK(id)                              \
	{                                     \
		.kind = SIM_LOCK, .arg = (id) \
	}
#define UNLOCK(id)                              \
	{                                       \
		.kind = SIM_UNLOCK, .arg = (id) \
	}
#define BARRIER(id, threads)                                      \
	{                                                         \
		.kind = SIM_BARRIER, .arg = (id), .ns = (threads) \
	}
#define SPIN_BARRIER(id, threads)                                      \
	{                                                              \
		.kind = SIM_SPIN_BARRIER, .arg = (id), .ns = (threads) \
	}
#define TICKET(id)                              \
	{                                       \
		.kind = SIM_TICKET, .arg = (id) \
	}
#define GIVE(id)                              \
	{                                     \
		.kind = SIM_GIVE, .arg = (id) \
	}
#define PUSH(id, length)                                      \
	{                                                     \
		.kind = SIM_PUSH, .arg = (id), .ns = (length) \
	}
#define OFFER(id, length)                                      \
	{                                                      \
		.kind = SIM_OFFER, .arg = (id), .ns = (length) \
	}
#define POP(id)                              \
	{                                    \
		.kind = SIM_POP, .arg = (id) \
	}
/* The same, and a wait of the kind that experiments select (SIM_SLEEPS). */
#define SLEEP_A(for_ns)                                                \
	{                                                              \
		.kind = SIM_SLEEP, .arg = SIM_SELECTED, .ns = (for_ns) \
	}
#define SLEEP(for_ns)                             \
	{                                         \
		.kind = SIM_SLEEP, .ns = (for_ns) \
	}
#define TICK(every_ns)                             \
	{                                          \
		.kind = SIM_TICK, .ns = (every_ns) \
	}
#define SPAWN(program)                              \
	{                                           \
		.kind = SIM_SPAWN, .arg = (program) \
	}
#define JOIN                     \
	{                        \
		.kind = SIM_JOIN \
	}
#define EXIT                     \
	{                        \
		.kind = SIM_EXIT \
	}
#define LOOP                     \
	{                        \
		.kind = SIM_LOOP \
	}

/* What experiments select: the line, the sleeps of SLEEP_A, waits for locks, waits for CPUs. */
enum sim_unit { SIM_A_LINE, SIM_SLEEPS, SIM_LOCKS, SIM_QUEUES };

/* What runs where. */
struct sim_case {
	const char *name;
	const struct sim_op
	    *programs[SIM_THREADS]; /* the first n_threads start at once, the others are spawned */
	unsigned n_threads, cpus;
	enum sim_unit selects;
	unsigned other;      /* a second line that experiments select, a couple; 0: there is none */
	unsigned jitter_pct; /* each stretch is up to this much longer or shorter, evenly */
	uint64_t wake_ns;    /* an idle CPU takes this long to begin with a woken thread */
	bool wake_preempts;  /* a woken thread goes before the one that runs */
	bool wake_here;      /* on the CPU of who wakes it, where no other one has less to do */
	unsigned outsiders;  /* threads that are not the target's */
	/* each wants a CPU for that long, that often on average */
	uint64_t outsider_ns, outsider_every_ns;
};

/* How it is profiled. The defaults are the product's; the rest is for finding out what matters. */
struct sim_rules {
	uint64_t period_ns, signal_ns, exit_ns, sample_ns, entry_ns, oversleep_ns, length_ns;
	uint64_t
	    settle_ns; /* of virtual time at the start of each experiment that is not counted */
	uint32_t min_debt_ns;
	uint64_t quantum_ns; /* mode `quanta` with such quanta; 0: mode `value` */
	unsigned window;     /* samples that f is taken from, up to COZBPF_RING */
	unsigned rounds;     /* experiments per speedup */
	bool sleep;          /* pauses may sleep (config.sleep_pauses) */
	bool lumps;     /* credit at samples, by the time executed since the last one, instead of
			   continuously */
	bool oracle;    /* f is known at every moment: what is left of the error is the rules', not
			   sampling's */
	bool uprobe;    /* --sync=uprobe: edges from calls */
	bool told;      /* the rules know what samples cost */
	bool accounted; /* that is taken off virtual time; with told */
	bool waker;     /* the waker's L is taken outright */
	bool cold;      /* each experiment opens with a program that has just started */
	uint64_t seed;
};

static __attribute__((unused)) bool sim_is_line(const struct sim_case *c, unsigned line)
{
	return line && (line == SIM_SELECTED || line == c->other);
}

struct sim_thread {
	struct cozbpf_thread d;
	const struct sim_op *program;
	unsigned pc, cpu, line, children, parent;
	uint64_t remaining, timer_at, signal_at, signal_end, handler_end, wait_seq;
	uint64_t turn_at, came_at; /* an outsider's next turn; it got its CPU */
	bool outsider, alive, runs, blocked, spins, in_handler, signalled, hold;
	enum sim_kind wait_kind;
	unsigned wait_arg;
	const struct sim_op *call; /* the op whose probed call has begun */
	struct rng rng;
};

struct sim_cpu {
	struct cozbpf_cpu d;
	struct cozbpf_earner earner;
	struct sim_thread *cur, *queue[SIM_THREADS];
	unsigned n_queue;
	uint64_t at, free_at, slice_end, sample_at,
	    kick_at; /* progress is booked up to `at`; the program goes on from `free_at` */
};

struct sim {
	const struct sim_case *c;
	const struct sim_rules *r; /* NULL: no profiler */
	/* the selected line or sleep is really this much shorter; at 100 there are no locks */
	unsigned shorter_pct;
	uint64_t now, seq, visits, paced; /* paced: visits of threads that a periodic timer paces */
	uint64_t fed, pace_ns, bound_ns;  /* fed: of those that it paces or that are late */
	struct cozbpf_control x;
	struct cozbpf_bucket buckets[COZBPF_BUCKETS];
	struct sim_thread threads[SIM_THREADS];
	struct sim_cpu cpus[SIM_CPUS];
	bool locked[SIM_OBJECTS];
	unsigned waiting[SIM_OBJECTS], entries[SIM_OBJECTS];
	struct rng rng;
	uint64_t pauses, joins, in_pause, samples;
	uint32_t born;
};

#define SIM_SLICE_NS 3000000 /* the kernel's base slice on two CPUs */
#define SIM_SWITCH_NS 1500

static struct sim_rules sim_rules_default(void)
{
	return (struct sim_rules){
	    .period_ns =
		997000, /* off multiples of the programs' periods, as the product keeps it */
	    .signal_ns = 4000,
	    .exit_ns = 1000,
	    .sample_ns = 1000,
	    .oversleep_ns = 60000,
	    .length_ns = 500000000,
	    .min_debt_ns = 20000,
	    .window = COZBPF_RING,
	    .rounds = 30,
	    .seed = 42};
}

/* REFSIM="period=250000 sleep oracle ..." in the environment changes the rules for all cases. */
static __attribute__((unused)) struct sim_rules sim_rules_read(void)
{
	struct sim_rules r = sim_rules_default();
	const char *text = getenv("REFSIM");
	char word[32];
	int n;

	for (; text && sscanf(text, " %31s%n", word, &n) == 1; text += n) {
		unsigned long long v =
		    strchr(word, '=') ? strtoull(strchr(word, '=') + 1, NULL, 10) : 1;

		word[strcspn(word, "=")] = 0;
#define SIM_KNOB(id, field) else if (!strcmp(word, id)) r.field = (__typeof__(r.field))v
		if (0)
			;
		SIM_KNOB("period", period_ns);
		SIM_KNOB("signal", signal_ns);
		SIM_KNOB("sample", sample_ns);
		SIM_KNOB("entry", entry_ns);
		SIM_KNOB("told", told);
		SIM_KNOB("oversleep", oversleep_ns);
		SIM_KNOB("length", length_ns);
		SIM_KNOB("settle", settle_ns);
		SIM_KNOB("min_debt", min_debt_ns);
		SIM_KNOB("window", window);
		SIM_KNOB("rounds", rounds);
		SIM_KNOB("sleep", sleep);
		SIM_KNOB("quantum", quantum_ns);
		SIM_KNOB("lumps", lumps);
		SIM_KNOB("oracle", oracle);
		SIM_KNOB("accounted", accounted);
		SIM_KNOB("uprobe", uprobe);
		SIM_KNOB("waker", waker);
		SIM_KNOB("cold", cold);
		SIM_KNOB("seed", seed);
		else fprintf(stderr, "REFSIM: no knob '%s'\n", word);
#undef SIM_KNOB
	}
	return r;
}

#endif
