// SPDX-License-Identifier: BSD-3-Clause
/* What `report --pprof` writes, unpacked by protobuf-c: values, sums, names, and what the profile
 * does not know. */
#include "check.h"
#include "pprof_read.h"

#include <errno.h>
#include <math.h>

#include "report/report.h"
#include "report/words.h"

enum { SAMPLES, CPU, GAIN };

static struct estimate_point points[] = {
    {.line_speedup = 0.25, .program_speedup = 0.0575, .ci_lo = 0.04, .ci_hi = 0.07}};

/* The first decides which point the gains are of. */
static struct estimate_line lines[] = {
    {.line = "/src/a.c:7",
	.progress = "done",
	.slope = 0.2,
	.verdict = VERDICT_OPTIMIZE,
	.points = points,
	.n_points = 1},
    {.line = "/src/b.c:1", .progress = "other", .slope = 0.9, .verdict = VERDICT_OPTIMIZE},
    {.line = "/src/killed.c:3", .progress = "done", .slope = -0.4, .verdict = VERDICT_CONTENTION},
    {.line = "/src/c.c:9",
	.progress = "done",
	.slope = 0.3,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_INTERVAL},
};
static const struct estimate estimate = {
    .lines = lines, .n_lines = 4, .totals.runtime_ns = 3000000000};

/* Profile, counts and estimate of a text. */
struct read {
	struct profile profile;
	struct line_counts counts;
	struct unit_stacks stacks;
};

static void read_init(struct read *r, const char *text)
{
	FILE *in = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	struct error e;

	profile_init(&r->profile);
	CHECK_EQ(profile_read(&r->profile, in, "test", &e), 0);
	CHECK_EQ(r->profile.n_skipped, 0);
	fclose(in);
	CHECK_EQ(line_counts_init(&r->counts, &r->profile), 0);
	CHECK_EQ(unit_stacks_init(&r->stacks, &r->profile, false), 0);
}

static void read_deinit(struct read *r)
{
	unit_stacks_deinit(&r->stacks);
	line_counts_deinit(&r->counts);
	profile_deinit(&r->profile);
}

/* NULL, with a failed check: it cannot be unpacked, or is not sound. */
static pb_profile *written(const struct read *r, const struct estimate *e)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	pb_profile *ret;

	CHECK_EQ(report_pprof(out, &r->profile, &r->counts, &r->stacks, e, "1.2"), 0);
	fclose(out);
	ret = pprof_read(text, size);
	CHECK(ret && pprof_is_sound(ret));
	free(text);
	return ret;
}

static const char *name_of(const pb_profile *p, size_t sample)
{
	return pprof_text(p, p->function[p->sample[sample]->location_id[0] - 1]->name);
}

/* The sample of a line or function; n_sample: there is none. */
static size_t find(const pb_profile *p, const char *name)
{
	size_t i = 0;

	while (i < p->n_sample && strcmp(name_of(p, i), name))
		i++;
	CHECK(i < p->n_sample);
	return i;
}

static int64_t sum(const pb_profile *p, size_t type)
{
	int64_t ret = 0;

	for (size_t i = 0; i < p->n_sample; i++)
		ret += p->sample[i]->value[type];
	return ret;
}

static void check_sample(
    const pb_profile *p, const char *name, int64_t samples, int64_t cpu_ns, int64_t gain)
{
	size_t i = find(p, name);

	if (i == p->n_sample)
		return;
	CHECK_EQ(p->sample[i]->value[SAMPLES], samples);
	CHECK_EQ(p->sample[i]->value[CPU], cpu_ns);
	CHECK_EQ(p->sample[i]->value[GAIN], gain);
}

static void check_type(const pb_profile *p, size_t i, const char *type, const char *unit)
{
	CHECK_STR(pprof_text(p, p->sample_type[i]->type), type);
	CHECK_STR(pprof_text(p, p->sample_type[i]->unit), unit);
}

#define RUN(time, period) "startup\ttime=" #time "\tbuild-id=aa11\tperiod=" #period "\n"
#define SAMPLES_OF(line, n) "samples\tlocation=" line "\tcount=" #n "\n"
/* Runs whose periods differ; one that was killed. */
static const char some_runs[] = RUN(2000, 1000000) SAMPLES_OF("/src/a.c:7", 10)
    SAMPLES_OF("/src/c.c:9", 4) "runtime\ttime=9\tsamples=20\tin-scope=14\n" RUN(1000, 330000)
	SAMPLES_OF("/src/a.c:7", 100)
	    SAMPLES_OF("/src/b.c:1", 1) "runtime\ttime=9\n" RUN(3000, 330000);

TEST(values)
{
	struct read r;
	pb_profile *p;

	read_init(&r, some_runs);
	p = written(&r, &estimate);
	CHECK_EQ(p->n_sample_type, 3);
	check_type(p, SAMPLES, "samples", "count");
	check_type(p, CPU, "cpu", "nanoseconds");
	check_type(p, GAIN, "causal_gain_25", "ppm");
	CHECK_STR(pprof_text(p, p->default_sample_type), "cpu");
	CHECK_EQ(p->default_sample_type, CPU); /* some readers take it for that */
	CHECK_EQ(p->n_sample, 5);
	check_sample(p, "/src/a.c:7", 110, 43000000, 57500); /* as measured */
	check_sample(p, "/src/b.c:1", 1, 330000, 0);         /* of another point */
	check_sample(p, "/src/c.c:9", 4, 4000000, 0);        /* no verdict */
	check_sample(p, "/src/killed.c:3", 0, 0, -100000);   /* by the slope */
	check_sample(p, "[outside the scope]", 6, 6000000, 0);
	CHECK_EQ(sum(p, SAMPLES), 121);
	CHECK_EQ(sum(p, CPU), 53330000);
	CHECK_EQ(p->time_nanos, 1000);
	CHECK_EQ(p->duration_nanos, 3000000000);
	CHECK_EQ(p->period, 0); /* there are two */
	CHECK(!p->period_type);
	CHECK_EQ(p->n_comment, 3);
	CHECK_STR(pprof_text(p, p->comment[0]), "cozbpf 1.2");
	CHECK(strstr(pprof_text(p, p->comment[1]), "time per visit"));
	CHECK_STR(pprof_text(p, p->comment[2]), "progress point: done");
	perftools__profiles__profile__free_unpacked(p, NULL);
	read_deinit(&r);
}

TEST(names_of_lines_and_functions)
{
	struct estimate_line function = {.line = "nginx:main", .progress = "done"};
	struct estimate none = {.lines = &function, .n_lines = 1};
	struct read r;
	pb_profile *p;
	const Perftools__Profiles__Location *l;

	read_init(&r,
	    RUN(5, 1000000) SAMPLES_OF("/src/a.c:7", 1) SAMPLES_OF("/src/a.c:8", 2)
		SAMPLES_OF("libstdc++.so.6+0x12f", 3) SAMPLES_OF("libstdc++.so.6:std::sort", 4)
		    SAMPLES_OF("nginx:main", 5) SAMPLES_OF("nginx", 6));
	p = written(&r, &none);
	CHECK_EQ(p->n_sample, 6);
	CHECK_EQ(p->period, 1000000);
	CHECK_STR(pprof_text(p, p->period_type->type), "cpu");
	CHECK_STR(pprof_text(p, p->period_type->unit), "nanoseconds");
	CHECK_EQ(p->n_comment, 3);
	CHECK_STR(pprof_text(p, p->comment[1]),
	    "causal_gain_25: the time per visit that a function saves when it is 25 % faster, in "
	    "millionths; gains of functions do not add up");
	/* The main executable, whose name is not known, and two modules. */
	CHECK_EQ(p->n_mapping, 3);
	CHECK_STR(pprof_text(p, p->mapping[0]->build_id), "aa11");
	CHECK_STR(pprof_text(p, p->mapping[0]->filename), "");
	CHECK_STR(pprof_text(p, p->mapping[1]->filename), "libstdc++.so.6");
	CHECK_STR(pprof_text(p, p->mapping[2]->filename), "nginx");
	l = p->location[find(p, "/src/a.c:8")];
	CHECK_EQ(l->line[0]->line, 8);
	CHECK_EQ(l->mapping_id, 0);
	CHECK_STR(pprof_text(p, p->function[l->id - 1]->filename), "/src/a.c");
	l = p->location[find(p, "libstdc++.so.6+0x12f")];
	CHECK_EQ(l->line[0]->line, 0);
	CHECK_EQ(l->address, 0);
	CHECK_EQ(l->mapping_id, 2);
	CHECK_STR(pprof_text(p, p->function[l->id - 1]->filename), "");
	CHECK_EQ(p->location[find(p, "libstdc++.so.6:std::sort")]->mapping_id, 2);
	CHECK_EQ(p->location[find(p, "nginx:main")]->mapping_id, 3);
	CHECK_EQ(p->location[find(p, "nginx")]->mapping_id, 0);
	perftools__profiles__profile__free_unpacked(p, NULL);
	read_deinit(&r);
}

/* Coz's files do not say the period: there is no CPU time, rather than a wrong one. */
TEST(without_a_period)
{
	struct estimate none = {0};
	struct read r;
	pb_profile *p;

	read_init(&r, "startup\ttime=5\n" SAMPLES_OF("a.c:1", 7) "runtime\ttime=9\n");
	CHECK(!r.counts.has_cpu_ns);
	p = written(&r, &none);
	CHECK_EQ(p->n_sample_type, 2);
	check_type(p, 0, "samples", "count");
	check_type(p, 1, "causal_gain_25", "ppm");
	CHECK_STR(pprof_text(p, p->default_sample_type), "samples");
	CHECK_EQ(p->sample[0]->value[0], 7);
	CHECK_EQ(p->sample[0]->value[1], 0);
	CHECK_EQ(p->n_mapping, 1);
	CHECK_STR(pprof_text(p, p->mapping[0]->build_id), "");
	perftools__profiles__profile__free_unpacked(p, NULL);
	read_deinit(&r);
}

/* Time waited is no CPU time. */
TEST(waits)
{
	struct estimate with = {.totals.waits = 6};
	struct read r;
	pb_profile *p;
	size_t i;

	read_init(&r, RUN(2000, 1000000) SAMPLES_OF("/src/a.c:7", 10) SAMPLES_OF(
			  "/src/a.c:7 [io]", 6) "runtime\ttime=9\tsamples=16\twaits=6\n");
	p = written(&r, &with);
	CHECK_EQ(p->n_sample_type, 4);
	check_type(p, 3, "off_cpu", "nanoseconds");
	i = find(p, "/src/a.c:7 [io]");
	CHECK_EQ(p->sample[i]->value[SAMPLES], 6);
	CHECK_EQ(p->sample[i]->value[CPU], 0);
	CHECK_EQ(p->sample[i]->value[3], 6000000);
	CHECK_EQ(p->function[p->sample[i]->location_id[0] - 1]->filename,
	    p->function[p->sample[find(p, "/src/a.c:7")]->location_id[0] - 1]->filename);
	CHECK_EQ(sum(p, CPU), 10000000);
	CHECK_EQ(sum(p, 3), 6000000);
	perftools__profiles__profile__free_unpacked(p, NULL);
	p = written(&r, &(struct estimate){0}); /* none were asked for */
	CHECK_EQ(p->n_sample_type, 3);
	perftools__profiles__profile__free_unpacked(p, NULL);
	read_deinit(&r);
}

/* The name and the line of a location. */
static void check_place(const pb_profile *p, uint64_t id, const char *name, int64_t line)
{
	CHECK_STR(pprof_text(p, p->function[id - 1]->name), name);
	CHECK_EQ(p->location[id - 1]->line[0]->line, line);
}

/* A sample for each stack of waits, its unit first, and one for what is left. A caller is a place
 * by its line, named after its function. */
TEST(stacks_of_waits)
{
	struct estimate with = {.totals.waits = 9};
	struct read r;
	pb_profile *p;
	size_t i;

	read_init(&r,
	    RUN(2000,
		1000000) "samples\tlocation=/src/a.c:1\tcount=0\tid=1\tfunction=a:main\n"
			 "samples\tlocation=/src/a.c:2\tcount=0\tid=2\tfunction=a:main\n"
			 "samples\tlocation=/src/a.c:7 [io]\tcount=9\tid=5\tstacks=4:2/1,3:2\n"
			 "runtime\ttime=9\tsamples=9\twaits=9\n");
	p = written(&r, &with);
	CHECK_EQ(p->n_sample, 3);
	CHECK_EQ(p->n_location, 3);
	i = find(p, "/src/a.c:7 [io]");
	CHECK_EQ(p->sample[i]->n_location_id, 3);
	check_place(p, p->sample[i]->location_id[1], "a:main", 2);
	check_place(p, p->sample[i]->location_id[2], "a:main", 1);
	CHECK_EQ(p->sample[i]->value[SAMPLES], 4);
	CHECK_EQ(p->sample[i]->value[3], 4000000);
	CHECK_EQ(p->sample[i + 1]->n_location_id, 2);
	CHECK_EQ(p->sample[i + 1]->location_id[0], p->sample[i]->location_id[0]);
	CHECK_EQ(p->sample[i + 1]->location_id[1], p->sample[i]->location_id[1]);
	CHECK_EQ(p->sample[i + 2]->n_location_id, 1);
	CHECK_EQ(p->sample[i + 2]->value[SAMPLES], 2);
	CHECK_EQ(sum(p, 3), 9000000);
	CHECK_EQ(sum(p, CPU), 0);
	perftools__profiles__profile__free_unpacked(p, NULL);
	read_deinit(&r);
}

/* Files of others: names that are no UTF-8, numbers that no integer holds. */
TEST(hostile_profiles)
{
	struct estimate_line line = {.line = "\xff/x:1",
	    .progress = "a\xc3",
	    .slope = -1e300,
	    .verdict = VERDICT_CONTENTION,
	    .is_latency = true};
	struct estimate e = {.lines = &line, .n_lines = 1, .totals.runtime_ns = UINT64_MAX};
	struct read r;
	pb_profile *p;

	read_init(&r, RUN(9223372036854775807, 3000000000000000000)
			  SAMPLES_OF("\xff/x:1", 9007199254740992) SAMPLES_OF("m\xff:f", 1));
	p = written(&r, &e);
	check_sample(p, "\xef\xbf\xbd/x:1", 9007199254740992, INT64_MAX, -1000000000000);
	check_sample(p, "m\xef\xbf\xbd:f", 1, 3000000000000000000, 0);
	CHECK_EQ(p->time_nanos, INT64_MAX);
	CHECK_EQ(p->duration_nanos, INT64_MAX);
	CHECK(strstr(pprof_text(p, p->comment[1]), "mean latency"));
	CHECK_STR(pprof_text(p, p->comment[2]), "progress point: a\xef\xbf\xbd");
	perftools__profiles__profile__free_unpacked(p, NULL);
	read_deinit(&r);
}

/* More than zlib's and our own blocks hold, also at once. */
TEST(many_lines)
{
	struct estimate none = {0};
	char *text = NULL, name[200001] = "";
	size_t size;
	FILE *out = open_memstream(&text, &size);
	uint32_t random = 1;
	struct read r;
	pb_profile *p;

	fputs(RUN(1, 1000000), out);
	for (int i = 0; i < 20000; i++)
		fprintf(
		    out, "samples\tlocation=/s/%x.c:%d\tcount=%d\n", i * 40503 & 0xffff, i + 1, i);
	for (size_t i = 0; i < sizeof(name) - 1; i++) {
		random = random * 1664525 + 1013904223;
		name[i] = (char)('A' + random / (UINT32_MAX / 32 + 1));
	}
	fprintf(out, "samples\tlocation=%s\tcount=1\n", name);
	fclose(out);
	read_init(&r, text);
	p = written(&r, &none);
	CHECK_EQ(p->n_sample, 20000); /* one was not sampled */
	CHECK_EQ(sum(p, SAMPLES), 19999 * 10000 + 1);
	CHECK_EQ(sum(p, CPU), (19999 * 10000 + 1) * 1000000LL);
	check_sample(p, name, 1, 1000000, 0);
	perftools__profiles__profile__free_unpacked(p, NULL);
	read_deinit(&r);
	free(text);
}

TEST(a_full_device)
{
	struct read r;
	FILE *out = fopen("/dev/full", "w");

	read_init(&r, some_runs);
	setvbuf(out, NULL, _IONBF, 0);
	CHECK_EQ(report_pprof(out, &r.profile, &r.counts, &r.stacks, &estimate, "1.2"), -1);
	fclose(out);
	read_deinit(&r);
}

/* What the sentence says of 25 %, and nothing where another speedup was measured. */
TEST(gains_at_a_quarter)
{
	struct estimate_point near = {.line_speedup = 0.3, .program_speedup = 0.5, .ci_lo = 0.4},
			      wide = {.line_speedup = 0.25, .program_speedup = 0.5, .ci_lo = -0.1};
	struct estimate_line l = {.slope = 0.4, .points = points, .n_points = 1};

	CHECK_NEAR(example_gain(&l), 0.0575, 1e-9);
	l.points = &near;
	CHECK_NEAR(example_gain(&l), 0.1, 1e-9);
	l.points = &wide;
	CHECK_NEAR(example_gain(&l), 0.1, 1e-9);
	l.n_points = 0;
	CHECK_NEAR(example_gain(&l), 0.1, 1e-9);
	l.verdict = VERDICT_NOT_ENOUGH_DATA;
	CHECK(isnan(example_gain(&l)));
}
