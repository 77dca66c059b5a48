// SPDX-License-Identifier: BSD-3-Clause
/*
 * Templates, lambdas and inlining, built with -O2. A runs in a lambda, which a template of this
 * file hands to std::for_each of a header; B runs in an operator of another lambda. All of it ends
 * up inlined in the thread's function. Making A faster by s gains s x A / (A + B).
 */
#include <algorithm>
#include <array>
#include <cstdlib>
extern "C" {
#include "workload.h"
}

static const int PARTS = 8;
static long a_us = 6000, b_us = 4000;

template <typename Part, typename Work>
static inline void each(const std::array<Part, PARTS> &parts, Work work)
{
	std::for_each(parts.begin(), parts.end(), work);
}

template <typename Turns> struct Rest {
	Turns turns;
	void operator()(long) const
	{
		SPIN(turns); /* LINE_B */
	}
};

static void *run(void *argument)
{
	const std::array<long, PARTS> parts{};
	const uint64_t a_iters = work_iters((double)a_us / PARTS);
	const uint64_t b_iters = work_iters((double)b_us / PARTS);

	/* threads start at different points of their cycle */
	SPIN(work_iters((a_us + b_us) * (double)(long)argument / work.threads));
	for (;;) {
		each(parts, [a_iters](long) {
			SPIN_LINE(a_iters); /* LINE_A */
		});
		each(parts, Rest<uint64_t>{b_iters});
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 2, options);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, (void *)i);
	work_wait();
}
