// SPDX-License-Identifier: BSD-3-Clause
/*
 * std::async makes two threads in each round: one runs nothing but the line (6 ms), the other one 4
 * ms of something else. Making the line faster by s gains min(s, 1 / 3).
 */
#include <future>
extern "C" {
#include "workload.h"
}

static long a_us = 6000, b_us = 4000;
static uint64_t a_iters, b_iters;

static void *run(void *argument)
{
	for (;;) {
		auto a = std::async(std::launch::async, [] {
			SPIN_LINE(a_iters); /* LINE_A */
		});
		auto b = std::async(std::launch::async, [] {
			SPIN(b_iters); /* LINE_B */
		});

		a.get();
		b.get();
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	work_thread(run, NULL);
	work_wait();
}
