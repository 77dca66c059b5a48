// SPDX-License-Identifier: BSD-3-Clause
/* The profile: both spellings and the old ones, round trip, and input that is truncated, damaged or
 * not a profile. */
#include "check.h"

#include <locale.h>
#include <math.h>

#include "core/profile/profile.h"

static int read_bytes(struct profile *p, const char *text, size_t n, struct error *e)
{
	FILE *in = fmemopen((void *)text, n ? n : 1, "r");
	int ret;

	/* fmemopen has no empty files. */
	if (!n)
		getc(in);
	ret = profile_read(p, in, "test.coz", e);
	fclose(in);
	return ret;
}

static int read_text(struct profile *p, const char *text, struct error *e)
{
	profile_init(p);
	memset(e, 0, sizeof(*e));
	return read_bytes(p, text, strlen(text), e);
}

/* All keys of virtual time, and no others. */
TEST(stretch)
{
	struct point_record points[2] = {{.delta = 7, .span_ns = 1000, .span_delta = 6},
	    {.delta = 3, .paced_ns = 500, .integral_ns = -2000, .pairs_ns = 40}};
	struct experiment_record x = {.duration_ns = 1500,
	    .elapsed_ns = 2000,
	    .observed_ns = 900,
	    .points = points,
	    .n_points = 2};

	experiment_stretch(&x, 1.5);
	CHECK_EQ(x.duration_ns, 2250);
	CHECK_EQ(x.elapsed_ns, 2000);
	CHECK_EQ(x.observed_ns, 900);
	CHECK_EQ(points[0].delta, 7);
	CHECK_EQ(points[0].span_ns, 1500);
	CHECK_EQ(points[0].span_delta, 6);
	CHECK_EQ(points[1].paced_ns, 500);
	CHECK_EQ(points[1].integral_ns, -3000);
	CHECK_EQ(points[1].pairs_ns, 40);
	x.n_points = 0;
	x.points = NULL;
	experiment_stretch(&x, 2);
	CHECK_EQ(x.duration_ns, 4500);
}

TEST(legacy_spelling)
{
	struct profile p;
	struct error e;

	CHECK_EQ(read_text(&p,
		     "startup\ttime=1427398799607767367\n"
		     "experiment\tselected=a "
		     "b.c:528\tspeedup=0.35\tduration=500105496\tselected-samples=7\n"
		     "throughput-point\tname=x=y\tdelta=1856\n"
		     "latency-point\tname=l\tarrivals=5\tdepartures=4\tdifference=-3\n"
		     "runtime\ttime=77\n"
		     "samples\tlocation=a b.c:528\tcount=9\n",
		     &e),
	    0);
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(p.n_runs, 1);
	CHECK_EQ(p.runs[0].startup_time_ns, 1427398799607767367);
	CHECK_EQ(p.runs[0].runtime_ns, 77);
	CHECK_EQ(p.n_experiments, 1);
	CHECK_STR(p.experiments[0].selected, "a b.c:528");
	CHECK_NEAR(p.experiments[0].speedup, 0.35, 1e-12);
	CHECK_EQ(p.experiments[0].duration_ns, 500105496);
	CHECK_EQ(p.experiments[0].selected_samples, 7);
	CHECK(!p.experiments[0].fixed);
	CHECK_EQ(p.experiments[0].n_points, 2);
	CHECK_STR(p.experiments[0].points[0].name, "x=y");
	CHECK_EQ(p.experiments[0].points[0].delta, 1856);
	CHECK(p.experiments[0].points[1].is_latency);
	CHECK_EQ(p.experiments[0].points[1].difference, -3);
	CHECK_EQ(p.n_samples, 1);
	CHECK(!p.samples[0].has_free);
	profile_deinit(&p);
}

TEST(json_spelling)
{
	struct profile p;
	struct error e;

	CHECK_EQ(read_text(&p,
		     "{\"type\":\"startup\",\"time\":1427398799607767367}\n"
		     "{\"type\":\"experiment\",\"selected\":\"a\\tb.c:1\",\"speedup\":0.35,"
		     "\"duration\":500105496,\"selected_samples\":7,"
		     "\"new\":{\"a\":[1]}}\n"
		     "{\"type\":\"throughput_point\",\"name\":\"x\\r\\ny\",\"delta\":18}\n"
		     "{\"type\":\"throughput-point\",\"name\":\"y\",\"delta\":\"19\"}\n"
		     "{\"type\":\"latency_point\",\"name\":\"l\",\"arrivals\":5,\"departures\":4,"
		     "\"difference\":1}\n"
		     "{\"type\":\"runtime\",\"time\":77}\n"
		     "{\"type\":\"samples\",\"location\":\"a.c:1\",\"count\":9,\"id\":4}\n"
		     "{\"type\":\"experiment\",\"selected\":\"a.c:1\",\"speedup\":0,\"duration\":5,"
		     "\"observed\":4,\"lines\":\"4:1:2,5:3:0\"}",
		     &e),
	    0);
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(p.n_experiments, 2);
	CHECK_EQ(p.experiments[1].observed_ns, 4);
	CHECK_EQ(p.experiments[1].n_lines, 2);
	CHECK_EQ(p.experiments[1].lines[1].id, 5);
	CHECK_EQ(p.experiments[1].lines[1].opening, 3);
	CHECK_EQ(p.experiments[1].lines[0].observed, 2);
	CHECK_EQ(p.samples[0].id, 4);
	CHECK_STR(p.experiments[0].selected, "a b.c:1");
	CHECK_NEAR(p.experiments[0].speedup, 0.35, 1e-12);
	CHECK_EQ(p.experiments[0].selected_samples, 7);
	CHECK_EQ(p.experiments[0].n_points, 3);
	CHECK_STR(p.experiments[0].points[0].name, "x  y");
	CHECK_EQ(p.experiments[0].points[1].delta, 19);
	CHECK_EQ(p.experiments[0].points[2].difference, 1);
	CHECK_EQ(p.n_samples, 1);
	profile_deinit(&p);
}

/* What Coz wrote years ago, what other tools write, and lines that mix both. */
TEST(old_and_foreign_spellings)
{
	struct profile p;
	struct error e;

	CHECK_EQ(read_text(&p,
		     "startup\ttime=1000\n"
		     "experiment\tselected=ON_CPU\tspeedup=1\tduration=5\tselected-samples="
		     "0\tdelay=12\r\n"
		     "progress-point\tname=m.c:1\ttype=source\tdelta=3\n"
		     "\n"
		     "shutdown\ttime=5000\tsamples=40\n"
		     "startup\ttime=6000\n"
		     "{\"type\":\"experiment\",\"selected\":\"f()\",\"speedup\":0,\"duration\":6}\n"
		     "throughput_point\tname=p\tdelta=0\n"
		     "marker\ttext=hello\n"
		     "runtime\ttime=9\n"
		     "runtime\ttime=8\n",
		     &e),
	    0);
	CHECK_EQ(p.n_skipped, 1); /* marker */
	CHECK_EQ(p.n_runs, 2);
	CHECK_EQ(p.runs[0].runtime_ns, 4000);
	CHECK_EQ(p.runs[0].samples, 40);
	CHECK_EQ(p.runs[1].runtime_ns, 9);
	CHECK_EQ(p.n_experiments, 2);
	CHECK_EQ(p.experiments[0].points[0].delta, 3);
	CHECK_EQ(p.experiments[1].run, 1);
	CHECK_EQ(p.experiments[1].n_points, 1);
	profile_deinit(&p);
}

static void write_all(FILE *out, const struct profile *p)
{
	CHECK_EQ(profile_write_startup(out, &p->runs[0]), 0);
	for (size_t i = 0; i < p->n_experiments; i++)
		CHECK_EQ(profile_write_experiment(out, &p->experiments[i]), 0);
	for (size_t i = 0; i < p->n_samples; i++)
		CHECK_EQ(profile_write_samples(out, &p->samples[i]), 0);
	CHECK_EQ(profile_write_runtime(out, &p->runs[0]), 0);
}

static const char all_keys[] =
    "startup\ttime=123\tbuild-id=0123456789abcdef0123456789abcdef01234567\tspeedups=4"
    "\tperiod=330000\tsample-cost=12000\tpause=quanta\n"
    "experiment\tselected=/a/"
    "b.c:10\tspeedup=0.00\tduration=500\tselected-samples=3\tselected-time=2000000\t"
    "loops=12\tloop-time=3840\toutsiders=77\telapsed=501\tstart=9\tfixed=1\n"
    "throughput-point\tname=w\tdelta=100\tbursts=90\tspan-delta=99\tspan=480\n"
    "latency-point\tname=l\tarrivals=1\tdepartures=2\tdifference=-1\n"
    "latency-point\tname=m\tarrivals=9\tdepartures=8\tdifference=1\tintegral=-4800\tleast=-"
    "2\tpairs=7\tpairs-sum=-4711\tunmatched=3\t"
    "abandoned=2\tlost=1\thistogram=0:1,64:2,2367:4\tbursts=8\tspan-delta=7\tspan=480\tpaced="
    "501\tpace=31\n"
    "experiment\tselected=/a/b.c:10\tspeedup=0.05\tduration=500\tselected-samples=0\n"
    "throughput-point\tname=w\tdelta=0\n"
    "experiment\tselected=/a/"
    "b.c:10\tspeedup=0.00\tduration=500\tselected-samples=7\tobserved=499\tlines=3:2:7,12:1:0\n"
    "throughput-point\tname=w\tdelta=3\n"
    "experiment\tselected=/a/b.c:10\tspeedup=1.00\tduration=1\tselected-samples=0\n"
    "samples\tlocation=/a/b.c:10\tcount=50\tfree=0\n"
    "samples\tlocation=/a/b.c:11\tcount=5\n"
    "samples\tlocation=/a/b.c:12\tcount=6\tfree=2\tid=12\tfunction=b:work\n"
    "samples\tlocation=/a/b.c:12 [io]\tcount=7\tid=99\tfunction=[io]\tstacks=4:12/3,1:12\t"
    "wakers=5:12,1:timer,1:0\tcalls=fsync:6,read:1\n"
    "runtime\ttime=1000\tfree=700\tlost=1\tdropped=2\tsamples=60\tin-scope=55\texecuted="
    "600\toutsiders=30\n";

/* Profiles of before have no mode of pausing, later ones may have others. */
TEST(modes_of_pausing)
{
	static const struct {
		const char *startup, *pause;
	} lines[] = {{"startup\ttime=1\n", ""}, {"startup\ttime=1\tpause=write\n", "write"},
	    {"startup\ttime=1\tpause=\n", ""}, {"startup\ttime=1\tpause=a b\n", ""},
	    {"startup\ttime=1\tpause=muchlonger\n", ""}};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct profile p;
		struct error e;

		CHECK_EQ(read_text(&p, lines[i].startup, &e), 0);
		CHECK_EQ(p.n_skipped, 0);
		CHECK_STR(p.runs[0].pause, lines[i].pause);
		profile_deinit(&p);
	}
}

TEST(round_trip)
{
	struct profile p;
	struct error e;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_EQ(read_text(&p, all_keys, &e), 0);
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(p.runs[0].fixed_speedups, 4);
	CHECK_EQ(p.runs[0].period_ns, 330000);
	CHECK_STR(p.runs[0].pause, "quanta");
	CHECK(p.samples[0].has_free && !p.samples[1].has_free);
	write_all(out, &p);
	fclose(out);
	CHECK_STR(text, all_keys);
	free(text);
	profile_deinit(&p);
}

/* A name with separators is written in a readable form; the decimal sign is a point in every
 * locale. */
TEST(written_values_are_safe)
{
	struct point_record point = {.name = "a\tb\nc\rd", .delta = 1};
	struct experiment_record x = {.selected = "x\ty:1",
	    .speedup = 0.295,
	    .duration_ns = 1,
	    .points = &point,
	    .n_points = 1};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	setlocale(LC_ALL, "de_DE.UTF-8");
	CHECK_EQ(profile_write_experiment(out, &x), 0);
	setlocale(LC_ALL, "C");
	fclose(out);
	CHECK_STR(text, "experiment\tselected=x y:1\tspeedup=0.30\tduration=1\tselected-samples=0\n"
			"throughput-point\tname=a b c d\tdelta=1\n");
	free(text);
}

TEST(full_device_is_an_error)
{
	FILE *out = fopen("/dev/full", "w");
	struct run_record r = {0};

	if (!out)
		return;
	setvbuf(out, NULL, _IONBF, 0);
	CHECK(profile_write_startup(out, &r) < 0);
	fclose(out);
}

static void refuses_line(const char *line)
{
	struct profile p;
	struct error e;
	char text[512];

	snprintf(text, sizeof(text),
	    "startup\ttime=1\n%s\nthroughput-point\tname=p\tdelta=7\nruntime\ttime=5\n", line);
	CHECK_EQ(read_text(&p, text, &e), 0);
	if (p.n_skipped != 2 || p.n_experiments || p.n_samples || p.n_runs != 1)
		fprintf(stderr, "line: %s\n", line);
	CHECK_EQ(p.n_skipped, 2);
	CHECK_EQ(p.n_experiments, 0);
	CHECK_EQ(p.n_samples, 0);
	CHECK_EQ(p.n_runs, 1);
	profile_deinit(&p);
}

/* Each line is refused on its own, and the points after a refused experiment belong nowhere. */
TEST(damaged_lines)
{
	static const char *const bad[] = {
	    "experiment\tselected=a.c:1\tspeedup=0.35\tduration=18446744073697732656\tselected-"
	    "samples=0", /* below zero: Coz does this */
	    "experiment\tselected=a.c:1\tspeedup=0.35\tduration=-5",
	    "experiment\tselected=a.c:1\tspeedup=0.35\tduration=99999999999999999999999999",
	    "experiment\tselected=a.c:1\tspeedup=0.35",
	    "experiment\tselected=a.c:1\tspeedup=nan\tduration=5",
	    "experiment\tselected=a.c:1\tspeedup=1.01\tduration=5",
	    "experiment\tselected=a.c:1\tspeedup=-0.1\tduration=5",
	    "experiment\tselected=a.c:1\tspeedup=\tduration=5",
	    "experiment\tselected=a.c:1\tspeedup=.\tduration=5",
	    "experiment\tselected=\tspeedup=0\tduration=5",
	    "experiment\tspeedup=0\tduration=5",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tfixed=2",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5 ",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tlines=1:1:1", /* in no time */
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=0\tlines=1:1:1",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=1:1",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=1:1:",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=1:1:1,",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=1:1:1:1",
	    /* not sampled */
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=1:0:1",
	    /* no id */
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=0:1:1",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=2:1:1,2:1:1",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=4294967296:1:1",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=1:"
	    "18446744073709551616:1",
	    "experiment\tselected=a.c:1\tspeedup=0\tduration=5\tobserved=1\tlines=1:-1:1",
	    "{\"type\":\"experiment\",\"selected\":\"a\",\"speedup\":0,\"duration\":1,\"observed\":"
	    "1,\"lines\":5}",
	    "samples\tlocation=a\tcount=1\tid=x",
	    "throughput-point\tname=x\tdelta=1", /* belongs to no experiment */
	    "{\"type\":\"experiment\",\"selected\":\"a\",\"speedup\":1e999,\"duration\":5}",
	    "{\"type\":\"experiment\",\"selected\":\"a\",\"speedup\":0.5,\"duration\":-1}",
	    "{\"type\":\"experiment\",\"selected\":\"a\",\"speedup\":0.5,\"duration\":1e300}",
	    "{\"type\":\"experiment\",\"selected\":5,\"speedup\":0.5,\"duration\":1}",
	    "{\"type\":5}",
	    "{\"type\":\"experiment\"",
	    "{}",
	    "{",
	    "[1]",
	    "samples\tlocation=a\tcount=1x",
	    "samples\tlocation=a\tcount=1\tfree=2",
	    "samples\tlocation=a [io]\tcount=1\tstacks=",
	    "samples\tlocation=a [io]\tcount=1\tstacks=1:2/",
	    "samples\tlocation=a [io]\tcount=1\twakers=1:nobody",
	    "{\"type\":\"samples\",\"location\":\"a [io]\",\"count\":1,\"wakers\":5}",
	    "runtime\ttime=",
	    "startup\ttime=0x10",
	    "startup",
	    "\t\t\t",
	    "=",
	    "\xff\xfe\x01",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses_line(bad[i]);
}

TEST(damaged_points)
{
	static const char *const bad[] = {"delta=18446744073709551615", "delta=-1",
	    "delta=5\tbursts=6", "delta=5\tbursts=2\tspan-delta=6\tspan=1",
	    "delta=5\tbursts=2\tspan-delta=4\tspan=18446744073709551615", "delta=", ""};
	struct profile p;
	struct error e;
	char text[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text),
		    "experiment\tselected=a\tspeedup=0\tduration=5\nthroughput-point\tname=x\t%"
		    "s\nthroughput-point\tname=y\tdelta=1\n",
		    bad[i]);
		CHECK_EQ(read_text(&p, text, &e), 0);
		CHECK_EQ(p.n_skipped, 1);
		CHECK_EQ(p.n_experiments, 1);
		CHECK_EQ(p.experiments[0].n_points, 1);
		CHECK_STR(p.experiments[0].points[0].name, "y");
		profile_deinit(&p);
	}
}

/* A cut at any byte can be read, and counts what it cut. A number that lost its last digits is not
 * taken as a number. */
TEST(cut_off_anywhere)
{
	for (size_t n = 1; n < sizeof(all_keys) - 1; n++) {
		struct profile p;
		struct error e;
		bool whole = all_keys[n - 1] == '\n';
		int ret;

		profile_init(&p);
		ret = read_bytes(&p, all_keys, n, &e);
		CHECK_EQ(p.n_skipped, !whole);
		CHECK_EQ(ret, memchr(all_keys, '\n', n) ? 0 : -1);
		profile_deinit(&p);
	}
}

TEST(startup_after_a_cut_line)
{
	struct profile p;
	struct error e;

	CHECK_EQ(read_text(&p,
		     "startup\ttime=1\nexperiment\tselected=a\tspeedup=0\tduration=5\nthroughput-"
		     "point\tname=x\tdelta=1startup\ttime=2\n"
		     "experiment\tselected=a\tspeedup=0\tduration=6\n",
		     &e),
	    0);
	CHECK_EQ(p.n_skipped, 1);
	CHECK_EQ(p.n_runs, 2);
	CHECK_EQ(p.experiments[0].n_points, 0);
	CHECK_EQ(p.experiments[1].run, 1);
	profile_deinit(&p);
}

/* Coz appends as well, and in either spelling a run may be cut off before another. */
TEST(startup_of_json_after_a_cut_line)
{
	static const char text[] =
	    "{\"type\":\"startup\",\"time\":1}\n"
	    "{\"type\":\"experiment\",\"sel{\"type\":\"startup\",\"time\":2}\n"
	    "experiment\tsel{\"type\":\"startup\",\"time\":3}\n"
	    "{\"type\":\"expstartup\ttime=4\n";
	FILE *in = fmemopen((void *)text, sizeof(text) - 1, "r");
	struct profile_reader *r;
	struct profile p;
	struct error e;

	CHECK_EQ(read_text(&p, text, &e), 0);
	CHECK_EQ(p.n_skipped, 3);
	CHECK_EQ(p.n_runs, 4);
	for (size_t i = 0; i < p.n_runs; i++)
		CHECK_EQ(p.runs[i].startup_time_ns, i + 1);
	profile_deinit(&p);

	/* A profile that is full ends before any of them. */
	profile_init(&p);
	r = profile_reader_new(&p, in, "test", &e);
	for (size_t i = 1; i <= 4; i++) {
		CHECK_EQ(profile_reader_next(r, 0, &e), i < 4);
		CHECK_EQ(p.n_runs, i);
	}
	profile_reader_free(r);
	profile_deinit(&p);
	fclose(in);
}

TEST(nul_bytes_and_long_lines)
{
	static const char nul[] =
	    "experiment\tselected=a\tspeedup=0\tduration=5\nthroughput-point\tname=x\0\tdelta=1\n";
	const size_t size = 3 << 20;
	char *long_line = malloc(size);
	struct profile p;
	struct error e;

	profile_init(&p);
	CHECK_EQ(read_bytes(&p, nul, sizeof(nul) - 1, &e), 0);
	CHECK_EQ(p.n_skipped, 1);
	CHECK_EQ(p.experiments[0].n_points, 0);
	profile_deinit(&p);

	memset(long_line, 'x', size);
	memcpy(long_line, "experiment\tselected=", 20);
	long_line[2 << 20] = '\n';
	memcpy(long_line + (2 << 20) + 1, "runtime\ttime=4\n", 15);
	profile_init(&p);
	CHECK_EQ(read_bytes(&p, long_line, size, &e), 0);
	CHECK_EQ(p.n_skipped, 2); /* the long one, and the truncated rest */
	CHECK_EQ(p.runs[0].runtime_ns, 4);
	profile_deinit(&p);
	free(long_line);
}

TEST(deep_json_does_not_overflow_the_stack)
{
	const size_t n = 1 << 20;
	char *text = malloc(n);
	struct profile p;
	struct error e;

	memset(text, '[', n);
	memcpy(text, "runtime\ttime=4\n{\"a\":", 20);
	text[n - 1] = '\n';
	profile_init(&p);
	CHECK_EQ(read_bytes(&p, text, n, &e), 0);
	CHECK_EQ(p.n_skipped, 1);
	profile_deinit(&p);
	free(text);
}

TEST(not_a_profile)
{
	struct profile p;
	struct error e;

	CHECK_EQ(read_text(&p, "\n\n", &e), -1);
	CHECK_EQ(e.status, EXIT_NO_RESULT);
	CHECK_STR(e.cause, "the profile 'test.coz' is empty");
	profile_deinit(&p);
	CHECK_EQ(read_text(&p, "#!/bin/sh\necho hello\n", &e), -1);
	CHECK_EQ(e.status, EXIT_OTHER);
	CHECK_STR(
	    e.cause, "'test.coz' is not a profile: it holds no record that Coz or cozbpf writes");
	profile_deinit(&p);
}

/* What a record says of waits is its run's last word, also in the newer spelling. */
TEST(stacks_of_waits)
{
	struct profile p;
	struct error e;

	CHECK_EQ(read_text(&p,
		     "startup\ttime=1\n"
		     "samples\tlocation=a.c:1\tcount=0\tid=1\n"
		     "samples\tlocation=a.c:2 [io]\tcount=1\tid=9\tstacks=1:2\twakers=1:timer\n"
		     "samples\tlocation=a.c:2 [io]\tcount=3\tid=9\tstacks=2:1,1:2\twakers=3:0\n"
		     "startup\ttime=2\n"
		     "{\"type\":\"samples\",\"location\":\"a.c:2 [io]\",\"count\":4,\"id\":5,"
		     "\"stacks\":\"4:7\"}\n",
		     &e),
	    0);
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(p.n_samples, 3);
	CHECK_EQ(p.samples[0].count, 0);
	CHECK_STR(p.samples[1].stacks, "2:1,1:2");
	CHECK_STR(p.samples[1].wakers, "3:0");
	CHECK_STR(p.samples[2].stacks, "4:7");
	CHECK(!p.samples[2].wakers);
	profile_deinit(&p);
}

/* Files are added to one profile. Each is a run of its own, even where no startup says so. */
TEST(files_add_up)
{
	struct profile p;
	struct error e;

	profile_init(&p);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(
		    read_bytes(&p,
			"experiment\tselected=a\tspeedup=0\tduration=5\nruntime\ttime=3\n", 59, &e),
		    0);
	CHECK_EQ(p.n_runs, 2);
	CHECK_EQ(p.n_experiments, 2);
	CHECK_EQ(p.experiments[1].run, 1);
	profile_deinit(&p);
}

/* Of a profile that is being written: what is left is as if the runs had never been. */
TEST(runs_are_dropped)
{
	struct profile p;

	profile_init(&p);
	p.runs = calloc(3, sizeof(*p.runs));
	p.experiments = calloc(4, sizeof(*p.experiments));
	p.samples = calloc(3, sizeof(*p.samples));
	p.n_runs = 3;
	for (uint32_t i = 0; i < 4; i++) {
		struct experiment_record *x = &p.experiments[p.n_experiments++];

		*x = (struct experiment_record){.selected = strdup("a.c:1"),
		    .run = i / 2,
		    .duration_ns = i,
		    .n_points = 1,
		    .points = calloc(1, sizeof(*x->points)),
		    .lines = calloc(1, sizeof(*x->lines))};
		x->points->name = strdup("done");
	}
	for (uint32_t i = 0; i < 3; i++) {
		p.runs[i].startup_time_ns = 100 + i;
		p.samples[p.n_samples++] =
		    (struct samples_record){.location = strdup("a.c:1"), .count = i, .run = i};
	}
	profile_drop_runs(&p, 0);
	CHECK_EQ(p.n_experiments, 4);
	profile_drop_runs(&p, 1);
	CHECK_EQ(p.n_runs, 2);
	CHECK_EQ(p.runs[0].startup_time_ns, 101);
	CHECK_EQ(p.n_experiments, 2);
	CHECK_EQ(p.experiments[0].duration_ns, 2);
	CHECK_EQ(p.experiments[0].run, 0);
	CHECK_EQ(p.n_samples, 2);
	CHECK_EQ(p.samples[1].count, 2);
	CHECK_EQ(p.samples[1].run, 1);
	profile_deinit(&p);
}
