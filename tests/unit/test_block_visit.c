// SPDX-License-Identifier: BSD-3-Clause
/* What visits to the probes of a block record, and what perturbation draws. The programs that call
 * this are tried by tests/bpf/blocks.sh. */
#include <math.h>

#include <cozbpf/block_visit.h>
#include <cozbpf/perturb.h>

#include "check.h"

#define MS 1000000ULL

TEST(cells_are_in_order)
{
	CHECK_EQ(cozbpf_block_cell(0), 0);
	CHECK_EQ(cozbpf_block_cell(3), 3);
	CHECK_EQ(cozbpf_block_cell(4), 4);
	CHECK_EQ(cozbpf_block_cell(8), 8);
	CHECK_EQ(cozbpf_block_cell(~0ULL), COZBPF_BLOCK_CELLS - 1);
	for (__u32 i = 0; i < COZBPF_BLOCK_CELLS; i++) {
		CHECK_EQ(cozbpf_block_cell(cozbpf_block_cell_ns(i)), i);
		if (i)
			CHECK_EQ(cozbpf_block_cell(cozbpf_block_cell_ns(i) - 1), i - 1);
		if (i >= 8) /* four of them for a power of two */
			CHECK_EQ(cozbpf_block_cell_ns(i), 2 * cozbpf_block_cell_ns(i - 4));
	}
	CHECK(cozbpf_block_cell_ns(COZBPF_BLOCK_CELLS - 1) < 1ULL << COZBPF_BLOCK_BITS);
}

TEST(cookies_hold_what_they_are_made_of)
{
	__u64 exit = COZBPF_BLOCK_COOKIE(0xfffffffeU, 127, COZBPF_BLOCK_EXIT, 0, 1),
	      counted = COZBPF_BLOCK_COOKIE(1, 0, COZBPF_BLOCK_COUNTED, 1, 1);

	CHECK_EQ(COZBPF_BLOCK_GENERATION(exit), 0xfffffffeU);
	CHECK_EQ(COZBPF_BLOCK_SLOT(exit), 127);
	CHECK_EQ(COZBPF_BLOCK_ROLE(exit), COZBPF_BLOCK_EXIT);
	CHECK_EQ(COZBPF_BLOCK_SORT(exit), COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_EXIT, 0));
	CHECK_EQ(COZBPF_BLOCK_PAIR(exit), COZBPF_BLOCK_PAIR_OF(1, 0));
	CHECK_EQ(COZBPF_BLOCK_ROLE(counted), COZBPF_BLOCK_COUNTED);
	CHECK_EQ(COZBPF_BLOCK_SORT(counted), COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_COUNTED, 1));
	CHECK(COZBPF_BLOCK_SORT(counted) != COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_ENTRY, 1));
}

TEST(recursion_times_the_outermost)
{
	struct cozbpf_block_open o = {0};

	CHECK(block_opens(&o, 7, 1000));
	CHECK(!block_opens(&o, 7, 900));
	CHECK(!block_opens(&o, 7, 800));
	CHECK(!block_closes(&o, 7));
	CHECK(!block_closes(&o, 7));
	CHECK(block_closes(&o, 7));
	CHECK(!block_closes(&o, 7)); /* nothing is open */
}

/* longjmp() leaves the nested entries, then the outer one. */
TEST(entries_left_without_an_exit_begin_anew)
{
	struct cozbpf_block_open o = {0};

	CHECK(block_opens(&o, 7, 1000));
	CHECK(!block_opens(&o, 7, 900));
	CHECK(block_opens(&o, 7, 1000));
	CHECK(block_closes(&o, 7));
	CHECK(block_opens(&o, 7, 900));
	CHECK(block_opens(&o, 7, 1000));
	CHECK(block_closes(&o, 7));
}

TEST(windows_do_not_mix)
{
	struct cozbpf_block_open o = {0};

	CHECK(!block_closes(&o, 7)); /* entered before the window */
	CHECK(block_opens(&o, 7, 1000));
	CHECK(!block_closes(&o, 8));
	CHECK(block_opens(&o, 8, 900)); /* not within the entry of the window before */
	CHECK(!block_closes(&o, 7));
	CHECK(block_closes(&o, 8));
}

TEST(records_are_less_the_bias)
{
	struct cozbpf_block_stats s = {0}, other = {.entries = 2, .exits = 1}, sum = {0};

	block_record(&s, 1700, 2700, 700);
	CHECK_EQ(s.sum_ns, 1000);
	CHECK_EQ(s.wall_ns, 2000);
	CHECK_EQ(s.max_ns, 1000);
	CHECK_EQ(~s.not_min_ns, 1000);
	CHECK_EQ(s.cells[cozbpf_block_cell(1000)], 1);
	block_record(&s, 600, 500, 700); /* shorter than an empty one */
	CHECK_EQ(s.sum_ns, 1000);
	CHECK_EQ(s.wall_ns, 2000);
	CHECK_EQ(~s.not_min_ns, 0);
	CHECK_EQ(s.cells[0], 1);
	block_record(&s, -5, -5, 0);
	CHECK_EQ(s.sum_ns, 1000);
	CHECK_EQ(s.cells[0], 2);
	block_record(&other, 5000, 4000, 0);
	CHECK_EQ(other.wall_ns, 5000); /* clocks that disagree: no less than the CPU time */
	block_add(&sum, &other);
	CHECK_EQ(~sum.not_min_ns, 5000);
	block_add(&sum, &s);
	CHECK_EQ(sum.entries, 2);
	CHECK_EQ(sum.exits, 1);
	CHECK_EQ(sum.sum_ns, 6000);
	CHECK_EQ(sum.wall_ns, 7000);
	CHECK_EQ(sum.max_ns, 5000);
	CHECK_EQ(~sum.not_min_ns, 0);
	CHECK_EQ(sum.cells[cozbpf_block_cell(5000)], 1);
	CHECK_EQ(sum.cells[0], 2);
	block_add(&sum, &(struct cozbpf_block_stats){0}); /* a CPU that has seen nothing */
	CHECK_EQ(sum.max_ns, 5000);
	CHECK_EQ(~sum.not_min_ns, 0);
}

/* A thread executes 3 ms, in which it is sampled, pauses for 2 ms and loses its CPU. */
TEST(executed_time_goes_on_over_samples)
{
	struct cozbpf_control x = {.period_ns = MS};
	struct cozbpf_thread t = {.member = 1};
	struct cozbpf_account *a = delay_account(&t);
	struct cozbpf_cpu cpu = {0};

	a->run_since = 10 * MS;
	CHECK_EQ(block_executed(&t, 11 * MS), MS);
	block_on_sample(&t, &cpu, 11 * MS);
	CHECK_EQ(cpu.ran_ns, MS);
	CHECK_EQ(cpu.ran_since, 11 * MS);
	delay_credit(a, &x, 11 * MS);
	a->unsampled = 0; /* as delay_on_sample() leaves it */
	CHECK_EQ(block_executed(&t, 11 * MS), MS);
	a->run_since = 13 * MS; /* in a pause */
	CHECK_EQ(block_executed(&t, 12 * MS), MS);
	CHECK_EQ(block_executed(&t, 14 * MS), 2 * MS);
	delay_credit(a, &x, 14 * MS);
	a->run_since = 0;
	block_on_switch(&t, NULL, &cpu, 14 * MS);
	CHECK_EQ(cpu.ran_ns, 2 * MS);
	CHECK_EQ(cpu.ran_since, 0);
	CHECK_EQ(block_executed(&t, 20 * MS), 2 * MS);
	a->run_since = 15 * MS; /* an outsider had the CPU since then */
	block_on_switch(NULL, &t, &cpu, 20 * MS);
	CHECK_EQ(cpu.ran_since, 20 * MS);
	CHECK_EQ(block_executed(&t, 21 * MS), 3 * MS);
	block_on_sample(&t, &cpu, 21 * MS);
	CHECK_EQ(cpu.ran_ns, 3 * MS);
}

TEST(draws_follow_from_the_seed)
{
	unsigned n = 0, same = 0, low = 0;
	double logs = 0;

	for (__u32 i = 0; i < 100000; i++) {
		__u64 ns = perturb_pause(42, 3, i, COZBPF_PERTURB_ONE / 10);

		CHECK_EQ(ns, perturb_pause(42, 3, i, COZBPF_PERTURB_ONE / 10));
		same += ns && perturb_pause(43, 3, i, COZBPF_PERTURB_ONE / 10);
		if (!ns)
			continue;
		CHECK(ns >= COZBPF_PERTURB_LEAST_NS && ns <= COZBPF_PERTURB_MOST_NS);
		n++;
		low += ns < 100000;
		logs += log((double)ns / COZBPF_PERTURB_LEAST_NS) / log(100);
	}
	/* five standard errors of a share of 0.1; the middle of the logarithms */
	CHECK(n > 9520 && n < 10480);
	CHECK(same > 800 && same < 1200);
	CHECK(low > n * 47 / 100 && low < n * 53 / 100);
	CHECK(logs / n > 0.48 && logs / n < 0.52);
	CHECK_EQ(perturb_pause(42, 3, 1, 0), 0);
	for (__u32 i = 0; i < 1000; i++)
		CHECK(perturb_pause(42, i, 1, COZBPF_PERTURB_ONE) != 0);
}
