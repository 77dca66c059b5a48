// SPDX-License-Identifier: BSD-3-Clause
/* When processes get the pause handler, and when it is taken out again; see handlers.h. */
#include "run/handlers.h"

#include <elf.h>
#include <stdlib.h>
#include <time.h>

#include "kernel/session.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/options.h"
#include "run/target.h"
#include "target/filters.h"
#include "target/procfs.h"

#define PRELOAD_NS 5000000ULL /* from the exec to the shim's constructor, generously */
/* Each look comes twice as late as the last, so the last one 2.5 s after the exec. */
#define SHIM_LOOKS 9
#define UNBLOCK_NS 1000000000ULL /* between two looks at who blocks the signal */
/* pauses that could not be asked for since the last one; libc blocks all signals for a moment now
 * and then */
#define UNBLOCK_ASKS 10
/* from the last sample program's end to the delivery of what it has sent */
#define DRAIN_NS 2000000ULL
/* somebody else may hold the process for a moment */
#define REMOVE_TRIES 5
#define FILTER_TRIES 3
#define REMOVE_PAUSE_NS 50000000
/* for children that nobody has told of, and those that they fork while we look for them */
#define MISSED_LOOKS 4

void handlers_forget(struct process *p)
{
	inject_forget(&p->injection);
	p->injected = false;
}

/* A new program image: what was injected is gone. One with the shim preloaded helps itself. */
void handlers_after_exec(struct target *t, struct process *p)
{
	struct signal_masks masks;
	struct error e;
	bool is_taken;

	handlers_forget(p);
	p->filters_bad = false; /* threads that had them are gone */
	p->filter_tries = 0;
	p->shim_ns = monotonic_ns() + PRELOAD_NS;
	p->shim_looks = 0;
	if (target_preloads(t) && procfs_auxv(p->pid, AT_BASE) && !procfs_auxv(p->pid, AT_SECURE) &&
	    procfs_has_variable(p->pid, "COZBPF_SIGNAL="))
		return;
	/* No preloaded library reaches it: it is static (there is no interpreter), setuid, its
	 * environment was cleared, or it was not started by us. */
	is_taken = procfs_signals(p->pid, procfs_live_thread(p->pid), &masks) &&
		   inject_all_handled(&masks);
	if (!handlers_inject(t, p, &e)) {
		p->shim_ns = is_taken ? 0 : monotonic_ns() + PRELOAD_NS;
	} else if (procfs_live_thread(p->pid)) {
		/* None while it ends. */
		if (procfs_has_memory(p->pid))
			console_say(t->console, "warning: %s", e.cause);
		p->shim_ns = monotonic_ns() + PRELOAD_NS; /* it may only have been busy */
	}
}

void handlers_after_fork(struct process *child, const struct process *parent)
{
	child->shim_ns = 0;
	child->injected = parent && parent->injected;
	if (!child->injected)
		return;
	child->injection = parent->injection;
	child->injection.pid = child->pid;
	child->injection.start = child->start;
	child->injection.inherited = true;
	child->injection.unblocked = NULL; /* threads of the parent */
	child->injection.n_unblocked = 0;
	child->blocked = 0;
}

int handlers_inject(struct target *t, struct process *p, struct error *e)
{
	p->shim_ns = 0;
	if (run_only_watches(t->o))
		return 0;

	if (!t->injected_since)
		t->injected_since = procfs_now();
	/* of a preloaded handler that is gone */
	inject_forget(&p->injection);
	if (inject(p->pid, t->signal, session_pause_mode(t->session)->quantum_ns, &p->injection, e))
		return -1;
	p->injected = true;
	if (t->o->verbose)
		console_say(t->console,
		    "process %d: pause handler injected, signal %d%s%s; a thread stood still for "
		    "%.2f ms",
		    p->pid, t->signal, p->injection.reused ? ", in a page that was left there" : "",
		    p->injection.n_unblocked ? ", unblocked" : "",
		    (double)p->injection.held_ns / 1e6);
	return 0;
}

void handlers_look(struct target *t, struct process *p, uint64_t now)
{
	struct signal_masks masks;
	struct error e;
	bool is_handled, is_taken, failed;

	p->shim_ns = 0;
	if (!procfs_signals(p->pid, procfs_live_thread(p->pid), &masks))
		return;
	is_handled = masks.caught >> (t->signal - 1) & 1;
	is_taken = inject_all_handled(&masks);
	failed = (!is_handled || is_taken) && handlers_inject(t, p, &e);
	if (failed && t->o->verbose)
		console_say(t->console, "%s", e.cause);
	/* A runtime that takes the signal does so once, as it starts. */
	if ((failed || !is_taken) && ++p->shim_looks < SHIM_LOOKS)
		p->shim_ns = now + (PRELOAD_NS << p->shim_looks);
}

/* The process has seccomp filters that nobody has looked at. They are looked at once more when they
 * are trusted: one may have come meanwhile. No pause is asked for in between. */
static void check_filters(const struct target *t, struct process *p)
{
	struct error e;

	if (!filters_check(p->pid, &e)) {
		session_trust_filters(t->session, p->pid, true);
		if (!filters_check(p->pid, &e)) {
			if (t->o->verbose && filters_any(p->pid))
				console_say(t->console,
				    "process %d: its seccomp filters let pauses be", p->pid);
			return;
		}
		session_trust_filters(t->session, p->pid, false);
	}
	/* A thread that could not be held may only have been busy. */
	p->filters_bad = ++p->filter_tries >= FILTER_TRIES;
	if (p->filters_bad && procfs_live_thread(p->pid))
		console_say(t->console, "warning: %s", e.cause);
}

void handlers_check_filters(const struct target *t)
{
	for (struct process *p = t->processes; p; p = p->next) {
		if (p->filters_known || !p->injected)
			continue;
		p->filters_known = true;
		if (filters_any(p->pid))
			check_filters(t, p);
	}
}

/* The handler came by the preloaded library: nothing was injected. */
static void name_process(const struct target *t, struct process *p)
{
	if (p->injected || p->injection.pid == p->pid)
		return;
	p->injection.pid = p->pid;
	p->injection.start = p->start;
	p->injection.signal = t->signal;
}

void handlers_unblock(struct target *t, uint64_t now)
{
	if (now < t->unblock_ns)
		return;
	t->unblock_ns = now + UNBLOCK_NS;
	for (struct process *p = t->processes; p; p = p->next) {
		struct cozbpf_proc_stats stats;
		unsigned known = p->injection.n_unblocked;

		session_process(t->session, p->pid, &stats);
		if (stats.filtered > p->filtered && !p->filters_bad)
			check_filters(t, p);
		p->filtered = stats.filtered;
		if (!p->injected && !target_preloads(t))
			continue;
		/* Counts begin anew where the process has made room for another one's. */
		if (stats.blocked > p->blocked + UNBLOCK_ASKS) {
			name_process(t, p);
			inject_unblock(&p->injection);
		}
		p->blocked = stats.blocked;
		if (t->o->verbose && p->injection.n_unblocked > known)
			console_say(t->console,
			    "process %d: signal %d unblocked in %u threads that had come to block "
			    "it",
			    p->pid, t->signal, p->injection.n_unblocked - known);
	}
}

uint64_t handlers_next(const struct target *t)
{
	uint64_t next = UINT64_MAX;

	for (const struct process *p = t->processes; p; p = p->next)
		if (p->shim_ns && p->shim_ns < next)
			next = p->shim_ns;
	return next;
}

/* Whether nothing leads to the handler any more. */
static bool take_back(const struct target *t, struct injection *i)
{
	const struct timespec pause = {0, REMOVE_PAUSE_NS};
	struct error e;
	bool left;
	int err = inject_remove(i, &left, &e);

	for (int tries = 1; err && tries < REMOVE_TRIES; tries++) {
		nanosleep(&pause, NULL);
		err = inject_remove(i, &left, &e);
	}
	if (err)
		console_say(t->console, "warning: %s", e.cause);
	else if (t->o->verbose)
		console_say(t->console,
		    "process %d: pause handler taken out%s; a thread stood still for %.2f ms",
		    i->pid, left ? "" : " of use, its page left there", (double)i->held_ns / 1e6);
	return !err;
}

struct missed {
	const struct target *t;
	unsigned found; /* in this look */
	/* those that have been tried: a page may stay, and what has failed fails again */
	int *tried;
	size_t n_tried;
};

static bool was_tried(const struct missed *m, int pid)
{
	for (size_t i = 0; i < m->n_tried; i++)
		if (m->tried[i] == pid)
			return true;
	return false;
}

static void add_tried(struct missed *m, int pid)
{
	int *bigger = realloc(m->tried, (m->n_tried + 1) * sizeof(*bigger));

	if (!bigger)
		return;
	m->tried = bigger;
	bigger[m->n_tried++] = pid;
}

static void take_back_missed(int pid, void *arg)
{
	struct missed *m = arg;
	struct injection i;

	if (procfs_start(pid) < m->t->injected_since || was_tried(m, pid))
		return;
	for (const struct process *p = m->t->processes; p; p = p->next)
		if (p->pid == pid && p->injected)
			return;
	if (!inject_inherited(pid, m->t->signal, &i))
		return;
	add_tried(m, pid);
	m->found += take_back(m->t, &i);
}

/* Children that nobody has told of: not followed, forked before the hooks were there, or an event
 * was lost. They inherit what their parents have until now. */
static void take_back_all_missed(const struct target *t)
{
	struct missed missed = {.t = t};

	for (int i = 0; t->injected_since && i < MISSED_LOOKS; i++) {
		missed.found = 0;
		procfs_processes(take_back_missed, &missed);
		if (!missed.found)
			break;
	}
	free(missed.tried);
}

void handlers_wait_for_pauses(const struct target *t)
{
	uint64_t horizon = session_pause_horizon(t->session), now = monotonic_ns(),
		 wait = horizon > now ? horizon - now : 0;
	const struct timespec pause = {
	    0, (long)((wait < COZBPF_PAUSE_MAX_NS ? wait : COZBPF_PAUSE_MAX_NS) + DRAIN_NS)};

	nanosleep(&pause, NULL);
}

void handlers_take_back(struct target *t)
{
	handlers_wait_for_pauses(t);
	for (struct process *p = t->processes; p; p = p->next) {
		if (p->injected && procfs_live_thread(p->pid))
			take_back(t, &p->injection);
		else
			inject_block_again(&p->injection); /* the preloaded handler stays */
	}
	take_back_all_missed(t);
	for (struct process *p = t->processes; p; p = p->next)
		handlers_forget(p);
}
