// SPDX-License-Identifier: BSD-3-Clause
/* Events as bytes of any size: what is too short for its kind, or of no kind, is none. */
#include "check.h"

#include "kernel/events.h"

static const struct cozbpf_event fork_event = {COZBPF_EVENT_FORK, 12, 11, 0};

TEST(of_a_process)
{
	struct cozbpf_counter_event got;

	CHECK(event_read(&fork_event, sizeof(fork_event), &got));
	CHECK_EQ(got.event.kind, COZBPF_EVENT_FORK);
	CHECK_EQ(got.event.tgid, 12);
	CHECK_EQ(got.event.arg, 11);
	CHECK_EQ(got.address, 0);
	CHECK(!event_read(&fork_event, sizeof(fork_event) - 1, &got));
	CHECK(!event_read(NULL, 0, &got));
}

/* A counter's event that is as short as the others was read beyond its end. */
TEST(of_a_counter)
{
	struct cozbpf_counter_event whole = {.event = {COZBPF_EVENT_COUNTER, 12,
						 COZBPF_COUNTER_BEGIN, 0},
					.address = 0x1000},
				    got;

	memset(whole.name, 'x', sizeof(whole.name));
	CHECK(event_read(&whole, sizeof(whole), &got));
	CHECK_EQ(got.address, 0x1000);
	CHECK_EQ(strlen(got.name), sizeof(got.name) - 1);
	CHECK(!event_read(&whole.event, sizeof(whole.event), &got));
	CHECK(!event_read(&whole, sizeof(whole) - 1, &got));
}

TEST(of_nobody)
{
	static const struct cozbpf_event bad[] = {{0, 12, 0, 0},
	    {COZBPF_EVENT_COUNTER + 1, 12, 0, 0}, {COZBPF_EVENT_EXEC, 0, 0, 0},
	    {COZBPF_EVENT_EXEC, 0x80000000, 0, 0}};
	struct cozbpf_counter_event got;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!event_read(&bad[i], sizeof(bad[i]), &got));
}
