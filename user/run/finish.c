// SPDX-License-Identifier: BSD-3-Clause
/* What is said and written besides the experiments: the progress line, each run's totals, and at
 * the end the answer or the reason for none. */
#include "run/run.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/estimate/estimate.h"
#include "core/text/printable.h"
#include "report/report.h"
#include "report/say.h"
#include "run/calls.h"
#include "run/places.h"

#define PROGRESS_NS 500000000ULL /* between two progress lines */
#define FEW_SAMPLES 10 /* of a whole run: what starting and ending a program alone can give */

static bool shows_progress(const struct runner *r)
{
	const char *terminal = getenv("TERM");

	return !r->o.quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") &&
	       !run_view_shown(r);
}

void run_progress_clear(const struct runner *r)
{
	if (r->console.progress_shown)
		fputs("\r\033[K", stderr);
}

void run_progress_line(struct runner *r, uint64_t now)
{
	uint64_t visits = 0, seconds = (now - r->recorder.started_ns) / 1000000000ULL;
	struct winsize size = {0};
	char text[400], *shown;
	int columns;

	if (!shows_progress(r) || now < r->console.progress_at_ns)
		return;
	r->console.progress_at_ns = now + PROGRESS_NS;
	for (unsigned i = 0; i < r->points.n_points; i++)
		visits +=
		    r->points.points[i].is_sampled
			? 0
			: session_point(r->session, i)->visits; /* time executed is no visit */
	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	columns = size.ws_col > 20 ? size.ws_col - 1 : 79;
	snprintf(text, sizeof(text),
	    "cozbpf: %" PRIu64 ":%02" PRIu64 "  run %u  %zu experiments, %" PRIu64
	    " visits, %" PRIu64 " samples in scope%s",
	    seconds / 60, seconds % 60, r->recorder.run + 1, r->recorder.profile.n_experiments,
	    visits, (uint64_t)session_control(r->session)->in_scope, r->answer.leader);
	shown = printable_text(text); /* the leader's path is the target's */
	fprintf(stderr, "\r\033[K%.*s", columns, shown ? shown : "");
	free(shown);
	fflush(stderr);
	r->console.progress_shown = true;
}

static void write_samples(struct runner *r)
{
	for (size_t i = 1; i < r->files.lines.n_lines && i < r->recorder.counts_room; i++) {
		struct samples_record s, *bigger;

		if (!run_line_samples(r, i, &s))
			continue;
		r->recorder.counts_before[i] += s.count;
		r->recorder.free_before[i] += s.free;
		profile_write_samples(r->recorder.out, &s);
		bigger = realloc(
		    r->recorder.profile.samples, (r->recorder.profile.n_samples + 1) * sizeof(s));
		if (!bigger) {
			free(s.location);
			continue;
		}
		r->recorder.profile.samples = bigger;
		bigger[r->recorder.profile.n_samples++] = s;
	}
}

struct losses {
	uint64_t signals;
};

static void add_losses(int pid, const struct cozbpf_proc_stats *s, void *arg)
{
	struct losses *l = arg;

	(void)pid;
	l->signals += s->withdrawn + s->not_sent;
}

void run_write_totals(struct runner *r, uint64_t now)
{
	const struct cozbpf_control *c = session_control(r->session);
	struct run_record *run = &r->recorder.profile.runs[r->recorder.profile.n_runs - 1];
	struct losses lost = {0};
	struct cpu_use use;

	write_samples(r);
	session_processes(r->session, add_losses, &lost);
	run->runtime_ns = now - r->recorder.started_ns;
	run->free_ns = run->runtime_ns > r->experiments.delayed_ns
			   ? run->runtime_ns - r->experiments.delayed_ns
			   : 0;
	run->lost = lost.signals + c->events_lost + c->storage_lost - r->recorder.lost_before;
	r->recorder.lost_before += run->lost;
	run->dropped = r->experiments.dropped;
	run->samples = c->samples - r->recorder.samples_before;
	run->in_scope = c->in_scope - r->recorder.in_scope_before;
	session_cpu_use(r->session, &use);
	run->executed_ns = use.executed_ns - r->recorder.use_before.executed_ns;
	run->outsiders_ns = use.outsiders_ns - r->recorder.use_before.outsiders_ns;
	r->recorder.use_before = use;
	r->recorder.samples_before = c->samples;
	r->recorder.in_scope_before = c->in_scope;
	profile_write_runtime(r->recorder.out, run);
	fflush(r->recorder.out);
}

#define THROTTLED_PCT 1 /* of the time profiled: less may come from anything */
/* a few at a program's start and end, and while libc creates threads with all signals blocked */
#define USUAL_FAILURES 10
#define UNPAUSED_NAMES 32 /* names of programs told apart; more share the last entry */

/* Processes of one name that could not be paused: there may be thousands, when they are short-lived
 * children. */
struct unpaused {
	struct cozbpf_proc_stats sum;
	int pid; /* the first */
	unsigned n;
};

struct unpaused_list {
	const struct runner *r;
	struct unpaused names[UNPAUSED_NAMES];
	unsigned n;
};

static void add_process(int pid, const struct cozbpf_proc_stats *s, void *arg)
{
	struct unpaused_list *l = arg;
	unsigned i = 0;

	if (l->r->o.verbose)
		run_say(l->r,
		    "process %d (%.16s): %" PRIu64 " samples, %" PRIu64 " in scope, %" PRIu64
		    " pauses asked, %" PRIu64 " begun",
		    pid, s->comm, (uint64_t)s->samples, (uint64_t)s->in_scope, (uint64_t)s->asked,
		    (uint64_t)s->begun);
	if (!(s->no_shim + s->blocked + s->small_stack + s->not_sent + s->withdrawn))
		return;
	while (i < l->n && strncmp(l->names[i].sum.comm, s->comm, sizeof(s->comm)))
		i++;
	if (i == l->n && l->n < UNPAUSED_NAMES) {
		memcpy(l->names[i].sum.comm, s->comm, sizeof(s->comm));
		l->names[i].pid = pid;
		l->n++;
	} else if (i == l->n) {
		i--;
	}
	l->names[i].n++;
	l->names[i].sum.asked += s->asked;
	l->names[i].sum.no_shim += s->no_shim;
	l->names[i].sum.blocked += s->blocked;
	l->names[i].sum.small_stack += s->small_stack;
	l->names[i].sum.not_sent += s->not_sent;
	l->names[i].sum.withdrawn += s->withdrawn;
}

static void warn_unpaused(const struct runner *r, const struct unpaused *u)
{
	const struct cozbpf_proc_stats *s = &u->sum;
	uint64_t not_asked = s->no_shim + s->blocked + s->small_stack + s->not_sent,
		 failed = not_asked + s->withdrawn;
	const char *why = "the signal was not delivered in time (signal queue limit, ulimit -i?)";
	char others[64] = "";

	if (failed < USUAL_FAILURES || failed * 20 <= s->asked)
		return;
	if (s->no_shim * 2 > failed)
		why = "it has no pause handler (static, setuid, started without LD_PRELOAD, or it "
		      "uses the signal itself)";
	else if (s->blocked * 2 > failed)
		why = "its threads block the pause signal";
	else if (s->small_stack * 2 > failed)
		why = "its stacks have no room for a signal";
	if (u->n > 1)
		snprintf(others, sizeof(others), " and %u more of that name", u->n - 1);
	run_say(r,
	    "warning: process %d (%.16s)%s could not be paused %" PRIu64 " times of %" PRIu64
	    ": %s; predictions that depend on it are too low",
	    u->pid, s->comm, others, failed, not_asked + (uint64_t)s->asked, why);
}

/* Processes that could not be paused are named, with the reason (design.md 4.7). */
static void name_unpaused(const struct runner *r)
{
	struct unpaused_list list = {.r = r};

	session_processes(r->session, add_process, &list);
	for (unsigned i = 0; i < list.n; i++)
		warn_unpaused(r, &list.names[i]);
}

static uint64_t n_spoilt(const struct runner *r)
{
	uint64_t n = 0;

	for (int i = 0; i < N_SPOILT; i++)
		n += r->experiments.spoilt_by[i];
	return n;
}

/* The reason that most experiments were dropped for. */
static int fail_spoilt(const struct runner *r, struct error *e)
{
	static const struct {
		const char *cause, *hint;
	} reasons[N_SPOILT] = {
	    [SPOILT_STOP] = {"the command or the machine was stopped meanwhile",
		"profile again, or longer: -d 60s"},
	    [SPOILT_DEBT] = {"threads could not be made to pause",
		"the warnings above name the processes and the reason"},
	    [SPOILT_BUSY] = {"other programs had the CPUs",
		"profile while the machine is less busy, or longer: -d 60s"},
	    [SPOILT_NO_TIME] = {"the line made faster is nearly all that the program does, and no "
				"time was left to count in",
		"profile longer (-d 60s), or name lower speedups: --fixed-speedup 0,25,50,75"},
	};
	int most = SPOILT_STOP;

	for (int i = SPOILT_STOP; i < N_SPOILT; i++)
		most = r->experiments.spoilt_by[i] > r->experiments.spoilt_by[most] ? i : most;
	if (n_spoilt(r) == 1)
		error_set(
		    e, EXIT_NO_RESULT, "the only experiment was spoilt: %s", reasons[most].cause);
	else
		error_set(e, EXIT_NO_RESULT,
		    "all %" PRIu64 " experiments were spoilt, most because %s", n_spoilt(r),
		    reasons[most].cause);
	return error_hint(e, "%s", reasons[most].hint);
}

/* No experiment at all: the first reason that holds (design.md section 10, 21). */
static int fail_empty(struct runner *r, struct error *e)
{
	const struct cozbpf_control *c = session_control(r->session);
	const char *name = r->target.path;

	if (r->recorder.profile.n_runs &&
	    r->recorder.profile.runs[r->recorder.profile.n_runs - 1].runtime_ns < 1000000000ULL &&
	    !r->o.end_to_end) {
		error_set(e, EXIT_NO_RESULT,
		    "the command ended after %.2f s, before one experiment was done",
		    (double)r->recorder.profile.runs[r->recorder.profile.n_runs - 1].runtime_ns /
			1e9);
		return error_hint(e, "give it more work, or use --end-to-end -n 40");
	}
	if (c->samples < FEW_SAMPLES) {
		error_set(e, EXIT_NO_RESULT,
		    "the command was hardly ever seen on a CPU: %" PRIu64 " samples",
		    (uint64_t)c->samples);
		return error_hint(e, "a program that only sleeps or waits for others has no line "
				     "to speed up; profile the one that works");
	}
	if (!r->files.lines.n_objects) {
		error_set(e, EXIT_NO_RESULT,
		    "nothing that the command has mapped is in scope: no file with line tables "
		    "matches -b '%s'",
		    r->files.scope.binaries[0]);
		return error_hint(e, "patterns are matched with whole paths, for example -b "
				     "'%%/libz.so%%'; MAIN is the command's own file");
	}
	if (!c->in_scope) {
		error_set(e, EXIT_NO_RESULT,
		    "%" PRIu64 " samples, but none in a line in scope of '%s'",
		    (uint64_t)c->samples, name);
		return error_hint(e,
		    "is the work done in a library or a child? name it with -b PATTERN (%% is the "
		    "wildcard); `cozbpf lines %s` shows what "
		    "is in scope",
		    name);
	}
	if (n_spoilt(r))
		return fail_spoilt(r, e);
	if (r->o.end_to_end) {
		error_set(e, EXIT_NO_RESULT,
		    "one run of the command tells nothing about what would make it faster");
		return error_hint(e, "give a progress point with -P, or more runs with -n 40");
	}
	error_set(e, EXIT_NO_RESULT, "profiling ended before one experiment was done");
	return error_hint(e, "profile longer: -d 60s");
}

/* Experiments on a line that a handful of samples happened to hit say nothing either. */
static bool is_empty(const struct runner *r)
{
	return !r->recorder.profile.n_experiments ||
	       session_control(r->session)->samples < FEW_SAMPLES;
}

/* A point that was never visited is said by name; when no point was, there is no answer. */
static int check_points(struct runner *r, struct error *e)
{
	const struct error *missing;
	unsigned dead = 0;

	for (unsigned i = 0; i < r->points.n_points; i++)
		dead += !session_point(r->session, i)->visits;
	for (unsigned i = 0; i < r->points.n_points && dead < r->points.n_points; i++) {
		if (session_point(r->session, i)->visits)
			continue;
		missing = places_missing(&r->points, i);
		run_say(r, "warning: progress point '%s' was never %s%s", r->points.points[i].label,
		    missing ? "found: " : "visited", missing ? missing->cause : "");
	}
	if (!dead || dead < r->points.n_points)
		return 0;
	missing = places_missing(&r->points, 0);
	if (missing) {
		error_set(e, EXIT_NO_RESULT, "progress point '%s' was never found: %s",
		    r->points.points[0].label, missing->cause);
		return error_hint(e, "the program has mapped no file that has it%s%s",
		    *missing->hint ? "; " : "", missing->hint);
	}
	error_set(e, EXIT_NO_RESULT, "progress point '%s' was never visited%s",
	    r->points.points[0].label, dead > 1 ? ", nor any other" : "");
	return error_hint(e, "choose a place that the program passes once per unit of work; was it "
			     "inlined, or does another process run it?");
}

/* What is paced by a clock outside the program gains nothing from any line (design.md section 5).
 */
static void warn_paced(const struct runner *r)
{
	for (unsigned i = 0; i < r->points.n_points; i++) {
		if (!r->points.points[i].paced)
			continue;
		if (r->points.points[i].role == COZBPF_ROLE_BEGIN)
			run_say(r,
			    "warning: requests of '%s' are begun by a periodic timer, which no "
			    "delay holds back: gains in latency come out "
			    "too "
			    "low where they wait for each other",
			    r->points.points[i].name);
		else
			run_say(r,
			    "warning: visits to '%s' are paced by a periodic timer: no line makes "
			    "them come faster",
			    r->points.points[i].name);
	}
}

/* A pause that holds its CPU uses the quota up; what it costs shows as a gain that is too small. */
static void warn_throttled(const struct runner *r)
{
	uint64_t ran = 0;

	for (size_t i = 0; i < r->recorder.profile.n_runs; i++)
		ran += r->recorder.profile.runs[i].runtime_ns;
	if (r->recorder.throttled_ns * 100 <= ran * THROTTLED_PCT)
		return;
	run_say(r,
	    "warning: a CPU quota held the program's control group back for %.1f s, CPUs added up, "
	    "of %.1f s%s; raise the quota "
	    "(cpu.max, cpu.cfs_quota_us) while profiling, or expect gains that are too small",
	    (double)r->recorder.throttled_ns / 1e9, (double)ran / 1e9,
	    r->o.sleep_pauses ? "" : ", and pauses use it up as well (--sleep-pauses does less)");
}

static void say_counts(const struct runner *r)
{
	struct cpu_use use;

	if (!r->o.verbose)
		return;
	for (unsigned i = 0; i < r->points.n_points; i++)
		if (!r->points.points[i].is_sampled)
			run_say(r, "progress point '%s': %" PRIu64 " visits in all",
			    r->points.points[i].name,
			    (uint64_t)session_point(r->session, i)->visits);
	if (r->experiments.stretched)
		run_say(r,
		    "in %u experiments threads executed more, virtually, than the CPUs have time "
		    "for: they count as longer",
		    r->experiments.stretched);
	session_cpu_use(r->session, &use);
	run_say(r,
	    "%" PRIu64 " wake-ups by threads of the program, %" PRIu64
	    " by timers, devices and other programs",
	    use.edges, use.other_wakes);
}

/* To standard error, and where the live view was, when that is another place. */
static void print_report(struct runner *r)
{
	struct estimate_options o = {.seed = r->o.seed};
	struct text_options text = {.max_lines = 20};
	struct winsize size = {0};
	struct estimate e;
	FILE *other;

	if (estimate_profile(&r->recorder.profile, &o, &e))
		return;
	setlocale(LC_CTYPE, "");
	text.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (isatty(STDERR_FILENO) && !ioctl(STDERR_FILENO, TIOCGWINSZ, &size))
		text.width = size.ws_col;
	report_text(stderr, &e, &text);
	other = run_view_report(r, &text.width);
	if (other) {
		report_text(other, &e, &text);
		fclose(other);
	}
	estimate_deinit(&e);
}

int run_finish(struct runner *r)
{
	struct error e = {0};

	run_progress_clear(r);
	r->console.progress_shown = false;
	if (ferror(r->recorder.out) || fflush(r->recorder.out)) {
		error_set(&e, EXIT_OTHER, "cannot write the profile '%s': is the disk full?",
		    r->o.output);
		return say_error(&e);
	}
	name_unpaused(r);
	if (check_points(r, &e) || (is_empty(r) && fail_empty(r, &e)))
		return say_error(&e);
	warn_paced(r);
	warn_throttled(r);
	calls_warn(&r->files);
	say_counts(r);
	if (!r->o.quiet)
		print_report(r);
	return r->target.exit_status;
}
