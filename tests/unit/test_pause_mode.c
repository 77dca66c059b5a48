// SPDX-License-Identifier: BSD-3-Clause
/* Which mode of pausing is taken, by what a kernel takes: one that has all, one before 6.13, one
 * where functions cannot be traced by fentry, one that is locked down. */
#include "check.h"

#include <errno.h>
#include <string.h>

#include <cozbpf/abi.h>
#include "kernel/pause_mode.h"

/* What a kernel takes, a bit for each enum pause_program, and how often it was asked. */
struct kernel {
	unsigned takes, asked;
};

static int try(const struct pause_mode *m, void *arg)
{
	struct kernel *k = arg;

	k->asked++;
	return k->takes >> m->program & 1 ? 0 : -EINVAL;
}

static const struct pause_mode *choose(unsigned takes, const char *wanted, unsigned asked)
{
	struct kernel k = {.takes = takes};
	int err;
	const struct pause_mode *m = pause_mode_choose(wanted, try, &k, &err);

	CHECK_EQ(k.asked, asked);
	CHECK_EQ(err, m ? 0 : wanted && !asked ? -ENOENT : -EINVAL);
	return m;
}

#define HAS(program) (1U << PAUSE_##program)

TEST(the_best_that_works)
{
	const unsigned all = HAS(DELIVER) | HAS(SETUP) | HAS(SETUP_PROBE) | HAS(QUANTUM);

	CHECK_STR(choose(all, NULL, 1)->name, "value");
	CHECK_EQ(choose(all & ~HAS(DELIVER), NULL, 2)->program, PAUSE_SETUP);
	CHECK_EQ(choose(HAS(SETUP_PROBE) | HAS(QUANTUM), NULL, 3)->program, PAUSE_SETUP_PROBE);
	CHECK_STR(choose(HAS(QUANTUM), NULL, 4)->name, "quanta");
	CHECK(!choose(0, NULL, 4));
}

TEST(the_one_that_is_wanted)
{
	const unsigned all = HAS(DELIVER) | HAS(SETUP) | HAS(SETUP_PROBE) | HAS(QUANTUM);

	CHECK_STR(choose(all, "quanta", 1)->name, "quanta");
	CHECK_EQ(choose(all & ~HAS(SETUP), "write", 2)->program, PAUSE_SETUP_PROBE);
	CHECK(!choose(HAS(QUANTUM), "write", 2));
	CHECK(!choose(all, "none", 0));
	CHECK(!pause_mode_find("none"));
}

/* A quantum goes with the way of telling that has none, and names fit a profile. */
TEST(modes_agree)
{
	for (size_t i = 0; i < n_pause_modes; i++) {
		const struct pause_mode *m = &pause_modes[i];

		CHECK_EQ(m->quantum_ns > 0, m->by == COZBPF_BY_QUANTA);
		CHECK_EQ(m->is_queued, m->by == COZBPF_BY_VALUE);
		CHECK(strlen(m->name) < 8);
		CHECK_STR(pause_mode_find(m->name)->name, m->name);
	}
}
