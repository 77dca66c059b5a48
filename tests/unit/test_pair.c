/* SPDX-License-Identifier: BSD-3-Clause */
/* The language of latency pairs: what is accepted and how it is split, what is refused and with
 * which words. */
#include "check.h"

#include "core/places/pair.h"

static void good(const char *text, const char *name, const char *begin, const char *end, int arg)
{
	struct error e = {0};
	struct pair p;

	if (pair_parse(text, &p, &e)) {
		fprintf(stderr, "'%s': %s\n", text, e.cause);
		CHECK(0);
		return;
	}
	CHECK_STR(p.name, name);
	CHECK_STR(p.begin.name, begin);
	CHECK_STR(p.end.name, end);
	CHECK_EQ(p.by_arg, arg >= 0);
	if (arg >= 0)
		CHECK_EQ(p.arg, arg);
	pair_deinit(&p);
}

TEST(pairs)
{
	struct error e = {0};
	struct pair p;

	good("req=enqueue..done", "req", "enqueue", "done", -1);
	good("req=enqueue..done,key=tid", "req", "enqueue", "done", -1);
	good("req=enqueue..done,key=arg0", "req", "enqueue", "done", 0);
	good("req=enqueue..done,key=arg11", "req", "enqueue", "done", 11);
	good("req=q.c:12..q.c:30", "req", "q.c:12", "q.c:30", -1);
	good("req=../bin/a:f..../bin/a:g", "req", "../bin/a:f", "../bin/a:g", -1);
	good("req=lib/../a:f..lib/../b:g,key=arg1", "req", "lib/../a:f", "lib/../b:g", 1);
	good("req=uprobe:../a:f..uprobe:../a:g", "req", "uprobe:../a:f", "uprobe:../a:g", -1);
	good("req=say(char const*, ...)..ns::f(int)", "req", "say(char const*, ...)", "ns::f(int)",
	    -1);
	good("req=f..uretprobe:/bin/a:f", "req", "f", "uretprobe:/bin/a:f", -1);
	good("req=usdt:/bin/a:app:begin..usdt:/bin/a:app:end,key=arg2", "req",
	    "usdt:/bin/a:app:begin", "usdt:/bin/a:app:end", 2);
	good("req=tracepoint:net:netif_rx..f", "req", "tracepoint:net:netif_rx", "f", -1);
	CHECK_EQ(pair_parse("req=f+8..g", &p, &e), 0);
	CHECK_EQ(p.begin.kind, SPEC_SYMBOL);
	CHECK_EQ(p.begin.offset, 8);
	pair_deinit(&p);
}

static void bad(const char *text, const char *words)
{
	struct error e = {0};
	struct pair p;

	CHECK_EQ(pair_parse(text, &p, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	if (!strstr(e.cause, words))
		CHECK_STR(e.cause, words);
	CHECK(e.hint[0]);
}

TEST(points_of_one_name)
{
	const char *same[] = {"done", "a.c:3", "done"}, *named[] = {"x=done", "x=other"},
		   *apart[] = {"done", "x=done", "a.c:3"};
	struct error e = {0};

	CHECK_EQ(specs_check(&(struct string_list){apart, 3}, NULL, &e), 0);
	CHECK_EQ(specs_check(&(struct string_list){same, 3}, NULL, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK_STR(e.cause, "two progress points are called 'done'");
	CHECK_EQ(specs_check(&(struct string_list){named, 2}, NULL, &e), -1);
	CHECK_STR(e.cause, "two progress points are called 'x'");
	CHECK_STR(e.hint, "give each a name of its own: -P NAME=SPEC");
}

TEST(refused)
{
	bad("", "it needs a name");
	bad("enqueue..done", "it needs a name");
	bad("=enqueue..done", "it needs a name");
	bad("q.c:3..q.c:4", "it needs a name");
	bad("req=", "no '..'");
	bad("req=enqueue", "no '..'");
	bad("req=..", "no '..'");
	bad("req=../a:f", "no '..'");
	bad("req=enqueue..", "on both sides");
	bad("req=a\tb..c", "tabs");
	bad("req=q.c:0..done", "lines count from 1");
	bad("req=enqueue..done,key=", "'' is not a key");
	bad("req=enqueue..done,key=arg", "'arg' is not a key");
	bad("req=enqueue..done,key=arg12", "'arg12' is not a key");
	bad("req=enqueue..done,key=argx", "'argx' is not a key");
	bad("req=enqueue..done,key=rdi", "'rdi' is not a key");
	bad("req=q.c:12..done,key=arg0", "no key at 'q.c:12': a line has no arguments");
	bad("req=f..uretprobe:/bin/a:f,key=arg0",
	    "no key at 'uretprobe:/bin/a:f': arguments are gone");
	bad("req=f..tracepoint:net:netif_rx,key=arg0", "no key at 'tracepoint:net:netif_rx'");
	bad("req=f+8..g,key=arg0",
	    "no key at 'f+8': arguments are known where a function begins only");
	bad("req=sampled:q.c:3..g", "samples are no visits");
}
