// SPDX-License-Identifier: BSD-3-Clause
/*
 * std::sort with a comparator that is inlined, and does 0.4 us of work (the line): the same 1000
 * numbers in each round. The other thread works for 3 ms meanwhile, then both meet. What sort does
 * itself takes time too, so only measuring tells the truth.
 */
#include <algorithm>
#include <array>
extern "C" {
#include "workload.h"
}

#define NUMBERS 1000

static long compare_ns = 400, b_us = 3000;
static uint64_t compare_iters, b_iters;
static pthread_barrier_t meeting;
static std::array<uint32_t, NUMBERS> numbers;

static void *run_sort(void *argument)
{
	for (;;) {
		auto copy = numbers;

		std::sort(copy.begin(), copy.end(), [](uint32_t a, uint32_t b) {
			SPIN_LINE(compare_iters); /* LINE_A */
			return a < b;
		});
		pthread_barrier_wait(&meeting);
		progress();
	}
	return NULL;
}

static void *run_other(void *argument)
{
	for (;;) {
		SPIN(b_iters); /* LINE_B */
		pthread_barrier_wait(&meeting);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"compare-ns", &compare_ns}, {"b-us", &b_us}, {NULL}};
	uint32_t random = 1;

	work_init(argc, argv, 2, options);
	compare_iters = work_iters((double)compare_ns / 1000);
	b_iters = work_iters(b_us);
	for (auto &number : numbers)
		number = random = random * 1664525 + 1013904223;
	pthread_barrier_init(&meeting, NULL, 2);
	work_thread(run_sort, NULL);
	work_thread(run_other, NULL);
	work_wait();
}
