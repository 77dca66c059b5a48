// SPDX-License-Identifier: BSD-3-Clause
/* Stacks, wakers and calls of waits as text, and back; what of others' texts is refused. */
#include "check.h"

#include "core/profile/wait_fields.h"

/* Owned by the caller. */
static struct wait_counts some(void)
{
	static const struct stack_count stacks[] = {{{9, {4, 5}}, 3}, {{8, {1}}, 2},
	    {{9, {4294967290, 5, 4}}, 9007199254740992U}, {{9, {4, 1}}, 3}};
	static const struct waker_count wakers[] = {{{9, COZBPF_WAKER_NO_LINE}, 1},
	    {{9, COZBPF_WAKER_TIMER}, 5}, {{9, 70}, 2}, {{8, COZBPF_WAKER_END}, 1},
	    {{9, COZBPF_WAKER_KERNEL}, 4}, {{9, COZBPF_WAKER_PROCESS}, 3}};
	static const struct call_count calls[] = {
	    {{9, 1 + 511}, 2}, {{9, 0}, 1}, {{8, 1 + 511}, 7}, {{9, 1 + 510}, 4}};
	struct wait_counts ret = {.stacks = malloc(sizeof(stacks)),
	    .n_stacks = sizeof(stacks) / sizeof(stacks[0]),
	    .wakers = malloc(sizeof(wakers)),
	    .n_wakers = sizeof(wakers) / sizeof(wakers[0]),
	    .calls = malloc(sizeof(calls)),
	    .n_calls = sizeof(calls) / sizeof(calls[0])};

	memcpy(ret.calls, calls, sizeof(calls));
	memcpy(ret.stacks, stacks, sizeof(stacks));
	memcpy(ret.wakers, wakers, sizeof(wakers));
	wait_counts_sort(&ret);
	return ret;
}

static void check_text(char *text, const char *want)
{
	CHECK_STR(text, want);
	free(text);
}

/* Those with most samples first; of other units nothing. */
TEST(to_text)
{
	struct wait_counts c = some();

	check_text(wait_stacks_text(&c, 9), "9007199254740992:4294967290/5/4,3:4/1,3:4/5");
	check_text(wait_stacks_text(&c, 8), "2:1");
	CHECK(!wait_stacks_text(&c, 7));
	check_text(wait_wakers_text(&c, 9), "5:timer,4:kernel,3:process,2:70,1:0");
	check_text(wait_wakers_text(&c, 8), "1:end");
	CHECK(!wait_wakers_text(&c, 10));
	check_text(wait_calls_field(&c, 9), "call_510:4,call_511:2,fault:1");
	CHECK(!wait_calls_field(&c, 10));
	wait_counts_deinit(&c);
	CHECK(!wait_stacks_text(&c, 9));
}

TEST(from_text)
{
	const char *text = "7:4294967295/2,1:3";
	struct stack_count s;
	struct waker_count w;

	CHECK(wait_stack_next(&text, &s));
	CHECK_EQ(s.count, 7);
	CHECK_EQ(s.stack.callers[0], 4294967295);
	CHECK_EQ(s.stack.callers[1], 2);
	CHECK_EQ(s.stack.callers[2], 0);
	CHECK(wait_stack_next(&text, &s));
	CHECK_EQ(s.count, 1);
	CHECK_EQ(s.stack.callers[1], 0); /* nothing is left of the one before */
	CHECK(!wait_stack_next(&text, &s));
	CHECK_EQ(*text, 0);
	text = "9:12,2:0,1:timer,3:end";
	CHECK(wait_waker_next(&text, &w));
	CHECK_EQ(w.count, 9);
	CHECK_EQ(w.waker.line, 12);
	CHECK(wait_waker_next(&text, &w));
	CHECK_EQ(w.waker.line, COZBPF_WAKER_NO_LINE);
	CHECK(wait_waker_next(&text, &w));
	CHECK_EQ(w.waker.line, COZBPF_WAKER_TIMER);
	CHECK(wait_waker_next(&text, &w));
	CHECK_EQ(w.waker.line, COZBPF_WAKER_END);
	CHECK(!wait_waker_next(&text, &w));
	CHECK_EQ(*text, 0);
}

TEST(names)
{
	CHECK_STR(waker_name(COZBPF_WAKER_KERNEL), "kernel");
	CHECK_STR(waker_name(COZBPF_WAKER_PROCESS), "process");
	CHECK(!waker_name(COZBPF_WAKER_NO_LINE));
	CHECK(!waker_name(COZBPF_WAKER_END - 1));
}

TEST(bad_stacks)
{
	static const char *const bad[] = {"1", "1:", "1:2/", "1:/2", ":2", "0:2", "1:0", "1:2/0",
	    "1:2,", ",1:2", "1:2,,1:3", "1:2 ", "-1:2", "1:4294967296", "1:timer",
	    "9007199254740993:2", "1:2/3x"};
	char text[256] = "5:1", *end = text + 3;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!wait_stacks_sound(bad[i]));
	for (int i = 1; i < COZBPF_WAIT_CALLERS; i++)
		end = stpcpy(end, "/2");
	CHECK(wait_stacks_sound(text));
	strcpy(end, "/2");
	CHECK(!wait_stacks_sound(text)); /* there is no room for that one */
	CHECK(wait_stacks_sound(""));
}

TEST(bad_wakers)
{
	static const char *const bad[] = {"1", "1:", "1:x", "0:timer", "1:timers", "1:timer,",
	    "1:Timer", "1:2/3", "1:-1", "1:4294967292", "1:4294967295", "1:2,3"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!wait_wakers_sound(bad[i]));
	CHECK(wait_wakers_sound("1:4294967291,1:kernel,1:process"));
}
