// SPDX-License-Identifier: BSD-3-Clause
/* Which place is chosen for a progress point: by rate, steadiness, kind and cost. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "core/places/candidates.h"

#define CALL(called, likely)                                                             \
	{                                                                                \
		.kind = CANDIDATE_CALL, .name = called, .spec = called, .what = "calls", \
		.weight = likely, .cost_ns = CANDIDATE_COST_CALL                         \
	}
static const struct candidate calls[] = {CALL("recvfrom", 0.6), CALL("sendto", 1), CALL("write", 1),
    CALL("fsync", 0.9), CALL("sendmsg", 1), CALL("pread64", 0.5), CALL("writev", 1),
    CALL("sendfile", 1)};
static struct candidate all[sizeof(calls) / sizeof(*calls)];
static const size_t n = sizeof(calls) / sizeof(*calls);
static struct candidate_watch watched;

static struct candidate *named(const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

/* @name makes @each calls in a slice, and @more in every second one. */
static void makes(const char *name, uint64_t each, uint64_t more)
{
	for (unsigned j = 0; j < CANDIDATE_SLICES; j++)
		named(name)->slices[j] = each + (j & 1) * more;
}

/* One CPU is busy all the time. */
static void begin(void)
{
	memcpy(all, calls, sizeof(all));
	watched.n = CANDIDATE_SLICES;
	for (unsigned i = 0; i < watched.n; i++)
		watched.cpu_ns[i] = CANDIDATE_SLICE_NS;
}

static size_t rank(void)
{
	return candidates_rank(all, n, &watched);
}

/* Whether @many can serve, and @name is the best of them. */
static bool wins(const char *name, size_t many)
{
	return rank() == many && !strcmp(all[0].name, name);
}

static bool why_has(const char *name, const char *words)
{
	char why[256];

	candidate_why(named(name), &all[0], &watched, why, sizeof(why));
	return strstr(why, words) != NULL;
}

TEST(nothing_is_called)
{
	begin();
	CHECK_EQ(rank(), 0);
	CHECK_EQ(all[0].fault, CANDIDATE_NEVER);
	watched.n = 0;
	CHECK_EQ(rank(), 0);
}

/* A request comes in, is read from a file, and leaves: what leaves is the end of it. */
TEST(what_leaves_is_taken)
{
	begin();
	makes("recvfrom", 1000, 10);
	makes("pread64", 2000, 20);
	makes("sendto", 1000, 10);
	CHECK(wins("sendto", 3));
	CHECK(all[0].rate > 10049 && all[0].rate < 10051);
	CHECK_EQ(candidates_other(all, 3, &watched), 0);
	CHECK(why_has("pread64", "steady; 2.00 per sendto"));
	CHECK(why_has("recvfrom", "1.00 per sendto"));
	CHECK(!why_has("sendto", "per"));
}

/* Too rare, too often: neither can serve. */
TEST(limits)
{
	begin();
	makes("write", 1, 0);
	makes("sendto", 60000, 0);
	makes("fsync", 3, 0);
	CHECK(wins("fsync", 1));
	CHECK(why_has("write", "below 20 visits a second"));
	CHECK(why_has("sendto", "above 500000 visits a second"));
}

/* A log that is written in bursts beside answers that are sent steadily, as often. */
TEST(steady_goes_before_bursts)
{
	begin();
	makes("write", 0, 200);
	makes("sendmsg", 100, 0);
	CHECK(wins("sendmsg", 2));
	CHECK(all[1].spread > 0.99 && all[0].spread == 0);
	CHECK_STR(candidate_steadiness(&all[0]), "steady");
	CHECK_STR(candidate_steadiness(&all[1]), "in bursts");
	CHECK_EQ(candidates_other(all, 2, &watched), 1);
	CHECK(candidates_ratio(&all[0], &all[1], &watched) == 0);
	CHECK(candidates_ratio(&all[1], &all[0], &watched) == 0);
}

/* Of two that are alike in all else, the one with more visits tells sooner. */
TEST(more_visits_go_first)
{
	begin();
	makes("writev", 10, 0);
	makes("sendfile", 100, 0);
	CHECK(wins("sendfile", 2));
}

/* Load comes and goes, and the work with it. */
TEST(steady_by_cpu_time)
{
	begin();
	makes("write", 10, 90);
	for (unsigned i = 0; i < watched.n; i++)
		watched.cpu_ns[i] = i & 1 ? CANDIDATE_SLICE_NS : CANDIDATE_SLICE_NS / 10;
	CHECK(wins("write", 1));
	CHECK(all[0].spread > 0.8 && all[0].cpu_spread < 0.01);
	CHECK_STR(candidate_steadiness(&all[0]), "steady");
}

/* Four blocks and then five in a tenth of a second: that is the edge, no other unit of work. */
TEST(edges_of_slices)
{
	begin();
	makes("write", 4, 1);
	makes("recvfrom", 5, 0);
	for (unsigned i = 1; i < CANDIDATE_SLICES; i += 2)
		named("recvfrom")->slices[i] = 4;
	CHECK(wins("write", 2));
	CHECK(fabs(candidates_ratio(&all[0], &all[1], &watched) - 1) < 0.01);
	CHECK_STR(candidate_steadiness(&all[0]), "steady");
}

/* All of the output at the end of much work: most experiments would see none of it. */
TEST(visits_in_a_part)
{
	begin();
	named("write")->slices[7] = 1000;
	CHECK_EQ(rank(), 0);
	CHECK(why_has("write", "in 25 % of the CPU time only"));
	/* The last stretch is no worse for being short. */
	makes("write", 10, 0);
	watched.n = CANDIDATE_SLICES - 4;
	named("write")->slices[watched.n - 1] = 0;
	CHECK_EQ(rank(), 1);
	CHECK(all[0].covered == 1);
}

/* A function is probed, which costs more; and one that was visited too often tells its rate. */
TEST(functions)
{
	struct candidate *f;

	begin();
	f = named("writev");
	f->kind = CANDIDATE_FUNCTION;
	f->cost_ns = CANDIDATE_COST_FUNCTION;
	f->share = 0.43;
	f->weight = 0.6;
	f->from = 8;
	for (unsigned i = f->from; i < CANDIDATE_SLICES; i++)
		f->slices[i] = 100;
	makes("write", 0, 200);
	CHECK(wins("writev", 2));
	CHECK(all[0].rate > 999 && all[0].rate < 1001);
	CHECK(why_has("writev", "calls above 43 % of the work; steady"));
	CHECK(all[0].cost_share > 0.0006 && all[0].cost_share < 0.0007);
	named("writev")->cost_ns = CANDIDATE_COST_STEPPED;
	CHECK(wins("write", 1));
	CHECK(why_has("writev", "visits would cost 2.7 % of the CPU time"));
	named("writev")->removed_at = 1e6;
	CHECK(wins("write", 1));
	CHECK(why_has("writev", "above 20000 visits a second"));
	CHECK(candidates_ratio(&all[0], named("writev"), &watched) == 0);
}

/* Probes of 640 ns in a target that is busy on one CPU, looked at after 10 ms. */
static bool removes(const uint64_t *since, bool *remove)
{
	for (unsigned i = 0; i < n; i++) {
		all[i].number = i;
		all[i].cost_ns = CANDIDATE_COST_FUNCTION;
	}
	return candidates_remove(all, n, since, 0.01, &watched, remove);
}

TEST(too_many_visits)
{
	uint64_t since[sizeof(calls) / sizeof(*calls)] = {199, 201, 15};
	bool remove[sizeof(calls) / sizeof(*calls)] = {0};

	begin();
	CHECK(removes(since, remove));
	/* Above 20,000 a second; 19,900 cost 1.27 % of the CPU time. */
	CHECK(!remove[0] && remove[1] && !remove[2]);
	CHECK(all[1].removed_at > 20099 && all[1].removed_at < 20101 && all[0].removed_at == 0);
	/* It is gone, and does not go again. */
	CHECK(!removes(since, remove));
	/* 15 visits tell no rate, however short the time. */
	CHECK(!candidates_remove(all, n, (uint64_t[8]){[2] = 15}, 0.0001, &watched, remove));
}

/* Each is cheap enough, all of them are not: the dearest goes. */
TEST(dear_together)
{
	uint64_t since[sizeof(calls) / sizeof(*calls)] = {100, 90, 80};
	bool remove[sizeof(calls) / sizeof(*calls)] = {0};

	begin();
	CHECK(removes(since, remove));
	CHECK(remove[0] && !remove[1] && !remove[2]);
	/* In a target that hardly runs they all are too dear; what is not visited is not. */
	begin();
	for (unsigned i = 0; i < watched.n; i++)
		watched.cpu_ns[i] = CANDIDATE_SLICE_NS / 1000;
	CHECK(removes(since, remove));
	CHECK(remove[0] && remove[1] && remove[2] && !remove[3]);
}

/* What is known while the watch goes on, without the order being changed. */
TEST(one_serves)
{
	begin();
	watched.n = 7;
	CHECK(!candidates_serve(all, n, &watched));
	makes("write", 1, 0);
	CHECK(!candidates_serve(all, n, &watched));
	makes("write", 100, 0);
	CHECK(candidates_serve(all, n, &watched));
	CHECK_STR(all[0].name, calls[0].name);
}

TEST(innermost_function)
{
	begin();
	makes("write", 100, 0);
	named("write")->share = 0.6;
	named("write")->is_innermost = true;
	CHECK(wins("write", 1));
	CHECK(why_has("write", "that does 60 % of the work itself; steady"));
}

/* A function that goes its own way is no second point. */
TEST(functions_are_no_second_point)
{
	begin();
	makes("write", 100, 0);
	makes("sendto", 100, 150);
	named("sendto")->kind = CANDIDATE_FUNCTION;
	CHECK(wins("write", 2));
	CHECK_EQ(candidates_other(all, 2, &watched), 0);
	named("sendto")->kind = CANDIDATE_CALL;
	CHECK_EQ(candidates_other(all, 2, &watched), 1);
}

/* A text that is cut off ends as one. */
TEST(why_is_cut_off)
{
	char why[8];

	begin();
	makes("write", 100, 0);
	CHECK_EQ(rank(), 1);
	candidate_why(&all[0], &all[0], &watched, why, sizeof(why));
	CHECK_STR(why, "calls; ");
}
