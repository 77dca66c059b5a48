// SPDX-License-Identifier: BSD-3-Clause
/*
 * The live view in a run: whether there may be one, what it is told of the run's state, what its
 * keys do. What it looks like is in user/report/terminal*.c. It is drawn in the loader's loop,
 * between two steps.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/screen.h"
#include "target/procfs.h"
#include "report/say.h"

#define DRAW_NS 500000000ULL       /* between two pictures, when nothing is pressed */
#define DRAW_LEAST_NS 100000000ULL /* and when keys are */
/* before an experiment's close nothing is drawn: a picture takes a millisecond at most */
#define DUE_NS 5000000ULL
#define DRAW_MAX_NS 1000000000ULL /* between two pictures, whatever is due */
#define RATES 5 /* readings of the points' visits: rates are those of the last two seconds */
#define MESSAGES_MAX 1000  /* kept for later; what comes then is lost */
#define SOURCE_AROUND 40   /* lines of source before and after the one looked at */
#define SOURCE_COLUMNS 400 /* of a line of source that are kept */
#define SOURCE_SIZE ((2 * SOURCE_AROUND + 1) * (SOURCE_COLUMNS + 1))

struct reading {
	uint64_t at_ns, visits[COZBPF_POINTS];
};

struct view {
	int fd; /* of the terminal */
	bool has_keys, has_colours, is_lost;
	bool shares_stderr;    /* standard error is the same terminal */
	struct screen *screen; /* NULL: not shown */
	struct terminal_screen cells;
	struct terminal_view look;
	struct answer answer;
	bool has_answer;
	enum sort_key sorted;
	uint64_t lost, drawn_ns, next_ns; /* next_ns: of the next picture at the latest */
	uint64_t wake_ns;                 /* when to look at it before the loop's next tick */
	bool is_dirty;
	struct reading readings[RATES];
	unsigned n_readings;
	struct terminal_point points[COZBPF_POINTS];
	char **messages;
	unsigned n_messages, n_printed;
	char target[256], experiment[4352];
	char *source_of; /* the line whose source was read */
	char *source;    /* NULL: it cannot be */
	unsigned source_first;
};

static dev_t terminal_device(int fd)
{
	unsigned device = 0;
	struct stat s;

	if (!isatty(fd))
		return 0;
	if (!ioctl(fd, TIOCGDEV, &device)) /* of /dev/tty, too */
		return device;
	return fstat(fd, &s) ? 0 : s.st_rdev;
}

/* The terminal, with a description of its own that is both read and written; -1: there is none. */
static int open_terminal(bool wanted)
{
	int ret = -1;

	if (isatty(STDERR_FILENO))
		ret = open("/proc/self/fd/2", O_RDWR | O_CLOEXEC | O_NOCTTY);
	else if (!wanted)
		return -1;
	return ret < 0 ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : ret;
}

/* A command's own output and the view on one terminal would spoil each other. */
static int check_output(const struct runner *r, int fd, struct error *e)
{
	static const char *const names[] = {[STDOUT_FILENO] = "output", [STDERR_FILENO] = "error"};

	for (int i = STDOUT_FILENO; r->o.command[0] && i <= STDERR_FILENO; i++) {
		if (terminal_device(i) != terminal_device(fd))
			continue;
		error_set(e, EXIT_USAGE,
		    "the command's standard %s is the terminal that the live view needs for itself",
		    names[i]);
		return error_hint(e, "redirect it: cozbpf --tui ... -- cmd >out.txt 2>&1; or "
				     "attach to it from another terminal, with -p");
	}
	return 0;
}

static int check_terminal(const struct runner *r, int fd, struct error *e)
{
	if (fd < 0) {
		error_set(e, EXIT_USAGE, "there is no terminal for the live view");
		return error_hint(e, "leave out --tui, or start it on a terminal");
	}
	if (check_output(r, fd, e) || screen_check(fd, e))
		return -1;
	if (screen_is_ours(fd))
		return 0;
	error_set(e, EXIT_USAGE, "there is no live view in the background");
	return error_hint(e, "leave out --tui, or start it in the foreground");
}

int run_view_plan(struct runner *r, struct error *e)
{
	const char *no_colour = getenv("NO_COLOR");
	struct error ignored;
	struct view *v;
	int fd;

	if (r->o.quiet || r->o.no_tui || (!r->o.tui && r->o.command[0]))
		return 0;
	fd = open_terminal(r->o.tui);
	v = calloc(1, sizeof(*v));
	if (!v || check_terminal(r, fd, r->o.tui ? e : &ignored)) {
		if (fd >= 0)
			close(fd);
		free(v);
		return r->o.tui && v ? -1 : 0;
	}
	v->fd = fd;
	v->has_keys = !r->o.command[0] || terminal_device(STDIN_FILENO) != terminal_device(fd);
	v->has_colours = !no_colour || !*no_colour;
	v->shares_stderr = terminal_device(STDERR_FILENO) == terminal_device(fd);
	r->console.view = v;
	return 0;
}

static void name_target(struct runner *r)
{
	char *text = r->console.view->target, comm[64];
	size_t size = sizeof(r->console.view->target);
	int pid;

	text[0] = 0;
	if (r->o.cgroup)
		snprintf(text, size, "control group %s", r->o.cgroup);
	for (char **word = r->o.command; *word; word++)
		snprintf(
		    text + strlen(text), size - strlen(text), "%s%s", text[0] ? " " : "", *word);
	for (unsigned i = 0; (pid = target_pid_at(&r->target, i)) && !r->o.cgroup; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s (process %d)",
		    i ? ", " : "", procfs_comm(pid, comm, sizeof(comm)), pid);
}

/* A process that writes to the same terminal, as one that was started in a shell's background does;
 * 0: none is known to. */
static int find_writer(const struct runner *r)
{
	struct stat ours, theirs;
	char path[64];
	int pid;

	/* A container's terminals may have our numbers: the file system tells. */
	if (!r->console.view->shares_stderr || fstat(STDERR_FILENO, &ours))
		return 0;
	for (unsigned i = 0; (pid = target_pid_at(&r->target, i)); i++) {
		for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
			snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
			if (!stat(path, &theirs) && theirs.st_rdev == ours.st_rdev &&
			    theirs.st_dev == ours.st_dev)
				return pid;
		}
	}
	return 0;
}

void run_view_open(struct runner *r)
{
	struct view *v = r->console.view;
	int writer;

	if (!v || v->screen || v->is_lost)
		return;
	writer = r->o.tui ? 0 : find_writer(r);
	if (writer) {
		run_say(r,
		    "no live view: process %d writes to this terminal (--tui shows it all the "
		    "same)",
		    writer);
		v->is_lost = true;
		return;
	}
	setlocale(LC_CTYPE, "");
	run_progress_clear(r);
	r->console.progress_shown = false;
	fflush(stderr);
	name_target(r);
	v->screen = screen_open(v->fd, v->has_keys, v->has_colours);
	v->n_readings = 0;
	v->next_ns = 0;
	if (!v->screen)
		run_say(r, "warning: the terminal cannot be had: no live view");
}

bool run_view_shown(const struct runner *r)
{
	return r->console.view && r->console.view->screen;
}

void run_view_close(struct runner *r)
{
	struct view *v = r->console.view;

	if (!run_view_shown(r))
		return;
	screen_close(v->screen);
	v->screen = NULL;
	for (; v->n_printed < v->n_messages; v->n_printed++)
		if (v->shares_stderr)
			say("%s", v->messages[v->n_printed]);
}

void run_view_deinit(struct runner *r)
{
	struct view *v = r->console.view;

	if (!v)
		return;
	run_view_close(r);
	if (v->has_answer)
		run_free_answer(&v->answer);
	terminal_view_deinit(&v->look);
	terminal_screen_deinit(&v->cells);
	for (unsigned i = 0; i < v->n_messages; i++)
		free(v->messages[i]);
	free(v->messages);
	free(v->source_of);
	free(v->source);
	close(v->fd);
	free(v);
	r->console.view = NULL;
}

bool run_view_keeps(const struct runner *r, const char *message)
{
	struct view *v = r->console.view;
	char **bigger;

	if (!run_view_shown(r))
		return false;
	bigger = v->n_messages < MESSAGES_MAX
		     ? realloc(v->messages, (v->n_messages + 1) * sizeof(*bigger))
		     : NULL;
	if (bigger) {
		v->messages = bigger;
		bigger[v->n_messages] = strdup(message);
		v->n_messages += bigger[v->n_messages] != NULL;
		v->is_dirty = true;
	}
	return v->shares_stderr;
}

static void add_lost(int pid, const struct cozbpf_proc_stats *s, void *arg)
{
	uint64_t *lost = arg;

	(void)pid;
	*lost += s->withdrawn + s->not_sent;
}

void run_view_take(struct runner *r, struct answer *a)
{
	const struct cozbpf_control *c = session_control(r->session);
	struct view *v = r->console.view;

	if (!run_view_shown(r)) {
		run_free_answer(a);
		return;
	}
	if (v->has_answer)
		run_free_answer(&v->answer);
	v->answer = *a;
	v->has_answer = true;
	v->sorted = run_view_sort(r);
	v->is_dirty = true;
	v->lost = c->events_lost + c->storage_lost;
	session_processes(r->session, add_lost,
	    &v->lost); /* a look at each process: too much for every picture */
	terminal_note(&v->look, &v->answer.estimate);
}

enum sort_key run_view_sort(const struct runner *r)
{
	return run_view_shown(r) ? r->console.view->look.sort : SORT_SLOPE;
}

int run_view_fd(const struct runner *r)
{
	return run_view_shown(r) && r->console.view->has_keys && screen_is_ours(r->console.view->fd)
		   ? r->console.view->fd
		   : -1;
}

uint64_t run_view_next(const struct runner *r)
{
	return run_view_shown(r) ? r->console.view->wake_ns : UINT64_MAX;
}

void run_view_lost(struct runner *r)
{
	r->console.view->is_lost = true;
	run_view_close(r);
}

void run_view_changed(struct runner *r)
{
	if (!run_view_shown(r))
		return;
	screen_resume(r->console.view->screen);
	r->console.view->is_dirty = true;
	r->console.view->next_ns = 0;
}

/* The way of programs that have the terminal: SIGTSTP as if we had not held it. Where nobody could
 * continue us it has no effect. */
void run_view_stop(struct runner *r, int sig)
{
	bool shown = run_view_shown(r), was_paused = r->experiments.is_paused;
	sigset_t set, before;

	run_pause(r); /* nobody would close the experiment meanwhile */
	if (shown)
		screen_suspend(r->console.view->screen);
	raise(sig);
	sigemptyset(&set);
	sigaddset(&set, sig);
	if (sig != SIGSTOP && !sigprocmask(SIG_UNBLOCK, &set, &before))
		sigprocmask(SIG_SETMASK, &before, NULL);
	run_view_changed(r);
	if (!was_paused)
		run_resume(r, monotonic_ns());
}

/* Visits in real time over the last readings. */
static void take_rates(struct runner *r, uint64_t now)
{
	struct view *v = r->console.view;
	const struct reading *first = &v->readings[0];
	struct reading *last;

	if (v->n_readings && now - v->readings[v->n_readings - 1].at_ns < DRAW_NS)
		return;
	if (v->n_readings == RATES)
		memmove(v->readings, v->readings + 1, --v->n_readings * sizeof(v->readings[0]));
	last = &v->readings[v->n_readings++];
	last->at_ns = now;
	for (unsigned i = 0; i < r->points.n_points; i++) {
		last->visits[i] = session_point(r->session, i)->visits;
		v->points[i].per_s = NAN;
		if (last->at_ns > first->at_ns && last->visits[i] >= first->visits[i])
			v->points[i].per_s = (double)(last->visits[i] - first->visits[i]) * 1e9 /
					     (double)(last->at_ns - first->at_ns);
	}
}

/* Mean latency of a pair as the last estimate has it. */
static double mean_latency(const struct view *v, const char *name)
{
	for (size_t i = 0; v->has_answer && i < v->answer.estimate.n_latencies; i++)
		if (!strcmp(v->answer.estimate.latencies[i].name, name))
			return v->answer.estimate.latencies[i].now.mean.value;
	return NAN;
}

/* Begins and ends of a pair are one, and what is sampled is no visit; returns how many there are.
 */
static size_t list_points(struct runner *r, struct terminal_point *ret)
{
	size_t n = 0;

	for (unsigned i = 0; i < r->points.n_points; i++) {
		bool is_pair = r->points.points[i].role == COZBPF_ROLE_BEGIN;

		if (r->points.points[i].is_sampled)
			continue;
		i += is_pair; /* its ends count */
		ret[n] = (struct terminal_point){.name = r->points.points[i].name,
		    .is_latency = is_pair,
		    .per_s = r->console.view->points[i].per_s};
		ret[n].latency_ns =
		    is_pair ? mean_latency(r->console.view, r->points.points[i].name) : NAN;
		n++;
	}
	return n;
}

static void tell_experiment(struct runner *r, uint64_t now, struct terminal_status *s)
{
	const struct cozbpf_control *c = session_control(r->session);
	const struct source_line *l = &r->files.lines.lines[r->experiments.line];

	if (r->experiments.phase != PHASE_OPEN)
		return;
	snprintf(r->console.view->experiment, sizeof(r->console.view->experiment), "%s:%u", l->file,
	    l->line);
	s->experiment = r->console.view->experiment;
	s->speedup_pct = r->experiments.speedup_pct;
	s->open_ns = now > c->opened_ns ? now - c->opened_ns : 0;
	s->planned_ns = r->o.end_to_end || r->experiments.deadline_ns < c->opened_ns
			    ? 0
			    : r->experiments.deadline_ns - c->opened_ns;
}

/* A source file as we see it, else as the process does; -1: neither can be read. Names come from
 * the program's file: no device is opened for them. */
static FILE *open_source(const struct runner *r, const char *path)
{
	char theirs[4400];
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 && target_pid_at(&r->target, 0)) {
		snprintf(
		    theirs, sizeof(theirs), "/proc/%d/root/%s", target_pid_at(&r->target, 0), path);
		fd = open(theirs, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	if (fd >= 0 && (fstat(fd, &s) || !S_ISREG(s.st_mode))) {
		close(fd);
		return NULL;
	}
	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* The lines around, as far as one can be read. */
static void read_source(struct view *v, FILE *in, unsigned line)
{
	char *text = NULL, *at;
	size_t size = 0, n = 0;
	ssize_t length;

	v->source_first = line > SOURCE_AROUND ? line - SOURCE_AROUND : 1;
	v->source = at = malloc(SOURCE_SIZE + 1);
	for (unsigned i = 1;
	     at && i <= line + SOURCE_AROUND && (length = getline(&text, &size, in)) >= 0; i++) {
		if (i < v->source_first)
			continue;
		n = strcspn(text, "\n");
		n = n < SOURCE_COLUMNS ? n : SOURCE_COLUMNS;
		memcpy(at, text, n);
		at += n;
		*at++ = '\n';
	}
	if (at)
		*at = 0;
	free(text);
}

static void tell_source(struct runner *r, struct terminal_status *s)
{
	struct view *v = r->console.view;
	const char *wanted =
		       terminal_looked_at(&v->look, v->has_answer ? &v->answer.estimate : NULL),
		   *colon;
	char path[4096];
	FILE *in;

	if (!wanted)
		return;
	if (!v->source_of || strcmp(v->source_of, wanted)) {
		free(v->source_of);
		free(v->source);
		v->source = NULL;
		v->source_of = strdup(wanted);
		colon = strrchr(wanted, ':');
		snprintf(path, sizeof(path), "%.*s", colon ? (int)(colon - wanted) : 0, wanted);
		in = open_source(r, path);
		if (in) {
			read_source(v, in, (unsigned)strtoul(colon + 1, NULL, 10));
			fclose(in);
		}
	}
	s->source = v->source;
	s->source_first = v->source_first;
}

static void draw(struct runner *r, uint64_t now)
{
	const struct cozbpf_control *c = session_control(r->session);
	struct view *v = r->console.view;
	struct terminal_point points[COZBPF_POINTS];
	struct terminal_status s = {.target = v->target,
	    .elapsed_ns = now - r->recorder.started_ns,
	    .run = r->recorder.run + 1,
	    .runs = (uint32_t)r->o.runs,
	    .experiments = r->recorder.profile.n_experiments,
	    .spoilt = r->experiments.dropped,
	    .samples = c->samples,
	    .in_scope = c->in_scope,
	    .lost = v->lost,
	    .noise = r->experiments.busy_n ? r->experiments.busy_sum / r->experiments.busy_n : NAN,
	    .points = points,
	    .is_paused = r->experiments.is_paused,
	    .sorted = v->sorted,
	    .message = v->n_messages ? v->messages[v->n_messages - 1] : NULL,
	    .messages = v->n_messages,
	    .has_keys = v->has_keys};
	int width, height;

	take_rates(r, now);
	s.n_points = list_points(r, points);
	tell_experiment(r, now, &s);
	tell_source(r, &s);
	screen_size(v->screen, &width, &height);
	if (terminal_screen_init(&v->cells, width, height, !strcmp(nl_langinfo(CODESET), "UTF-8")))
		return;
	terminal_draw(&v->look, v->has_answer ? &v->answer.estimate : NULL, &s, &v->cells);
	screen_show(v->screen, &v->cells);
	v->drawn_ns = now;
	v->next_ns = now + DRAW_NS;
	v->is_dirty = false;
}

static void take_keys(struct runner *r, uint64_t now)
{
	struct view *v = r->console.view;
	uint32_t key;

	while (screen_key(v->screen, &key)) {
		v->is_dirty = true;
		switch (terminal_press(&v->look, v->has_answer ? &v->answer.estimate : NULL, key)) {
		case ACTION_SORT:
			r->answer.leader_at_ns = 0; /* an estimate as soon as may be */
			break;
		case ACTION_PAUSE:
			if (r->o.end_to_end)
				run_say(r, "nothing can be paused: each run is one experiment");
			else if (r->experiments.is_paused)
				run_resume(r, now);
			else
				run_pause(r);
			break;
		case ACTION_QUIT:
			r->loop.quit = true;
			break;
		case ACTION_REPAINT:
			screen_repaint(v->screen);
			break;
		case ACTION_NONE:
			break;
		}
	}
}

void run_view_step(struct runner *r, uint64_t now, uint64_t due)
{
	struct view *v = r->console.view;

	if (!run_view_shown(r))
		return;
	take_keys(r, now);
	v->wake_ns = UINT64_MAX;
	if (now < v->next_ns && !v->is_dirty)
		return;
	/* A picture with an experiment under way tells more, and right after an opening there is
	 * time. */
	if (!v->is_dirty && r->experiments.phase != PHASE_OPEN && !r->experiments.is_paused &&
	    now < v->drawn_ns + DRAW_MAX_NS)
		return;
	if (now < v->next_ns && now < v->drawn_ns + DRAW_LEAST_NS)
		v->wake_ns = v->drawn_ns + DRAW_LEAST_NS;
	else if (r->experiments.phase == PHASE_OPEN && due < now + DUE_NS &&
		 now < v->drawn_ns + DRAW_MAX_NS)
		v->wake_ns = due + 1;
	else
		draw(r, now);
}

FILE *run_view_report(const struct runner *r, int *ret_width)
{
	struct winsize size = {0};
	int copy;

	if (!r->console.view || r->console.view->shares_stderr || r->console.view->is_lost ||
	    !screen_is_ours(r->console.view->fd))
		return NULL;
	*ret_width = ioctl(r->console.view->fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
	copy = fcntl(r->console.view->fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 ? NULL : fdopen(copy, "w");
}
