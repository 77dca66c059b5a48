// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf [run]`: its options, and what makes no sense together. What is done is in user/run/. */
#include "run/options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cozbpf/abi.h>

#include "cmd/cmd.h"
#include "cmd/job_output.h"
#include "cmd/outfile.h"
#include "cmd/options.h"
#include "core/experiment/duty.h"
#include "core/places/pair.h"
#include "core/places/waits.h"
#include "core/text/shell.h"
#include "kernel/pause_mode.h"
#include "report/say.h"
#include "run/clock.h"
#include "run/segments.h"

#define FIELD(name) offsetof(struct run_options, name)

static const struct option_entry entries[] = {
    {'p', "pid", OPTION_LIST, FIELD(pids), "PID",
	"profile this running process instead of launching a command; repeatable"},
    {0, "cgroup", OPTION_STRING, FIELD(cgroup), "PATH",
	"profile all processes of this control group, those that come later included: a container"},
    {'P', "progress", OPTION_LIST, FIELD(progress), "[NAME=]SPEC",
	"progress point; repeatable; without one the best is chosen that 'cozbpf suggest' would "
	"list, or the whole run counts (--end-to-end)"},
    {'L', "latency", OPTION_LIST, FIELD(latency), "NAME=BEGIN..END[,key=argN]",
	"latency from BEGIN to END, both SPECs, met by one thread or with the same N-th argument "
	"(from 0); repeatable"},
    {'s', "source-scope", OPTION_LIST, FIELD(sources), "PATTERN",
	"source files whose lines may be selected, % is the wildcard (default: all but system "
	"headers)"},
    {'b', "binary-scope", OPTION_LIST, FIELD(binaries), "PATTERN",
	"binaries whose lines may be selected, MAIN is the main executable, KERNEL the "
	"kernel's functions, SYSCALLS its system calls (default: MAIN; of functions all)"},
    {'o', "output", OPTION_STRING, FIELD(output), "FILE",
	"profile, appended to; %N in it is the node, %t the task, %j the job, %a the array's task "
	"(default: profile.coz)"},
    {'d', "duration", OPTION_TIME, FIELD(duration_ns), "TIME",
	"stop profiling after TIME, the command goes on (default: to its end)"},
    {0, "until", OPTION_STRING, FIELD(until), "WIDTH",
	"stop profiling when the gains of the leading lines are known to within WIDTH, such as 3pp "
	"(default: to the command's end)"},
    {0, "duty", OPTION_STRING, FIELD(duty), "PCT",
	"experiments for that share of the time only, in series of some seconds at random moments, "
	"and next to no cost in between; until told to end (default: all the time)"},
    {0, "pause-above", OPTION_STRING, FIELD(pause_above), "LOAD",
	"with a duty, no experiments while the load average of the last minute is above LOAD"},
    {0, "pause-if", OPTION_STRING, FIELD(pause_if), "CMD",
	"with a duty, no experiments while the shell command CMD exits with 0; 1 lets them be "
	"made; "
	"it is run before each series, and every second in one"},
    {0, "metrics", OPTION_STRING, FIELD(metrics), "FILE",
	"with a duty, write the answer so far after each series for Prometheus' node exporter, "
	"whose textfile collector reads files named *.prom"},
    {0, "pprof", OPTION_STRING, FIELD(pprof), "FILE",
	"with a duty, write the answer so far after each series for pprof, as report --pprof does"},
    {0, "rotate", OPTION_STRING, FIELD(rotate), "SIZE",
	"with a duty, the profile and up to seven older files, FILE.1 to FILE.7, take SIZE at "
	"most, "
	"such as 64M: the oldest runs are removed"},
    {'n', "runs", OPTION_UINT, FIELD(runs), "N",
	"run the command N times into one profile (default: 1)"},
    {0, "end-to-end", OPTION_FLAG, FIELD(end_to_end), NULL,
	"the whole run is one unit of progress and one experiment; use with -n"},
    {0, "fixed-line", OPTION_LIST, FIELD(fixed_lines), "FILE:LINE",
	"experiment on this line only, or with functions on this FUNCTION, on a system call, "
	"sys:NAME, or on kernel:FUNCTION; given twice, on each and on both at once (default: at "
	"random, as samples hit them)"},
    {0, "off-cpu", OPTION_CHOICE, FIELD(off_cpu), "CLASSES",
	"waits are made faster, too, each line's of a class and all of a class: io, lock, net, "
	"sleep, sched, other (default of CLASSES: all)"},
    {0, "disk", OPTION_STRING, FIELD(disk), "PATH",
	"of the waits only those for files on PATH's file system, or on the disk PATH, are in io; "
	"with --off-cpu"},
    {0, "granularity", OPTION_STRING, FIELD(units), "line|function|block|auto",
	"what is made faster, virtually: lines, functions, basic blocks, or functions first and "
	"then the lines of those that matter (default: auto)"},
    {0, "inclusive", OPTION_FLAG, FIELD(inclusive), NULL,
	"units are functions, or blocks, and each counts with all that it calls"},
    {0, "fixed-speedup", OPTION_STRING, FIELD(fixed_speedup), "LIST",
	"line speedups in percent, such as 0,25,50,100 (default: 5 to 100 by 5; 50 and 90 "
	"end-to-end)"},
    {0, "seed", OPTION_UINT, FIELD(seed), "N",
	"seed of the random order (default: from the clock)"},
    {0, "period", OPTION_TIME, FIELD(period_ns), "TIME",
	"CPU time between samples (default: 330us; up to 1ms where samples are dear)"},
    {0, "experiment-length", OPTION_TIME, FIELD(length_ns), "TIME",
	"length of an experiment (default: 500ms, adapted to the rate of visits)"},
    {0, "user", OPTION_STRING, FIELD(user), "USER",
	"run the command as USER (default: under sudo the invoking user)"},
    {0, "follow-children", OPTION_UNFLAG, FIELD(no_follow), NULL,
	"forked and exec'd children are profiled too (default)"},
    {0, "no-follow-children", OPTION_FLAG, FIELD(no_follow), NULL,
	"only the command's own process is profiled"},
    {0, "sleep-pauses", OPTION_FLAG, FIELD(sleep_pauses), NULL,
	"pause by sleeping where no thread waits for a CPU (default: hold the CPU; saves CPU "
	"quota, costs accuracy)"},
    {0, "pause", OPTION_STRING, FIELD(pause), "value|write|quanta",
	"how a thread learns when its pause ends (default: the best that the kernel takes)"},
    {0, "any-stack", OPTION_FLAG, FIELD(any_stack), NULL,
	"pause threads on coroutines' stacks, too; each needs 4 kB to spare"},
    {0, "spin", OPTION_LIST, FIELD(spins), "SYMBOL",
	"who calls this function again and again waits, as with PAUSE; repeatable"},
    {0, "no-spin", OPTION_FLAG, FIELD(no_spin), NULL,
	"take no loop for waiting (default: threads wait that execute PAUSE, call sched_yield() "
	"or are in an idle loop)"},
    {0, "sync", OPTION_STRING, FIELD(sync), "wake|uprobe",
	"where it is seen that a thread waits for another: at the scheduler, or at probed pthread "
	"and signal calls (default: wake)"},
    {0, "goroutines", OPTION_STRING, FIELD(goroutines), "auto|off",
	"of Go programs: whether accounts are goroutines', or threads' (default: auto: goroutines' "
	"where that can be done)"},
    {0, "peers", OPTION_STRING, FIELD(peers), "HOST[:PORT],...|job",
	"one program over many nodes: all of these, this one included, share their delays; "
	"experiments are in the profile of the first (job: the job's engine names them)"},
    {0, "peers-key", OPTION_STRING, FIELD(peers_key), "FILE",
	"key of the run's messages, the same on all nodes (default: from COZBPF_PEERS_KEY)"},
    {'q', "quiet", OPTION_FLAG, FIELD(quiet), NULL, "only errors on standard error"},
    {'v', "verbose", OPTION_FLAG, FIELD(verbose), NULL, "say what is done"},
    {0, "tui", OPTION_FLAG, FIELD(tui), NULL,
	"live view in full screen (default: when attached, and standard error is a terminal)"},
    {0, "no-tui", OPTION_FLAG, FIELD(no_tui), NULL, "no live view; on a terminal, a progress line"},
    {0},
};

static const struct option_table table = {
    .command = "run",
    .usage = "cozbpf [run] [options] -- cmd [args...]\n       cozbpf [attach] [options] -p PID [-p "
	     "PID ...] | --cgroup PATH",
    .summary = "Runs the command, experiments on its lines, and tells what the program would gain "
	       "if each were faster.",
    .entries = entries,
    .takes_command = true,
    .epilogue = "SPEC: file.c:123, SYMBOL, PATH:SYMBOL[+OFFSET], [PATH:]+ADDRESS,\n"
		"      uprobe:PATH:SYMBOL[+OFFSET]\n"
		"examples:\n"
		"  sudo cozbpf -P done=request_done -d 60s -- ./server\n"
		"  sudo cozbpf -L request=enqueue..finish,key=arg0 -- ./server\n"
		"  sudo cozbpf --end-to-end -n 20 -- ./batch-job input\n"
		"  cozbpf report profile.coz\n",
};

/* What the schedule does with the list: each speedup once. */
static void add_speedup(struct run_options *o, unsigned pct)
{
	for (size_t i = 0; i < o->n_speedups; i++)
		if (o->speedups[i] == pct)
			return;
	o->speedups[o->n_speedups++] = pct;
}

/* "0,25,50,100" */
static int parse_speedups(struct run_options *o, struct error *e)
{
	const char *c = o->fixed_speedup;

	if (!c)
		return 0;
	o->speedups = calloc(strlen(c) + 1, sizeof(*o->speedups));
	if (!o->speedups)
		return error_set(e, EXIT_OTHER, "out of memory");
	while (1) {
		char *end = NULL;
		unsigned long pct = isdigit((unsigned char)*c) ? strtoul(c, &end, 10) : 0;

		if (!end || pct > 100 || (*end && *end != ',')) {
			error_set(
			    e, EXIT_USAGE, "'%s' is not a list of line speedups", o->fixed_speedup);
			return error_hint(e, "give whole percents from 0 to 100, for example "
					     "--fixed-speedup 0,25,50,100");
		}
		add_speedup(o, (unsigned)pct);
		if (!*end)
			break;
		c = end + 1;
	}
	if (o->n_speedups == 1 && !o->speedups[0] && !o->quiet)
		say("warning: '--fixed-speedup 0' makes nothing faster: baselines always take "
		    "part, name a speedup beside them, such as 50");
	return 0;
}

static int parse_units(struct run_options *o, struct error *e)
{
	if (granularity_parse(o->units, &o->granularity, e))
		return -1;
	if (!o->inclusive)
		return 0;
	if (o->granularity == GRANULARITY_LINE || o->sources.n) {
		error_set(e, EXIT_USAGE, "'--inclusive' and '--%s' exclude each other",
		    o->sources.n ? "source-scope" : "granularity line");
		return error_hint(e, "leave one out: lines call nothing, functions do");
	}
	if (o->granularity != GRANULARITY_BLOCK)
		o->granularity = GRANULARITY_FUNCTION;
	return 0;
}

/* "3pp": points of program speedup */
static int parse_until(struct run_options *o, struct error *e)
{
	char *end;
	double points;

	if (!o->until)
		return 0;
	points = strtod(o->until, &end);
	if (end == o->until || (strcmp(end, "pp") && *end) || !(points >= 0.1 && points <= 50)) {
		error_set(e, EXIT_USAGE, "'%s' is not a width of an interval", o->until);
		return error_hint(
		    e, "give points of program speedup from 0.1 to 50, for example --until 3pp");
	}
	o->until_width = points / 100;
	return 0;
}

/* What is of use with --duty alone. */
static int check_no_duty(const struct run_options *o, struct error *e)
{
	const char *what = o->pause_above ? "pause-above"
			   : o->pause_if  ? "pause-if"
			   : o->metrics   ? "metrics"
			   : o->pprof     ? "pprof"
			   : o->rotate    ? "rotate"
					  : NULL;

	if (!what)
		return 0;
	error_set(e, EXIT_USAGE, "'--%s' is of no use without '--duty'", what);
	return error_hint(e, "add --duty 1%%, or leave it out");
}

/* Of those that are named, the files that are replaced after each series. */
static int check_export_names(const struct run_options *o, struct error *e)
{
	struct stat metrics, pprof;
	bool is_one;

	if ((o->metrics && !strcmp(o->metrics, "-")) || (o->pprof && !strcmp(o->pprof, "-"))) {
		error_set(e, EXIT_USAGE,
		    "what '--metrics' and '--pprof' write is replaced after "
		    "each series, not printed");
		return error_hint(e, "name a file; './-' is one of that name");
	}
	if (!o->metrics || !o->pprof)
		return 0;
	is_one = !strcmp(o->metrics, o->pprof);
	if (!stat(o->metrics, &metrics) && !stat(o->pprof, &pprof))
		is_one = metrics.st_dev == pprof.st_dev && metrics.st_ino == pprof.st_ino;
	if (!is_one)
		return 0;
	error_set(e, EXIT_USAGE, "'%s' is the file of both '--metrics' and '--pprof'", o->pprof);
	return error_hint(e, "give each a file of its own");
}

static int check_exports(const struct run_options *o, struct error *e)
{
	if (check_export_names(o, e))
		return -1;
	return (o->metrics && outfile_check(o->metrics, "text of metrics", e)) ||
		       (o->pprof && outfile_check(o->pprof, "profile for pprof", e))
		   ? -1
		   : 0;
}

static int parse_load(struct run_options *o, struct error *e)
{
	char *end;

	if (!o->pause_above)
		return 0;
	o->load_most = strtod(o->pause_above, &end);
	if (end != o->pause_above && !*end && o->load_most > 0 && o->load_most < 1e6)
		return 0;
	error_set(e, EXIT_USAGE, "'%s' is not a load average", o->pause_above);
	return error_hint(e, "give how many threads may run or wait for a CPU on average, for "
			     "example --pause-above 6.5");
}

static int parse_rotate(struct run_options *o, struct error *e)
{
	if (!o->rotate ||
	    (!parse_size(o->rotate, &o->rotate_bytes) && o->rotate_bytes >= SEGMENTS_BYTES_LEAST))
		return 0;
	error_set(e, EXIT_USAGE, "'%s' is not a size for a profile", o->rotate);
	return error_hint(e, "give 64k or more, for example --rotate 64M");
}

static int parse_duty(struct run_options *o, struct error *e)
{
	if (!o->duty)
		return check_no_duty(o, e);
	if (parse_load(o, e) || parse_rotate(o, e))
		return -1;
	if (o->pprof && o->inclusive) {
		error_set(e, EXIT_USAGE, "'--pprof' and '--inclusive' exclude each other");
		return error_hint(e, "readers of pprof add samples up, and with --inclusive these "
				     "count for each function that is active");
	}
	if (parse_percent(o->duty, &o->duty_share) || o->duty_share > DUTY_SHARE_MOST ||
	    o->duty_share < DUTY_SHARE_LEAST) {
		error_set(e, EXIT_USAGE, "'%s' is not a share of the time", o->duty);
		return error_hint(e,
		    "give percents from 0.001 to 50, for example --duty 1%%; without --duty "
		    "experiments are made all the time");
	}
	if (o->end_to_end) {
		error_set(e, EXIT_USAGE, "'--duty' and '--end-to-end' exclude each other");
		return error_hint(
		    e, "leave one out: end-to-end, each run as a whole is one experiment");
	}
	if (o->runs == 1)
		return 0;
	error_set(e, EXIT_USAGE, "'--duty' and '--runs' exclude each other");
	return error_hint(e, "leave one out: series are made while one run goes on");
}

/* What makes no sense for processes that run already. */
static int check_attach(const struct run_options *o, struct error *e)
{
	const char *what = o->command[0]   ? "a command"
			   : o->runs != 1  ? "'--runs'"
			   : o->end_to_end ? "'--end-to-end'"
			   : o->user       ? "'--user'"
					   : NULL;

	if (!(o->pids.n || o->cgroup) || !what)
		return 0;
	error_set(
	    e, EXIT_USAGE, "'--%s' and %s exclude each other", o->pids.n ? "pid" : "cgroup", what);
	return error_hint(e, "a running process is attached to as it is, and left running");
}

/* Where all nodes open and close experiments as one. */
static int check_peers(const struct run_options *o, struct error *e)
{
	const char *what = o->pids.n        ? "pid"
			   : o->cgroup      ? "cgroup"
			   : o->end_to_end  ? "end-to-end"
			   : o->runs != 1   ? "runs"
			   : o->off_cpu     ? "off-cpu"
			   : o->duty        ? "duty"
			   : o->sync_uprobe ? "sync=uprobe"
					    : NULL;

	if (!o->peers && o->peers_key) {
		error_set(e, EXIT_USAGE, "'--peers-key' is of no use without '--peers'");
		return error_hint(e, "name the nodes, or leave it out");
	}
	if (o->peers && !o->progress.n && !o->latency.n && !what) {
		error_set(e, EXIT_USAGE, "'--peers' needs a progress point");
		return error_hint(e, "name one that the first node passes: -P PROGRESS");
	}
	if (!o->peers || !what)
		return 0;
	error_set(e, EXIT_USAGE, "'--peers' and '--%s' exclude each other", what);
	return error_hint(
	    e, "each node starts its part of the program under cozbpf, once: leave one out");
}

static int check_pause(const struct run_options *o, struct error *e)
{
	const struct pause_mode *mode = o->pause ? pause_mode_find(o->pause) : NULL;

	if (o->pause && !mode) {
		error_set(e, EXIT_USAGE, "there is no '--pause=%s'", o->pause);
		return error_hint(e, "give --pause=value, --pause=write or --pause=quanta");
	}
	if (!o->sleep_pauses || !mode || !mode->quantum_ns)
		return 0;
	error_set(e, EXIT_USAGE, "'--sleep-pauses' and '--pause=%s' exclude each other", o->pause);
	return error_hint(e, "leave one out: quanta hold the CPU");
}

/* The kernel numbers devices so in memory: include/linux/kdev_t.h. */
static uint32_t kernel_device(dev_t d)
{
	return major(d) << 20 | minor(d);
}

static int find_disk(struct run_options *o, struct error *e)
{
	struct stat st;

	if (!o->disk)
		return 0;
	if (!(o->waits >> COZBPF_WAIT_IO & 1)) {
		error_set(e, EXIT_USAGE, "'--disk' is about waits of class io");
		return error_hint(e, "add --off-cpu=io");
	}
	if (stat(o->disk, &st)) {
		error_set(e, EXIT_USAGE, "'--disk %s': %s", o->disk, strerror(errno));
		return error_hint(e, "give a directory on the disk, or a device such as /dev/sda1");
	}
	o->wait_disk = kernel_device(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev);
	return 0;
}

/* '--off-cpu io cmd': a value that may be left out is joined. argv is what lies before command. */
static int check_joined(const struct run_options *o, struct error *e)
{
	const char *option = o->command[-1], *word = o->command[0];
	struct error none;
	uint32_t waits;

	if (!word || strncmp(option, "--off", 5) || strchr(option, '=') ||
	    waits_parse(word, &waits, &none))
		return 0;
	error_set(e, EXIT_USAGE, "'%s' behind '--off-cpu' is taken for the command", word);
	return error_hint(e, "join them: --off-cpu=%s; a command of that name follows --", word);
}

static int check_waits(struct run_options *o, struct error *e)
{
	if (!o->off_cpu)
		return find_disk(o, e);
	if (check_joined(o, e))
		return -1;
	if (o->inclusive || (o->sync && !strcmp(o->sync, "uprobe"))) {
		error_set(e, EXIT_USAGE, "'--off-cpu' and '--%s' exclude each other",
		    o->inclusive ? "inclusive" : "sync=uprobe");
		return error_hint(e, "leave one out");
	}
	return waits_parse(o->off_cpu, &o->waits, e) || find_disk(o, e) ? -1 : 0;
}

/* A unit of the kernel that --fixed-line names is in scope by that. */
static int take_kernel(struct run_options *o, struct error *e)
{
	bool wanted[KERNEL_SYSCALLS + 1] = {false};
	unsigned functions = 0;

	for (size_t i = 0; i < o->binaries.n; i++)
		wanted[kernel_units_of(o->binaries.items[i])] = true;
	for (size_t i = 0; i < o->fixed_lines.n; i++) {
		enum kernel_units unit = kernel_units_of_unit(o->fixed_lines.items[i]);

		wanted[unit] = true;
		functions += unit == KERNEL_FUNCTIONS;
	}
	o->kernel = wanted[KERNEL_SYSCALLS]    ? KERNEL_SYSCALLS
		    : wanted[KERNEL_FUNCTIONS] ? KERNEL_FUNCTIONS
					       : KERNEL_NONE;
	if (functions > 1) {
		error_set(e, EXIT_USAGE, "two functions of the kernel cannot be faster at once");
		return error_hint(e, "each counts with what it calls: name one of them");
	}
	if (!wanted[KERNEL_FUNCTIONS] || !wanted[KERNEL_SYSCALLS])
		return 0;
	error_set(e, EXIT_USAGE, "the kernel's functions and its system calls exclude each other");
	return error_hint(e, "time in the kernel counts for one unit: name -b KERNEL and "
			     "kernel:FUNCTION, or -b SYSCALLS and sys:NAME");
}

/* What accounts follow, and by what they are joined. */
static int check_words(struct run_options *o, struct error *e)
{
	o->sync_uprobe = o->sync && !strcmp(o->sync, "uprobe");
	if (o->sync && !o->sync_uprobe && strcmp(o->sync, "wake")) {
		error_set(e, EXIT_USAGE, "there is no '--sync=%s'", o->sync);
		return error_hint(e, "give --sync=wake or --sync=uprobe");
	}
	o->no_goroutines = o->goroutines && !strcmp(o->goroutines, "off");
	if (o->goroutines && !o->no_goroutines && strcmp(o->goroutines, "auto")) {
		error_set(e, EXIT_USAGE, "there is no '--goroutines=%s'", o->goroutines);
		return error_hint(e, "give --goroutines=auto or --goroutines=off");
	}
	return 0;
}

static int check_options(struct run_options *o, struct error *e)
{
	if (!o->command[0] && !o->pids.n && !o->cgroup) {
		error_set(e, EXIT_USAGE, "no command given");
		return error_hint(e, "cozbpf -P PROGRESS -- cmd args..., or -p PID for a running "
				     "process; see cozbpf --help");
	}
	if (check_attach(o, e))
		return -1;
	if (o->period_ns && (o->period_ns < 100000 || o->period_ns > 100000000)) {
		error_set(e, EXIT_USAGE, "a period of %llu us cannot be sampled",
		    (unsigned long long)o->period_ns / 1000);
		return error_hint(e, "give --period between 100us and 100ms");
	}
	if (o->length_ns && (o->length_ns < 20000000 || o->length_ns > 600000000000ULL)) {
		error_set(e, EXIT_USAGE, "experiments cannot last %llu ms",
		    (unsigned long long)o->length_ns / 1000000);
		return error_hint(e, "give --experiment-length between 20ms and 10m");
	}
	if (!o->runs || o->runs > 100000) {
		error_set(e, EXIT_USAGE, "the command cannot be run %llu times",
		    (unsigned long long)o->runs);
		return error_hint(e, "give --runs between 1 and 100000");
	}
	if (o->end_to_end && (o->progress.n || o->latency.n)) {
		error_set(e, EXIT_USAGE, "'--end-to-end' and '--%s' exclude each other",
		    o->progress.n ? "progress" : "latency");
		return error_hint(
		    e, "leave one out: end-to-end, each run as a whole is the progress");
	}
	if (o->fixed_lines.n > FIXED_LINES) {
		error_set(e, EXIT_USAGE, "'--fixed-line' is given %zu times", o->fixed_lines.n);
		return error_hint(e, "name one line, or two that are to be faster at once");
	}
	if (check_words(o, e) || check_peers(o, e) || check_pause(o, e) || check_waits(o, e) ||
	    take_kernel(o, e) || specs_check(&o->progress, &o->latency, e))
		return -1;
	if (o->spins.n && (o->no_spin || o->spins.n > SPIN_NAMES)) {
		error_set(e, EXIT_USAGE,
		    o->no_spin ? "'--spin' and '--no-spin' exclude each other"
			       : "more functions are named by '--spin' than %d",
		    SPIN_NAMES);
		return error_hint(e, "leave some out");
	}
	if (o->tui && (o->quiet || o->no_tui)) {
		error_set(e, EXIT_USAGE, "'--tui' and '%s' exclude each other",
		    o->quiet ? "--quiet" : "--no-tui");
		return error_hint(e, "leave one out");
	}
	return parse_units(o, e) || parse_speedups(o, e) || parse_until(o, e) || parse_duty(o, e) ||
		       check_exports(o, e)
		   ? -1
		   : 0;
}

/* The command line up to what ending.h adds: options that have nothing to do with runs as units. */
static int keep_words(struct run_options *o, const struct run_options *defaults, struct error *e)
{
	static const char *const without[] = {"progress", "latency", "runs", "end-to-end", "seed",
	    "duration", "until", "experiment-length", "duty", "pause-above", "pause-if", "metrics",
	    "pprof", "rotate", NULL};

	return (getenv("SUDO_UID") && shell_append(&o->again, "sudo")) ||
		       shell_append(&o->again, program_invocation_name) ||
		       options_again(&table, o, defaults, without, &o->again)
		   ? error_set(e, EXIT_OTHER, "out of memory")
		   : 0;
}

int cmd_run(int argc, char **argv)
{
	const struct run_options defaults = {
	    .output = "profile.coz", .runs = 1, .seed = monotonic_ns()};
	struct run_options o = defaults;
	struct error e = {0};
	int first = options_parse(&table, argc, argv, &o, &e), status = EXIT_OK;

	o.command = argv + (first > 0 ? first : argc);
	if (first)
		status = first < 0 || check_options(&o, &e) || keep_words(&o, &defaults, &e) ||
				 job_output(&o, &e)
			     ? say_error(&e)
			     : run_profile(&o);
	run_options_deinit(&o);
	return status;
}
