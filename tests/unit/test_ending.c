// SPDX-License-Identifier: BSD-3-Clause
/* The end of a run: each reason for no answer, each warning, and their order. */
#include "check.h"

#include "report/ending.h"

/* A run that has an answer and nothing to warn of. */
static const struct ending_point work = {.name = "work", .label = "work=a.c:9", .visits = 100};
static const struct ending_facts fine = {.path = "/bin/prog",
    .unit = "line",
    .n_objects = 1,
    .samples = 1000,
    .in_scope = 900,
    .experiments = 20,
    .runs = 1,
    .last_run_ns = 10000000000ULL,
    .all_runs_ns = 10000000000ULL,
    .executed_ns = 9000000000ULL,
    .points = &work,
    .n_points = 1};

static char *const job[] = {"./job", "in put", NULL};

/* The messages of a run in one text, an answer or an error as the last line. */
static const char *judged(const struct ending_facts *f)
{
	static char ret[8192];
	struct ending g;
	struct error e = {0};
	int err = ending_judge(f, &g, &e);

	ret[0] = 0;
	for (size_t i = 0; i < g.n_messages; i++)
		snprintf(ret + strlen(ret), sizeof(ret) - strlen(ret), "%s\n", g.messages[i]);
	snprintf(ret + strlen(ret), sizeof(ret) - strlen(ret), "%s", err ? e.cause : "answer");
	if (err) {
		CHECK_EQ(e.status, EXIT_NO_RESULT);
		CHECK(e.hint[0]);
		snprintf(ret + strlen(ret), sizeof(ret) - strlen(ret), "\n%s", e.hint);
	}
	ending_deinit(&g);
	return ret;
}

TEST(all_is_well)
{
	CHECK_STR(judged(&fine), "answer");
}

/* Code that a runtime has made: said where it is much, also where there is no answer. */
TEST(made_code)
{
	struct ending_facts f = fine;

	f.made = (struct ending_made){7, "node", "/tmp/perf-1.map", 49};
	CHECK_STR(judged(&f), "answer");
	f.made.samples = 50;
	CHECK(strstr(judged(&f), "warning: 5 % of the samples are in code that programs make "
				 "while they run, and no file /tmp/perf-1.map names the "
				 "functions of process 7 (node): "));
	CHECK(strstr(judged(&f), "hint: that file is written by `node --perf-basic-prof`, "));
	CHECK(strstr(judged(&f), "\nanswer"));
	f.experiments = 0;
	CHECK(strstr(judged(&f), "process 7 (node)"));
	f.made.path = NULL;
	CHECK(strstr(judged(&f), "warning: 5 % of the samples are in code that process 7 (node) "
				 "has made while it ran, which has no lines\nhint: with "
				 "--granularity function"));
	f.made.pid = 0;
	CHECK(!strstr(judged(&f), "process 7"));
}

TEST(too_short)
{
	struct ending_facts f = fine;

	f.experiments = 0;
	f.last_run_ns = 120000000;
	f.command = job;
	f.again = "sudo cozbpf -o 'a b.coz'";
	f.advice = (struct run_advice){25, 31400000000ULL};
	CHECK_STR(judged(&f),
	    "the command ended after 0.12 s, before one experiment was done\n"
	    "give it more work, or take whole runs as units, 25 runs take about "
	    "31 s: sudo cozbpf -o 'a b.coz' --end-to-end -n 25 -- ./job 'in put'");
	f.samples = 0; /* the first reason that holds */
	CHECK(strstr(judged(&f), "the command ended after 0.12 s, before one experiment was done"));
	f.command = NULL; /* a process that was attached to */
	CHECK_STR(judged(&f), "the process ended after 0.12 s, before one experiment was done\n"
			      "profile it while it has more work");
	f.is_end_to_end = true;
	CHECK(strstr(judged(&f), "hardly ever seen"));
	f = fine;
	f.experiments = 0;
	f.last_run_ns = 120000000;
	f.command = job;
	f.ended_by = 11;
	CHECK_STR(judged(&f), "the command was ended by signal 11 (Segmentation fault) after 0.12 "
			      "s, before one experiment was done\n"
			      "does it end so without cozbpf, too?");
	f = fine; /* with no line in scope, no more work would help */
	f.experiments = f.in_scope = 0;
	f.last_run_ns = 120000000;
	CHECK(strstr(judged(&f), "none in a line in scope"));
}

TEST(few_samples)
{
	struct ending_facts f = fine;

	f.samples = 9; /* experiments on a line that they happened to hit say nothing */
	CHECK_STR(judged(&f), "the process was hardly ever seen on a CPU: 9 samples\n"
			      "is there load? a program that only sleeps or waits for others has "
			      "nothing to speed up; profile the one that works");
	f.command = job;
	CHECK_STR(judged(&f), "the command was hardly ever seen on a CPU: 9 samples\n"
			      "a program that only sleeps or waits for others has nothing to speed "
			      "up; profile the one that works");
	f.samples = 10;
	CHECK_STR(judged(&f), "answer");
}

TEST(nothing_in_scope)
{
	struct ending_facts f = fine;

	f.experiments = 0;
	f.n_objects = 0;
	f.in_scope = 0;
	f.binary = "%/nowhere";
	CHECK_STR(judged(&f), "nothing that the program has mapped is in scope: no file with line "
			      "tables matches -b '%/nowhere'\n"
			      "patterns are matched with whole paths, for example -b "
			      "'%/libz.so%'; MAIN is the program's own file");
	f.n_objects = 1;
	CHECK_STR(judged(&f),
	    "1000 samples, but none in a line in scope of '/bin/prog'\n"
	    "is the work done in a library or a child? name it with -b PATTERN "
	    "(% is the wildcard); `cozbpf lines /bin/prog` shows what is in scope");
}

TEST(functions_are_no_lines)
{
	const struct ending_point tick = {.name = "tick", .visits = 9, .is_paced = true};
	struct ending_facts f = fine;

	f.unit = "function";
	f.points = &tick;
	CHECK(strstr(judged(&f), "no function makes them come faster"));
	f = fine;
	f.unit = "function";
	f.experiments = f.in_scope = 0;
	CHECK(strstr(judged(&f), "1000 samples, but none in a function in scope of '/bin/prog'"));
}

/* Whole runs that were none: told of beside an answer, too. */
TEST(runs_cut_short)
{
	struct ending_facts f = fine;

	f.is_end_to_end = true;
	f.spoilt.cut = 1;
	CHECK_STR(judged(&f), "warning: 1 run does not count: the command failed where it had "
			      "succeeded before, or was told to end\nanswer");
	f.spoilt.cut = 3;
	CHECK(strstr(judged(&f), "warning: 3 runs do not count"));
	f.experiments = 0;
	CHECK_STR(judged(&f), "all 3 experiments were spoilt, most because the command failed "
			      "where it had succeeded before, or was told to end\n"
			      "let it run to its end; is there memory enough for it?");
}

TEST(spoilt)
{
	struct ending_facts f = fine;

	f.experiments = 0;
	f.spoilt.no_time = 1;
	CHECK_STR(judged(&f), "the only experiment was spoilt: what was made faster is nearly all "
			      "that the program does, and no time was left to count in\n"
			      "profile longer (-d 60s), or name lower speedups: --fixed-speedup "
			      "0,25,50,75");
	f.spoilt.busy = 2;
	CHECK_STR(judged(&f), "all 3 experiments were spoilt, most because other programs had the "
			      "CPUs\nprofile while the machine is less busy, or longer: -d 60s");
	f.spoilt.debt = 3;
	CHECK_STR(judged(&f),
	    "all 6 experiments were spoilt, most because threads could not be "
	    "made to pause\nthe warnings above name the processes and the reason");
	f.spoilt.stop = 3; /* of as many, the first */
	CHECK_STR(judged(&f), "all 9 experiments were spoilt, most because the target or the "
			      "machine was stopped meanwhile\nprofile again, or longer: -d 60s");
	f.experiments = 1; /* some were not */
	CHECK_STR(judged(&f), "answer");
}

TEST(no_experiment)
{
	struct ending_facts f = fine;

	f.experiments = 0;
	CHECK_STR(
	    judged(&f), "profiling ended before one experiment was done\nprofile longer: -d 60s");
}

/* One run says how many are needed. */
TEST(one_run)
{
	static char long_word[1000];
	char *const long_job[] = {"./job", long_word, NULL};
	struct ending_facts f = fine;

	f.experiments = 0;
	f.is_end_to_end = true;
	f.n_points = 0;
	f.threads = 2;
	f.last_run_ns = 1234000000;
	f.period_ns = 1000000;
	f.command = job;
	f.again = "cozbpf";
	f.advice = (struct run_advice){30, 41000000000ULL};
	CHECK_STR(judged(&f),
	    "the command took 1.23 s and ran 2 threads: one run tells nothing about what would "
	    "make it faster\n"
	    "give a progress point with -P, or more runs: 30 runs take about 41 s: cozbpf "
	    "--end-to-end -n 30 -- ./job 'in put'");
	f.threads = 1;
	f.advice.ns = 1500000000000ULL;
	CHECK(strstr(judged(&f), "ran 1 thread: one run"));
	CHECK(strstr(judged(&f), "30 runs take about 25 min: cozbpf "));
	memset(long_word, 'x', sizeof(long_word) - 1);
	f.command = long_job;
	CHECK(strstr(judged(&f), "about 25 min: the same command line with --end-to-end -n 30"));
	/* A command that is over after some samples was busy, one that takes long was not. */
	f.command = job;
	f.samples = 3;
	f.last_run_ns = 12000000;
	CHECK(strstr(judged(&f), "the command took 0.012 s and ran 1 thread: one run"));
	f.last_run_ns = 12000001;
	CHECK(strstr(judged(&f), "hardly ever seen on a CPU: 3 samples"));
	f.samples = 1000;
	f.in_scope = 0;
	CHECK(strstr(judged(&f), "the command ended after 0.01 s")); /* it has hardly begun */
	f.last_run_ns = 50000000;
	CHECK(strstr(judged(&f), "none in a line in scope"));
}

/* -d was over first. */
TEST(cut_off)
{
	struct ending_facts f = fine;

	f.experiments = 0;
	f.is_cut = true;
	f.last_run_ns = 500000000;
	f.command = job;
	CHECK_STR(
	    judged(&f), "profiling ended before one experiment was done\nprofile longer: -d 60s");
	f.is_end_to_end = true;
	f.n_points = 0;
	CHECK_STR(judged(&f),
	    "profiling was over after 0.5 s, before the command came to its end: without a "
	    "progress point only a whole run tells\n"
	    "give a progress point with -P, or let the command end by itself");
}

/* As a server does that goes to the background. */
TEST(left_in_the_background)
{
	struct ending_facts f = fine;

	f.left_pid = 77;
	snprintf(f.left_comm, sizeof(f.left_comm), "served");
	CHECK_STR(judged(&f), "answer");
	f.experiments = 0;
	f.last_run_ns = 580000000;
	CHECK_STR(judged(&f), "the command ended after 0.58 s and left process 77 (served) in the "
			      "background\nprofile that one: cozbpf -p 77; or have the command "
			      "stay in the foreground");
	f.last_run_ns = 1000000000; /* it has worked itself */
	CHECK(!strstr(judged(&f), "process 77"));
}

/* Runs that do not suffice: how many more. */
TEST(more_runs)
{
	struct estimate_line lines[] = {{.line = "a.c:1",
					    .progress = END_TO_END,
					    .slope = 0.2,
					    .slope_lo = -0.16,
					    .slope_hi = 0.56,
					    .verdict = VERDICT_NOT_ENOUGH_DATA,
					    .shortage = SHORT_INTERVAL,
					    .samples = 9},
	    {.line = "a.c:2",
		.progress = END_TO_END,
		.verdict = VERDICT_NOT_ENOUGH_DATA,
		.shortage = SHORT_EXPERIMENTS,
		.samples = 3}};
	struct estimate e = {.lines = lines, .n_lines = 2, .runs = 12};
	struct ending_facts f = fine;
	struct ending g = {0};

	f.is_end_to_end = true;
	f.runs = 12;
	f.all_runs_ns = 24000000000ULL;
	f.command = job;
	f.again = "cozbpf";
	/* 0.72 wide, 0.36 is wanted: four times as many */
	ending_say_more(&f, &e, &g);
	CHECK_EQ(g.n_messages, 1);
	CHECK_STR(g.n_messages ? g.messages[0] : NULL,
	    "hint: runs add up in the profile; 36 more runs take about 72 s: cozbpf --end-to-end "
	    "-n 36 -- ./job 'in put'");
	ending_deinit(&g);
	lines[1].samples = 90; /* nothing is known of the main line */
	ending_say_more(&f, &e, &g);
	CHECK(g.n_messages == 1 && strstr(g.messages[0], "; 8 more runs take about 16 s: "));
	ending_deinit(&g);
	lines[1].verdict = VERDICT_NO_EFFECT;
	ending_say_more(&f, &e, &g);
	CHECK_EQ(g.n_messages, 0);
	lines[1].verdict = VERDICT_NOT_ENOUGH_DATA;
	f.is_end_to_end = false;
	ending_say_more(&f, &e, &g);
	CHECK_EQ(g.n_messages, 0);
	ending_deinit(&g);
}

TEST(points_without_visits)
{
	struct error missing = {.cause = "no symbol 'x' in 'lib.so'", .hint = "did you mean 'y'"};
	struct ending_point points[] = {
	    {.name = "one", .label = "one"}, {.name = "two", .label = "two", .visits = 1}};
	struct ending_facts f = fine;

	f.points = points;
	f.n_points = 2;
	CHECK_STR(judged(&f), "warning: progress point 'one' was never visited\nanswer");
	points[0].missing = &missing;
	CHECK_STR(judged(&f), "warning: progress point 'one' was never found: no symbol 'x' in "
			      "'lib.so'\nanswer");
	points[1].visits = 0;
	CHECK_STR(judged(&f), "progress point 'one' was never found: no symbol 'x' in 'lib.so'\n"
			      "the program has mapped no file that has it; did you mean 'y'");
	missing.hint[0] = 0;
	CHECK_STR(judged(&f), "progress point 'one' was never found: no symbol 'x' in 'lib.so'\n"
			      "the program has mapped no file that has it");
	points[0].missing = NULL;
	CHECK_STR(judged(&f),
	    "progress point 'one' was never visited, nor any other\n"
	    "choose a place that the program passes once per unit of work; was it "
	    "inlined, or does another process run it?");
	f.n_points = 1;
	CHECK(strstr(judged(&f), "progress point 'one' was never visited\nchoose a place"));
	f.experiments = 0; /* no visit is the reason, whatever else there is */
	f.samples = 0;
	CHECK(strstr(judged(&f), "progress point 'one' was never visited\nchoose a place"));
}

/* A process that was asked to pause 1000 times, and its answer. */
static const char *paused(struct cozbpf_proc_stats stats, size_t n)
{
	struct ending_process processes[40];
	struct ending_facts f = fine;

	stats.asked = 1000;
	memcpy(stats.comm, "worker", 7);
	for (size_t i = 0; i < n; i++)
		processes[i] = (struct ending_process){(int)(70 + i), stats};
	f.processes = processes;
	f.n_processes = n;
	return judged(&f);
}

TEST(not_paused)
{
	struct cozbpf_proc_stats s = {.withdrawn = 50};

	CHECK_STR(paused(s, 1), "answer"); /* a twentieth is usual */
	s.withdrawn = 51;
	CHECK_STR(paused(s, 1),
	    "warning: process 70 (worker) could not be paused 51 times of 1000: the signal was not "
	    "delivered in time (a busy machine, or the signal queue limit: ulimit -i); predictions "
	    "that depend on it are too low\nanswer");
	s.blocked = 60;
	CHECK_STR(paused(s, 1), "warning: process 70 (worker) could not be paused 111 times of "
				"1060: its threads block the pause signal; predictions that depend "
				"on it are too low\nanswer");
	s.small_stack = 200;
	CHECK(strstr(paused(s, 1), "311 times of 1260: its stacks have no room for a signal; "));
	s.filtered = 320;
	CHECK(strstr(paused(s, 1),
	    "631 times of 1580: its system calls are restricted (seccomp, or "
	    "dispatch to itself as in Wine), so that a pause might kill it; "));
	s.filtered = 0;
	s.foreign_stack = 400;
	CHECK(strstr(paused(s, 1), "711 times of 1660: it runs on stacks that it has made itself "
				   "(coroutines), which a pause may overrun; if each has 4 kB to "
				   "spare, use --any-stack; "));
	s.foreign_stack = 0;
	s.no_shim = 400;
	CHECK(strstr(paused(s, 1), "711 times of 1660: it has no pause handler (static, setuid, "
				   "started without LD_PRELOAD, ended before it had one, or it "
				   "uses the signal itself); "));
	CHECK(strstr(paused(s, 3), "warning: process 70 (worker) and 2 more of that name could not "
				   "be paused 2133 times of 4980: "));
}

TEST(many_names_share_the_last_entry)
{
	struct ending_process processes[40];
	struct ending_facts f = fine;
	const char *text;

	for (int i = 0; i < 40; i++) {
		processes[i] = (struct ending_process){.pid = i + 1, .stats.no_shim = 10};
		snprintf(processes[i].stats.comm, sizeof(processes[i].stats.comm), "p%d", i);
	}
	f.processes = processes;
	f.n_processes = 40;
	text = judged(&f);
	CHECK(strstr(text, "process 1 (p0) could not"));
	CHECK(strstr(text, "process 32 (p31) and 8 more of that name could not be paused 90 times "
			   "of 90"));
	CHECK(!strstr(text, "(p32)"));
}

TEST(paced)
{
	struct ending_point points[] = {
	    {.name = "request", .label = "r", .visits = 9, .is_begin = true, .is_paced = true},
	    {.name = "request", .label = "r", .visits = 9},
	    {.name = "tick", .label = "t", .visits = 9, .is_paced = true, .pace_ns = 9},
	    {.name = "item", .label = "i", .visits = 9, .pace_ns = 2400000}};
	struct ending_facts f = fine;

	f.points = points;
	f.n_points = 4;
	CHECK_STR(judged(&f),
	    "warning: requests of 'request' are begun by a periodic timer, which no delay holds "
	    "back: gains in latency come out too low where they wait for each other\n"
	    "warning: visits to 'tick' are paced by a periodic timer: no line makes them come "
	    "faster\nwarning: a periodic timer feeds the visits to 'item': no prediction has more "
	    "than "
	    "one visit per expiry, each 2.4 ms\nanswer");
}

TEST(throttled)
{
	struct ending_facts f = fine;

	f.throttled_ns = 100000000;
	CHECK_STR(judged(&f), "answer"); /* 1 % */
	f.throttled_ns = 2500000000ULL;
	CHECK_STR(judged(&f),
	    "warning: a CPU quota held the program's control group back for 2.5 s, CPUs added up, "
	    "of 10.0 s, and pauses use it up as well (--sleep-pauses does less); raise the quota "
	    "(cpu.max, cpu.cfs_quota_us) while profiling, or expect gains that are too small\n"
	    "answer");
	f.sleeps = true;
	CHECK(strstr(judged(&f), "of 10.0 s; raise the quota"));
}

TEST(spinning)
{
	struct ending_facts f = fine;

	f.spun_ns = f.executed_ns / 10 - 1;
	CHECK_STR(judged(&f), "answer");
	f.spun_ns = f.executed_ns / 10;
	CHECK_STR(judged(&f), "threads spun for 10 % of their CPU time: that counts as waiting, "
			      "with --no-spin as work\nanswer");
	f.is_verbose = true;
	f.spun_ns = 1;
	CHECK(strstr(judged(&f), "threads spun for 0 %"));
}

TEST(no_waits)
{
	struct ending_facts f = fine;

	CHECK_STR(judged(&f), "answer"); /* nobody asks */
	f.asks_waits = true;
	CHECK_STR(judged(&f), "warning: no thread has waited so as '--off-cpu' asks, for as long "
			      "as a sample stands for\n"
			      "hint: --off-cpu without classes takes all of them\nanswer");
	f.wait_samples = 1;
	CHECK_STR(judged(&f), "answer");
}

TEST(probed_calls)
{
	struct ending_facts f = fine;

	f.calls = 1000000;
	f.probe_ns = 400;
	CHECK_STR(judged(&f), "answer"); /* there are no probes */
	f.has_probes = true;
	CHECK_STR(judged(&f), "answer"); /* 4 % */
	f.probe_ns = 900;
	CHECK_STR(judged(&f),
	    "warning: 1000000 probes of calls were hit, at 900 ns each about 10 % of the program's "
	    "CPU time: that bends what is measured; use --sync=wake\nanswer");
	f.calls = 0;
	CHECK_STR(judged(&f), "warning: no probed call was ever made: is the program static, or "
			      "does it synchronise by other means? use --sync=wake\nanswer");
}

TEST(counts_when_asked)
{
	struct ending_process process = {
	    .pid = 7, .stats = {.samples = 9, .in_scope = 8, .asked = 7, .begun = 6}};
	struct ending_point points[] = {{.name = "work", .label = "a.c:9", .visits = 100},
	    {.name = "line", .label = "a.c:10", .visits = 5, .is_sampled = true}};
	struct ending_facts f = fine;

	memcpy(process.stats.comm, "prog", 5);
	f.is_verbose = true;
	f.processes = &process;
	f.n_processes = 1;
	f.points = points;
	f.n_points = 2;
	f.has_probes = true;
	f.calls = 10;
	f.probe_ns = 900;
	f.stretched = 3;
	f.edges = 11;
	f.other_wakes = 12;
	CHECK_STR(judged(&f),
	    "process 7 (prog): 9 samples, 8 in scope, 7 pauses asked, 6 begun\n"
	    "10 probes of calls were hit, at 900 ns each about 0 % of the program's CPU time\n"
	    "progress point 'work': 100 visits in all\n"
	    "in 3 experiments threads executed more, virtually, than the CPUs have time for: they "
	    "count as longer\n"
	    "11 wake-ups by threads of the program, 12 by timers, devices and other programs\n"
	    "answer");
}

/* Goroutines are counted when asked, and warned of where their switches are most of the work. */
TEST(goroutines)
{
	struct ending_facts f = fine;

	f.goroutines = 12;
	f.go_switches = 1000000;
	CHECK_STR(judged(&f), "answer");
	f.go_switches++;
	CHECK_STR(judged(&f),
	    "warning: 12 goroutines, 1000001 switches to them, 100000 per second: the probes there "
	    "slow the program down; --goroutines=off has none\nanswer");
	f.is_verbose = true;
	f.go_switches = 10;
	CHECK(strstr(judged(&f), "12 goroutines, 10 switches to them, 1 per second\n"));
	f.goroutines = 0;
	CHECK(!strstr(judged(&f), "goroutines"));
}

/* Warnings come before the reason for no answer, and those about an answer only with one. */
TEST(order)
{
	struct ending_process process = {.pid = 7, .stats.no_shim = 10};
	struct ending_point points[] = {
	    {.name = "one", .label = "one"}, {.name = "two", .visits = 1, .is_paced = true}};
	struct ending_facts f = fine;

	memcpy(process.stats.comm, "prog", 5);
	f.processes = &process;
	f.n_processes = 1;
	f.points = points;
	f.n_points = 2;
	f.experiments = 0;
	f.spoilt.debt = 1;
	CHECK_STR(judged(&f),
	    "warning: process 7 (prog) could not be paused 10 times of 10: it has no pause handler "
	    "(static, setuid, started without LD_PRELOAD, ended before it had one, or it uses the "
	    "signal itself); "
	    "predictions that depend on it are too low\n"
	    "warning: progress point 'one' was never visited\n"
	    "the only experiment was spoilt: threads could not be made to pause\n"
	    "the warnings above name the processes and the reason");
}
