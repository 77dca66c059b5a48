// SPDX-License-Identifier: BSD-3-Clause
/* One run of the command: started, watched, its signals passed on, until it has ended. */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "run/handlers.h"
#include "run/places.h"
#include "run/processes.h"
#include "run/unwinder.h"
#include "target/tracee.h"

#define TICK_NS 250000000ULL       /* at least that often: progress line, mappings */
#define TICK_UNWIND_NS 10000000ULL /* while tables for unwinding are being made */
#define TICK_LATE_MS 20            /* while a thread is yet to stop, to be let go */

/* Signals that we take in their place: those that somebody sends to us are meant for the command.
 */
static const int forwarded[] = {
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM, SIGWINCH};

static int open_signals(struct runner *r, struct error *e)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	sigaddset(&set, SIGCHLD);
	if (r->console.view)
		sigaddset(&set, SIGTSTP); /* the terminal is given back first */
	sigprocmask(SIG_BLOCK, &set, r->loop.is_masked ? NULL : &r->loop.old_mask);
	r->loop.is_masked = true;
	r->loop.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->loop.signal_fd < 0
		   ? error_set(e, EXIT_OTHER, "cannot read signals: %s", strerror(errno))
		   : 0;
}

/* Between two runs with the live view on the terminal no signal is to end us: the next run takes
 * it. */
void run_close_signals(struct runner *r)
{
	if (r->loop.signal_fd >= 0)
		close(r->loop.signal_fd);
	r->loop.signal_fd = -1;
	if (!r->loop.is_masked || run_view_shown(r))
		return;
	sigprocmask(SIG_SETMASK, &r->loop.old_mask, NULL);
	r->loop.is_masked = false;
}

/* The command has stopped (Ctrl-Z, kill -STOP): so do we, and what was being measured is void. When
 * we go on, it goes on. */
static void follow_stop(struct runner *r)
{
	if (!r->target.ops->has_stopped(&r->target))
		return;
	r->experiments.spoilt = SPOILT_STOP;
	run_view_stop(r, SIGSTOP);
	r->experiments.spoilt = SPOILT_STOP;
	r->target.ops->go_on(&r->target);
}

static void take_signals(struct runner *r)
{
	struct signalfd_siginfo info;

	while (read(r->loop.signal_fd, &info, sizeof(info)) == sizeof(info)) {
		int sig = (int)info.ssi_signo;
		unsigned effect;

		if (sig == SIGCHLD) {
			follow_stop(r);
			continue;
		}
		if (sig == SIGTSTP) {
			run_view_stop(r, SIGTSTP);
			continue;
		}
		if (sig == SIGWINCH || sig == SIGCONT)
			run_view_changed(r);
		effect = r->target.ops->take_signal(&r->target, &info);
		if (effect & TARGET_SIGNAL_SPOILS)
			r->experiments.spoilt = SPOILT_STOP;
		if (effect & TARGET_SIGNAL_ENDS)
			r->loop.interrupted = true;
	}
}

static bool has_ended(struct runner *r)
{
	return r->target.ops->has_ended(&r->target);
}

/* The experiments' timer wants a sharper wake-up than poll's whole milliseconds. */
static void wait_until(struct runner *r, uint64_t due, uint64_t now)
{
	struct pollfd fds[] = {{.fd = r->loop.signal_fd, .events = POLLIN},
	    {.fd = target_fd(&r->target), .events = POLLIN},
	    {.fd = session_event_fd(r->session), .events = POLLIN},
	    {.fd = run_view_fd(r), .events = POLLIN}};
	uint64_t shim = handlers_next(&r->target), view = run_view_next(r),
		 first = due < shim ? due : shim, next = first < view ? first : view,
		 ns = next > now ? next - now : 0,
		 tick = unwinder_waits(&r->files) ? TICK_UNWIND_NS : TICK_NS;
	struct timespec t;

	if (ns > tick)
		ns = tick;
	t = (struct timespec){(time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL)};
	if (ppoll(fds, 4, &t, NULL) > 0 && fds[3].revents & (POLLHUP | POLLERR | POLLNVAL))
		run_view_lost(r);
}

static void stop_profiling(struct runner *r, uint64_t now, bool target_ended)
{
	if (!r->loop.profiling)
		return;
	run_end(r, now, target_ended);
	r->recorder.throttled_ns += target_end_quotas(&r->target);
	run_write_totals(r, now);
	r->loop.profiling = false;
}

/* Profiles; whether the target has ended by itself, rather than its time of being profiled. */
static bool watch(struct runner *r)
{
	uint64_t end, now, due;

	r->recorder.started_ns = monotonic_ns();
	target_begin_quotas(&r->target, r->recorder.started_ns);
	end = r->o.duration_ns ? r->recorder.started_ns + r->o.duration_ns : UINT64_MAX;
	r->loop.profiling = true;
	run_view_open(r);
	run_begin(r, r->recorder.started_ns);
	while (1) {
		session_events(r->session, run_on_event, r);
		take_signals(r);
		now = monotonic_ns();
		if (has_ended(r)) {
			stop_profiling(r, now, true);
			return true;
		}
		if (now >= end || r->loop.quit || (!r->target.ops->restarts && r->loop.interrupted))
			break;
		processes_rescan(&r->target, now, places_awaited(&r->points));
		r->target.ops->join(&r->target, now);
		target_read_quotas(&r->target, now);
		if (run_settled(r, now))
			break;
		run_look(r, now);
		points_watch(&r->points, now);
		due = run_step(r, now);
		run_view_step(r, monotonic_ns(), due);
		run_progress_line(r, now);
		wait_until(r, due < end ? due : end, monotonic_ns());
	}
	stop_profiling(r, now, false);
	return false;
}

/* After -d: the command goes on to its end, unprofiled. */
static void wait_for_end(struct runner *r)
{
	run_view_close(r);
	run_progress_clear(r);
	r->console.progress_shown = false;
	if (!r->o.quiet)
		run_say(r, "profiling has ended; waiting for the command to end");
	while (!has_ended(r)) {
		struct pollfd fds[] = {{.fd = r->loop.signal_fd, .events = POLLIN},
		    {.fd = target_fd(&r->target), .events = POLLIN}};

		poll(fds, 2, tracee_settle() ? TICK_LATE_MS : -1);
		take_signals(r);
	}
}

static int write_startup(struct runner *r, struct error *e)
{
	struct run_record start = {0};
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	start.startup_time_ns = (uint64_t)wall.tv_sec * 1000000000ULL + (uint64_t)wall.tv_nsec;
	for (size_t i = 0; i < r->o.n_speedups; i++)
		start.fixed_speedups += r->o.speedups[i] > 0;
	r->experiments.delayed_ns = 0;
	r->experiments.dropped = 0;
	return run_write_startup(r, &start, e);
}

int run_once(struct runner *r, struct error *e)
{
	struct target *t = &r->target;
	bool ended, is_last;
	int err;

	if (open_signals(r, e))
		return -1;
	err = t->ops->hold(t, &r->loop.old_mask, r->points.has_counters, e) ||
		      write_startup(r, e) || t->ops->start(t, e)
		  ? -1
		  : 0;
	ended = err || watch(r);
	is_last = r->recorder.run + 1 >= r->o.runs || r->answer.settled || r->loop.quit;
	if (!ended && t->ops->restarts) {
		if (is_last)
			t->ops->leave(t);
		wait_for_end(r);
	}
	if (is_last)
		run_view_close(r);
	t->ops->release(t);
	run_close_signals(r);
	return err;
}
