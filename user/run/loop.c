// SPDX-License-Identifier: BSD-3-Clause
/* The runs of a session: started, watched, signals passed on, until the last one has ended; see
 * loop.h. */
#include "run/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "run/action.h"
#include "run/choose.h"
#include "run/clock.h"
#include "run/handlers.h"
#include "run/interrupt.h"
#include "run/places.h"
#include "run/processes.h"
#include "run/profiling.h"
#include "run/runner.h"
#include "run/series.h"
#include "run/setup.h"
#include "run/tell.h"
#include "run/unwinder.h"

/* at least that often: progress line, mappings */
#define TICK_NS 250000000ULL
/* in a rest: the progress line, and what the target maps */
#define TICK_REST_NS 1000000000ULL
/* in which a command may end by itself when it is told to */
#define END_NS 5000000000ULL
/* while tables for unwinding are being made */
#define TICK_UNWIND_NS 10000000ULL

struct loop {
	struct runner *r;
	int signal_fd;
	/* of before; not in force while is_masked */
	sigset_t old_mask;
	bool is_masked;
	bool is_stopped; /* the command; experiments pause until it goes on */
	bool resumes;    /* they do so then: nobody has paused them besides */
	/* no further run, and no more of one of ours alone */
	bool interrupted;
	/* profiling is to end, by a key; the command goes on */
	bool quit;
	/* no run follows */
	bool is_over;
	/* nothing of ours is left in the command's processes */
	bool has_left;
	/* of this run: when it began, from when on -d counts, whether it is over */
	uint64_t started_ns, counted_ns;
	bool ended;
	/* a run before had status 0 */
	bool has_succeeded;
};

/* Signals that we take in the command's place: those that somebody sends to us are meant for the
 * command. */
static const int forwarded[] = {
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM, SIGWINCH};

static int open_signals(struct loop *l, struct error *e)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	sigaddset(&set, SIGCHLD);
	/* the terminal is given back first */
	if (console_has_view(&l->r->console))
		sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, l->is_masked ? NULL : &l->old_mask);
	l->is_masked = true;
	/* Debug information of a library that comes now may take long. */
	reading_stops_when(is_to_end);
	l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signal_fd < 0
		   ? error_set(e, EXIT_OTHER, "cannot read signals: %s", strerror(errno))
		   : 0;
}

/* Between two runs with the live view on the terminal no signal is to end us: the next run takes
 * the signal. */
static void close_signals(struct loop *l)
{
	if (l->signal_fd >= 0)
		close(l->signal_fd);
	l->signal_fd = -1;
	if (!l->is_masked || console_is_open(&l->r->console))
		return;
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
	l->is_masked = false;
}

static void apply(struct loop *l, enum run_action action, uint64_t now)
{
	struct runner *r = l->r;

	if (action == RUN_ACTION_QUIT)
		l->quit = true;
	else if (r->o.end_to_end)
		console_say(&r->console, "nothing can be paused: each run is one experiment");
	else if (r->o.duty)
		console_say(&r->console, "nothing is paused by a key: --duty decides");
	else if (l->is_stopped)
		l->resumes = action == RUN_ACTION_RESUME;
	else if (action == RUN_ACTION_PAUSE)
		experiments_pause(&r->experiments);
	else
		experiments_resume(&r->experiments, now);
}

/* We are to stop by @sig. Nobody would close an experiment meanwhile. */
static void stop_by(struct loop *l, int sig)
{
	struct experiment *x = &l->r->experiments.machine;
	bool was_paused = x->is_paused;

	experiments_pause(&l->r->experiments);
	console_stop(&l->r->console, sig);
	if (!was_paused)
		experiments_resume(&l->r->experiments, monotonic_ns());
}

/* Whether we are a shell's job in the foreground: the shell sees that a job has stopped, and lets
 * it go on. It sees no member of a job's group but the one that it has started. */
static bool is_foreground_job(void)
{
	int tty = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	bool ret = tty >= 0 && tcgetpgrp(tty) == getpid() && getsid(0) != getpid();

	if (tty >= 0)
		close(tty);
	return ret;
}

/* The command goes on, or another run begins. */
static void end_stop(struct loop *l)
{
	if (!l->is_stopped)
		return;
	l->is_stopped = false;
	experiment_spoil(&l->r->experiments.machine, SPOILT_STOP);
	if (l->resumes)
		experiments_resume(&l->r->experiments, monotonic_ns());
}

/* The command has stopped (Ctrl-Z, kill -STOP), and what was being measured is void. In a shell's
 * foreground job so do we, and when we go on, the command goes on. Elsewhere whoever has stopped
 * the command lets the command alone go on, so we wait for that. */
static void follow_stop(struct loop *l)
{
	struct target *t = &l->r->target;
	struct experiment *x = &l->r->experiments.machine;

	if (l->is_stopped && t->ops->has_continued(t))
		end_stop(l);
	if (!t->ops->has_stopped(t))
		return;
	experiment_spoil(x, SPOILT_STOP);
	if (is_foreground_job()) {
		stop_by(l, SIGSTOP);
		t->ops->go_on(t);
	} else if (!l->is_stopped) {
		l->is_stopped = true;
		l->resumes = !x->is_paused;
		experiments_pause(&l->r->experiments);
	}
}

static void take_signal(struct loop *l, const struct signalfd_siginfo *info)
{
	struct target *t = &l->r->target;
	int sig = (int)info->ssi_signo;
	unsigned effect;

	if (sig == SIGCHLD) {
		follow_stop(l);
		return;
	}
	if (sig == SIGTSTP) {
		stop_by(l, SIGTSTP);
		return;
	}
	if (sig == SIGWINCH || sig == SIGCONT)
		console_changed(&l->r->console);
	effect = t->ops->take_signal(t, info);
	if (effect & TARGET_SIGNAL_SPOILS)
		experiment_spoil(&l->r->experiments.machine, SPOILT_STOP);
	if (effect & TARGET_SIGNAL_ENDS)
		l->interrupted = l->r->is_interrupted = true;
}

static void take_signals(struct loop *l)
{
	struct signalfd_siginfo info;

	while (read(l->signal_fd, &info, sizeof(info)) == sizeof(info))
		take_signal(l, &info);
}

static bool has_ended(struct loop *l)
{
	struct target *t = &l->r->target;

	l->ended = l->ended || t->ops->has_ended(t);
	return l->ended;
}

/* A run that has no end of its own ends when we are told to. */
static bool is_left(const struct loop *l)
{
	return l->quit || (!l->r->target.ops->restarts && l->interrupted);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Until the next tick, whatever is due. */
static uint64_t longest(const struct runner *r)
{
	if (unwinder_waits(&r->files))
		return TICK_UNWIND_NS;
	return session_is_asleep(r->session) ? TICK_REST_NS : TICK_NS;
}

/* The experiments' timer wants a sharper wake-up than poll's whole milliseconds. A target that has
 * ended would wake us at once. */
static void wait_until(struct loop *l, uint64_t due, uint64_t now)
{
	struct runner *r = l->r;
	struct pollfd fds[] = {{.fd = l->signal_fd, .events = POLLIN},
	    {.fd = l->ended ? -1 : target_fd(&r->target), .events = POLLIN},
	    {.fd = session_event_fd(r->session), .events = POLLIN},
	    {.fd = console_fd(&r->console), .events = POLLIN},
	    {.fd = guard_fd(&r->series.guard), .events = POLLIN},
	    {.fd = run_peers_fd(r->peers), .events = POLLIN}};
	uint64_t next = least(least(due, handlers_next(&r->target)), console_next(&r->console)),
		 ns = least(next > now ? next - now : 0, longest(r));
	struct timespec t = {(time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL)};

	if (ppoll(fds, sizeof(fds) / sizeof(*fds), &t, NULL) > 0 &&
	    fds[3].revents & (POLLHUP | POLLERR | POLLNVAL))
		console_lost(&r->console);
}

static uint64_t step_experiments(struct runner *r, uint64_t now)
{
	struct error lost;
	uint64_t due;

	while (experiments_step(&r->experiments, now, &due))
		handlers_unblock(&r->target, now);
	if (session_lost_cpu(r->session, &lost))
		console_say(&r->console,
		    "warning: %s; experiments do not count until that is possible", lost.cause);
	return due;
}

/* What keys ask for, and a picture or a progress line, unless something is due at @due. */
static void show(struct loop *l, uint64_t due)
{
	struct runner *r = l->r;
	uint64_t now = monotonic_ns();
	enum run_action action;

	while ((action = console_keys(&r->console, r->experiments.machine.is_paused)))
		apply(l, action, now);
	run_show(r, now, due);
}

/* What has become of the target's processes, which have joined, and who else would have them. */
static void look_after_target(struct runner *r, uint64_t now, bool is_awaited)
{
	processes_rescan(&r->target, now, is_awaited);
	r->target.ops->join(&r->target, now);
	target_answer(&r->target, now);
}

/* What is due in one tick, and waiting for the next one. True: profiling is over. */
static bool tick(struct loop *l, uint64_t now, uint64_t end)
{
	struct runner *r = l->r;
	uint64_t due;

	if (now >= end || is_left(l))
		return true;
	look_after_target(r, now, places_awaited(&r->points));
	if (r->o.duty && series_rests(r, now, &due)) {
		show(l, due);
		wait_until(l, least(due, end), monotonic_ns());
		return false;
	}
	target_read_quotas(&r->target, now);
	if (run_settled(r, now))
		return true;
	run_look(r, now);
	points_watch(&r->points, now);
	due = step_experiments(r, now);
	show(l, due);
	wait_until(l, least(due, end), monotonic_ns());
	return false;
}

static uint64_t end_of_time(const struct loop *l, uint64_t from)
{
	uint64_t duration = l->r->o.duration_ns;

	return duration && duration < UINT64_MAX - from ? from + duration : UINT64_MAX;
}

/* Watches the target as it is until a progress point is chosen, or until it ends. -1 with @e. */
static int choose(struct loop *l, struct error *e)
{
	struct runner *r = l->r;
	enum choose_state state = CHOICE_OPEN;
	uint64_t now = l->started_ns, due = now;

	if (choose_begin(r, now, e))
		return -1;
	while (state == CHOICE_OPEN) {
		session_events(r->session, run_on_event, r);
		take_signals(l);
		now = monotonic_ns();
		if (has_ended(l) || is_left(l) ||
		    (choose_is_idle(r) && now >= end_of_time(l, l->started_ns)))
			break;
		look_after_target(r, now, false);
		state = choose_step(r, now, &due, e);
		if (state == CHOICE_OPEN)
			wait_until(l, due, monotonic_ns());
	}
	choose_end(r);
	l->counted_ns = state == CHOICE_MADE ? monotonic_ns() : l->started_ns;
	return state == CHOICE_FAILED ? -1 : 0;
}

/* Of a run that counts as a whole, the end: a failure comes early and would look like a gain. A
 * command whose status is never 0 does not fail by that. */
static void judge_end(struct loop *l)
{
	bool succeeded = !l->r->target.exit_status;

	take_signals(l); /* which may have come together with the end */
	if (l->interrupted || (!succeeded && l->has_succeeded))
		experiment_spoil(&l->r->experiments.machine, SPOILT_CUT);
	l->has_succeeded |= succeeded;
}

/* Profiles until the target has ended by itself, or its time of being profiled. */
static void watch(struct loop *l)
{
	struct runner *r = l->r;
	uint64_t now, end = end_of_time(l, l->counted_ns);

	run_open_view(r);
	if (r->o.duty)
		series_begin(r, monotonic_ns());
	else
		profiling_begin(r, l->started_ns);
	do {
		session_events(r->session, run_on_event, r);
		take_signals(l);
		now = monotonic_ns();
	} while (!has_ended(l) && !tick(l, now, end));
	if (r->o.end_to_end && l->ended)
		judge_end(l);
	if (r->o.duty)
		series_end(r, now, l->ended);
	else
		profiling_end(r, now, l->ended);
}

/* After -d: the command goes on to its end, unprofiled. */
static void wait_for_end(struct loop *l)
{
	struct runner *r = l->r;

	console_close(&r->console);
	console_clear_progress(&r->console);
	console_say(&r->console, "profiling has ended; waiting for the command to end");
	while (!has_ended(l)) {
		struct pollfd fds[] = {{.fd = l->signal_fd, .events = POLLIN},
		    {.fd = target_fd(&r->target), .events = POLLIN}};

		poll(fds, 2, -1);
		take_signals(l);
	}
}

/* With --duty each series begins a run of its own. */
static int begin_file(struct runner *r, struct error *e)
{
	return r->o.duty ? 0 : profiling_write_startup(r, e);
}

/* The target exists, and runs. -1 with @e. */
static int begin(struct loop *l, struct error *e)
{
	struct runner *r = l->r;
	struct target *t = &r->target;

	l->ended = false;
	end_stop(l);
	l->started_ns = 0;
	if (t->ops->hold(t, &r->mask, r->points.has_counters, e))
		return -1;
	/* Threads of processes that run already may have been sampled to find out what runs most.
	 */
	if (!r->o.suggests && !r->blocks)
		recorder_skip(&r->recorder);
	debuginfod_hurry(&r->debuginfod);
	if (r->blocks)
		blocks_begin_run(r->blocks);
	if ((!r->points.is_open && begin_file(r, e)) || t->ops->start(t, e))
		return -1;
	l->started_ns = l->counted_ns = monotonic_ns();
	return 0;
}

/* A command that goes on after its time is left to itself, and waited for. */
static void leave(struct loop *l, bool is_last)
{
	struct target *t = &l->r->target;

	if (l->ended || !l->started_ns || !t->ops->restarts)
		return;
	if (is_last)
		t->ops->leave(t);
	l->has_left = is_last;
	wait_for_end(l);
}

/* After the last run. A command may leave processes behind, also such that nobody has told of.
 * Signals are ours still: one would end us in the middle. */
static void leave_behind(struct loop *l)
{
	struct target *t = &l->r->target;

	if (t->ops->restarts && (t->processes || t->injected_since) && !l->has_left)
		t->ops->leave(t);
}

/* One run of the command, from fork to exit; of processes that run already, all of it. */
static int run_once(struct loop *l, bool is_last, struct error *e)
{
	struct runner *r = l->r;
	int err = open_signals(l, e) || begin(l, e) ||
			  (r->points.is_open && (choose(l, e) || begin_file(r, e)))
		      ? -1
		      : 0;

	if (!err)
		watch(l);
	is_last |= err || r->answer.settled || l->quit;
	leave(l, is_last);
	l->is_over = is_last || l->interrupted || run_settled(r, monotonic_ns());
	if (l->is_over) {
		console_close(&r->console);
		leave_behind(l);
	}
	r->target.ops->release(&r->target);
	close_signals(l);
	return err;
}

int loop_run(struct runner *r, struct error *e)
{
	struct loop l = {.r = r, .signal_fd = -1};
	int err = 0;

	for (uint64_t run = 0; !l.is_over; run++)
		err = run_once(&l, run + 1 == r->o.runs, e);
	return err;
}

int loop_suggest(struct runner *r, struct error *e)
{
	struct loop l = {.r = r, .signal_fd = -1};
	int found = -1;

	if (open_signals(&l, e))
		return -1;
	if (!begin(&l, e) && !choose(&l, e))
		found = choose_print(r);
	leave(&l, true);
	r->target.ops->release(&r->target);
	close_signals(&l);
	return found;
}

/* Watches blocks until the target has ended, or its time has come. */
static void watch_blocks(struct loop *l)
{
	struct runner *r = l->r;
	uint64_t now, due = 0, end = end_of_time(l, l->started_ns);

	do {
		if (due)
			wait_until(l, least(due, end), monotonic_ns());
		session_events(r->session, run_on_event, r);
		take_signals(l);
		now = monotonic_ns();
		session_watch(r->session);
		look_after_target(r, now, false);
		blocks_step(r->blocks, now, &due);
	} while (!has_ended(l) && now < end && !is_left(l));
	blocks_end_run(r->blocks, now, l->ended);
}

/* A command that is not over in its time is told to end, and then made to. */
static void end_command(struct loop *l)
{
	struct target *t = &l->r->target;
	uint64_t now = monotonic_ns(), last = now + END_NS;
	bool is_killed = false;

	if (!t->ops->restarts || has_ended(l))
		return;
	session_events(l->r->session, run_on_event, l->r);
	t->ops->send(t, SIGTERM);
	t->ops->send(t, SIGCONT);
	/* A process whose end was not told of is not waited for for ever. */
	while (!has_ended(l) || (t->processes && now < last + END_NS)) {
		wait_until(l, is_killed ? now + TICK_NS : last, now);
		session_events(l->r->session, run_on_event, l->r);
		take_signals(l);
		session_watch(l->r->session);
		now = monotonic_ns();
		/* A handler that is due would not let us wait. */
		processes_rescan(&l->r->target, now, false);
		if (now < last || is_killed)
			continue;
		t->ops->send(t, SIGKILL);
		is_killed = true;
	}
}

/* 1; 0: a line of inputs does not start, which is said; -1 with @e where there are none. */
static int start_blocks(struct loop *l, uint64_t run, struct error *e)
{
	struct runner *r = l->r;

	if (r->target.ops->restarts) {
		r->o.command = blocks_command(r->blocks, run)->argv;
		r->target.exit_status = r->target.ended_by = 0;
	}
	if ((!r->target.ops->restarts || !r->target.ops->find(&r->target, e)) && !begin(l, e))
		return 1;
	if (!r->target.ops->restarts || !blocks_command(r->blocks, run)->line)
		return -1;
	blocks_not_started(r->blocks, run, e);
	return 0;
}

static int blocks_once(struct loop *l, uint64_t run, struct error *e)
{
	struct runner *r = l->r;
	int err = open_signals(l, e) ? -1 : start_blocks(l, run, e);

	if (err > 0) {
		watch_blocks(l);
		end_command(l);
		err = blocks_record(r->blocks, run, e);
	}
	l->is_over = err || l->interrupted || run + 1 == r->o.runs;
	if (l->is_over)
		leave_behind(l);
	r->target.ops->release(&r->target);
	close_signals(l);
	return err;
}

int loop_blocks(struct runner *r, bool *ret_whole, struct error *e)
{
	struct loop l = {.r = r, .signal_fd = -1};
	int err = 0;

	for (uint64_t run = 0; !l.is_over; run++)
		err = blocks_once(&l, run, e);
	*ret_whole = !err && !l.interrupted;
	return err;
}
