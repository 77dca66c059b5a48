// SPDX-License-Identifier: BSD-3-Clause
/* One run of the command: started, watched, its signals passed on, until it has ended. */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/tell.h"
#include "target/owner.h"
#include "target/tracee.h"

#define TICK_NS 250000000ULL       /* at least that often: progress line, mappings */
#define TICK_UNWIND_NS 10000000ULL /* while tables for unwinding are being made */
#define TICK_LATE_MS 20            /* while a thread is yet to stop, to be let go */
#define QUOTA_NS 250000000ULL /* how often throttled time is read on: a few files, 20 us each */

/* Signals that we take in their place: those that somebody sends to us are meant for the command.
 */
static const int forwarded[] = {
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM, SIGWINCH};

int run_open_signals(struct runner *r, struct error *e)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	sigaddset(&set, SIGCHLD);
	if (console_has_view(&r->console))
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
	if (!r->loop.is_masked || console_is_open(&r->console))
		return;
	sigprocmask(SIG_SETMASK, &r->loop.old_mask, NULL);
	r->loop.is_masked = false;
}

/* We are to stop, and nobody would close the experiment meanwhile. */
static void stop(struct runner *r, int sig)
{
	bool was_paused = r->experiments.is_paused;

	run_pause(r);
	console_stop(&r->console, sig);
	if (!was_paused)
		run_resume(r, monotonic_ns());
}

/* The command has stopped (Ctrl-Z, kill -STOP): so do we, and what was being measured is void. When
 * we go on, it goes on. */
static void follow_stop(struct runner *r)
{
	siginfo_t info = {0};

	if (r->target.attached ||
	    waitid(P_PID, (id_t)r->target.launch.pid, &info, WSTOPPED | WNOHANG) || !info.si_pid)
		return;
	r->experiments.spoilt = SPOILT_STOP;
	stop(r, SIGSTOP);
	r->experiments.spoilt = SPOILT_STOP;
	kill(r->target.launch.pid, SIGCONT);
}

static void take_signals(struct runner *r)
{
	struct signalfd_siginfo info;

	while (read(r->loop.signal_fd, &info, sizeof(info)) == sizeof(info)) {
		int sig = (int)info.ssi_signo;

		if (sig == SIGCHLD) {
			follow_stop(r);
			continue;
		}
		if (sig == SIGTSTP) {
			stop(r, SIGTSTP);
			continue;
		}
		if (sig == SIGWINCH || sig == SIGCONT)
			console_changed(&r->console);
		if (r->target.attached) {
			if (sig != SIGCONT && sig != SIGWINCH)
				r->loop.interrupted = true; /* it is for us alone */
			continue;
		}
		if (sig == SIGCONT)
			r->experiments.spoilt = SPOILT_STOP; /* the terminal has stopped us together
						    with the command, which goes on already */
		if (sig == SIGINT || sig == SIGTERM || sig == SIGQUIT || sig == SIGHUP)
			r->loop.interrupted = true; /* no further run of -n */
		/* The terminal sends to its whole foreground group, the command included; anybody
		 * else has sent to us alone. */
		if (info.ssi_code <= 0 && (int)info.ssi_pid != r->target.launch.pid)
			kill(r->target.launch.pid, sig);
	}
}

static bool has_ended(struct runner *r)
{
	int status;

	if (r->target.attached)
		return run_attach_ended(r);
	if (waitpid(r->target.launch.pid, &status, WNOHANG) != r->target.launch.pid)
		return false;
	r->target.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

/* The experiments' timer wants a sharper wake-up than poll's whole milliseconds. */
static void wait_until(struct runner *r, uint64_t due, uint64_t now)
{
	struct pollfd fds[] = {{.fd = r->loop.signal_fd, .events = POLLIN},
	    {.fd = r->target.launch.pidfd, .events = POLLIN},
	    {.fd = session_event_fd(r->session), .events = POLLIN},
	    {.fd = console_fd(&r->console), .events = POLLIN}};
	uint64_t shim = run_inject_next(r), view = console_next(&r->console),
		 first = due < shim ? due : shim, next = first < view ? first : view,
		 ns = next > now ? next - now : 0,
		 tick = run_unwind_waits(r) ? TICK_UNWIND_NS : TICK_NS;
	struct timespec t;

	if (ns > tick)
		ns = tick;
	t = (struct timespec){(time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL)};
	if (ppoll(fds, 4, &t, NULL) > 0 && fds[3].revents & (POLLHUP | POLLERR | POLLNVAL))
		console_lost(&r->console);
}

/* Whose CPU quotas hold the target back; a command begins in our group. */
static void watch_quotas(struct runner *r)
{
	quota_deinit(&r->target.quota);
	if (!r->target.attached)
		quota_watch(&r->target.quota, getpid());
	for (unsigned i = 0; i < r->target.n_attached; i++)
		quota_watch(&r->target.quota, r->target.attached[i].pid);
	r->target.quota_ns = r->recorder.started_ns + QUOTA_NS;
}

static void stop_profiling(struct runner *r, uint64_t now, bool target_ended)
{
	if (!r->loop.profiling)
		return;
	run_end(r, now, target_ended);
	quota_update(&r->target.quota);
	r->recorder.throttled_ns += quota_throttled_ns(&r->target.quota);
	run_write_totals(r, now);
	r->loop.profiling = false;
}

bool run_watch(struct runner *r)
{
	uint64_t end, now, due;

	r->recorder.started_ns = monotonic_ns();
	watch_quotas(r);
	end = r->o.duration_ns ? r->recorder.started_ns + r->o.duration_ns : UINT64_MAX;
	r->loop.profiling = true;
	run_open_view(r);
	run_begin(r, r->recorder.started_ns);
	while (1) {
		session_events(r->session, run_on_event, r);
		take_signals(r);
		now = monotonic_ns();
		if (has_ended(r)) {
			stop_profiling(r, now, true);
			return true;
		}
		if (now >= end || r->loop.quit || (r->target.attached && r->loop.interrupted))
			break;
		run_rescan(r, now);
		run_attach_join(r, now);
		if (now >= r->target.quota_ns) {
			quota_update(&r->target.quota);
			r->target.quota_ns = now + QUOTA_NS;
		}
		if (run_settled(r, now))
			break;
		run_look(r, now);
		run_points_watch(r, now);
		due = run_step(r, now);
		run_console(r, now, due);
		wait_until(r, due < end ? due : end, monotonic_ns());
	}
	stop_profiling(r, now, false);
	return false;
}

/* After -d: the command goes on to its end, unprofiled. */
static void wait_for_end(struct runner *r)
{
	console_close(&r->console);
	console_clear_progress(&r->console);
	console_say(&r->console, "profiling has ended; waiting for the command to end");
	while (!has_ended(r)) {
		struct pollfd fds[] = {{.fd = r->loop.signal_fd, .events = POLLIN},
		    {.fd = r->target.launch.pidfd, .events = POLLIN}};

		poll(fds, 2, tracee_settle() ? TICK_LATE_MS : -1);
		take_signals(r);
	}
}

int run_start(struct runner *r, struct error *e)
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
	struct launch_options o = {.argv = r->o.command,
	    .path = r->target.path,
	    .shim = r->target.shim,
	    .signal = session_signal(r->session),
	    .counters = r->points.has_counters,
	    .identity = &r->target.identity,
	    .mask = &r->loop.old_mask};

	if (run_open_signals(r, e))
		return -1;
	if (launch_prepare(&o, &r->target.launch, e)) {
		run_close_signals(r);
		return -1;
	}
	r->target.claim_fd = owner_claim(r->target.launch.pid, e);
	if (r->target.claim_fd < 0 ||
	    session_add_process(
		r->session, r->target.launch.pid, r->target.launch.pidfd, r->o.command[0], e) ||
	    run_start(r, e) || launch_go(&r->target.launch, r->target.path, e)) {
		launch_deinit(&r->target.launch);
		run_close_signals(r);
		return -1;
	}
	if (!run_watch(r)) {
		if (r->recorder.run + 1 >= r->o.runs || r->answer.settled || r->loop.quit) {
			session_detach(r->session);
			run_inject_undo(r);
		}
		wait_for_end(r);
	}
	close(r->target.claim_fd);
	launch_deinit(&r->target.launch);
	run_close_signals(r);
	return 0;
}
