// SPDX-License-Identifier: BSD-3-Clause
/* Progress point specs: what is understood, what is refused, and how. */
#include "check.h"

#include <stdbool.h>

#include "core/places/spec.h"

static void check_line(const char *text, const char *name, const char *file, uint32_t line)
{
	struct error e = {0};
	struct spec s;

	CHECK_EQ(spec_parse(text, &s, &e), 0);
	if (*e.cause) {
		fprintf(stderr, "  %s\n", e.cause);
		return;
	}
	CHECK_EQ(s.kind, SPEC_LINE);
	CHECK_STR(s.name, name);
	CHECK_STR(s.file, file);
	CHECK_EQ(s.line, line);
	CHECK(!s.path && !s.symbol && !s.offset);
	spec_deinit(&s);
}

static void check_symbol(
    const char *text, const char *name, const char *path, const char *symbol, uint64_t offset)
{
	struct error e = {0};
	struct spec s;

	CHECK_EQ(spec_parse(text, &s, &e), 0);
	if (*e.cause) {
		fprintf(stderr, "  %s\n", e.cause);
		return;
	}
	CHECK_EQ(s.kind, SPEC_SYMBOL);
	CHECK_STR(s.name, name);
	CHECK(!path == !s.path);
	if (path)
		CHECK_STR(s.path, path);
	CHECK_STR(s.symbol, symbol);
	CHECK_EQ(s.offset, offset);
	CHECK(!s.file && !s.line);
	spec_deinit(&s);
}

/* @part: a part of the cause's text. */
static void check_refused(const char *text, const char *part)
{
	struct error e = {0};
	struct spec s;

	CHECK_EQ(spec_parse(text, &s, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(*e.hint);
	CHECK(strstr(e.cause, part));
	if (!strstr(e.cause, part))
		fprintf(stderr, "  '%s': %s\n", text, e.cause);
}

TEST(lines)
{
	check_line("a.c:12", "a.c:12", "a.c", 12);
	check_line("/src/a.c:1", "/src/a.c:1", "/src/a.c", 1);
	check_line("req=src/a.c:12", "req", "src/a.c", 12);
	check_line("C:\\x.c:4294967295", "C:\\x.c:4294967295", "C:\\x.c", 4294967295u);
	check_line("a b=my file.c:7", "a b", "my file.c", 7);
}

TEST(symbols)
{
	check_symbol("main", "main", NULL, "main", 0);
	check_symbol("done=main+16", "done", NULL, "main", 16);
	check_symbol("main+0x1f", "main+0x1f", NULL, "main", 31);
	check_symbol("/usr/lib/libc.so.6:malloc", "/usr/lib/libc.so.6:malloc", "/usr/lib/libc.so.6",
	    "malloc", 0);
	check_symbol("m=./prog:f+4", "m", "./prog", "f", 4);
	check_symbol("uprobe:/bin/x:f", "uprobe:/bin/x:f", "/bin/x", "f", 0);
	check_symbol("n=uprobe:/bin/x:f+0xff", "n", "/bin/x", "f", 255);
	check_symbol("libstdc++.so:f", "libstdc++.so:f", "libstdc++.so", "f", 0);
	check_symbol("+0x57e0", "+0x57e0", NULL, "", 0x57e0);
	check_symbol(
	    "libz.so.1+0x10=/lib/libz.so.1:+0x10", "libz.so.1+0x10", "/lib/libz.so.1", "", 0x10);
}

TEST(cxx_symbols)
{
	check_symbol("ns::f", "ns::f", NULL, "ns::f", 0);
	check_symbol("ns::f(int, char)", "ns::f(int, char)", NULL, "ns::f(int, char)", 0);
	check_symbol("/bin/x:ns::f<a::b>(int)+8", "/bin/x:ns::f<a::b>(int)+8", "/bin/x",
	    "ns::f<a::b>(int)", 8);
	check_symbol("point=ns::f", "point", NULL, "ns::f", 0);
	check_symbol("operator==(a, b)", "operator==(a, b)", NULL, "operator==(a, b)", 0);
	check_symbol(
	    "a::operator=(a const&)", "a::operator=(a const&)", NULL, "a::operator=(a const&)", 0);
	check_symbol("n=operator<=", "n", NULL, "operator<=", 0);
	check_symbol("operator+", "operator+", NULL, "operator+", 0);
	check_symbol("operator++(a&)", "operator++(a&)", NULL, "operator++(a&)", 0);
	check_symbol("usdt::f", "usdt::f", NULL, "usdt::f", 0);
	check_symbol("uprobe::f", "uprobe::f", NULL, "uprobe::f", 0);
}

TEST(refused)
{
	check_refused("", "empty");
	check_refused("name=", "empty");
	check_refused("=a.c:1", "name before '='");
	check_refused("a.c:0", "count from 1");
	check_refused("a.c:4294967296", "count from 1");
	check_refused("a.c:99999999999999999999999", "count from 1");
	check_refused(":12", "no file");
	check_refused(":f", "no file");
	check_refused("a.c:", "after ':'");
	check_refused("a.c:12:5", "columns");
	check_refused("f+12z", "offset");
	check_refused("f+0x", "offset");
	check_refused("f+99999999999999999999", "offset");
	check_refused("+0x", "offset");
	check_refused("/bin/x:+99999999999999999999", "offset");
	check_refused("uretprobe:/bin/x:+0x10", "whole function");
	check_refused("uprobe:f", "PATH:SYMBOL");
	check_refused("a\tb=f", "tabs");
	check_refused("f\n", "tabs");
}

/* @a and @b: path and symbol, group and event, or file and nothing. */
static void check_kind(
    const char *text, enum spec_kind kind, const char *a, const char *b, const char *c)
{
	struct error e = {0};
	struct spec s = {0};

	CHECK_EQ(spec_parse(text, &s, &e), 0);
	if (*e.cause)
		fprintf(stderr, "  %s\n", e.cause);
	CHECK_EQ(s.kind, kind);
	CHECK(!a == !s.path);
	if (a && s.path)
		CHECK_STR(s.path, a);
	if (kind == SPEC_RETURN) {
		CHECK_STR(s.symbol, b);
	} else {
		CHECK_STR(s.group, b);
		CHECK_STR(s.event, c);
	}
	spec_deinit(&s);
}

TEST(kinds)
{
	struct spec s;

	check_kind("uretprobe:/bin/x:f", SPEC_RETURN, "/bin/x", "f", NULL);
	check_kind("done=uretprobe:x:ns::f(int)", SPEC_RETURN, "x", "ns::f(int)", NULL);
	check_kind("usdt:/bin/x:prov:name", SPEC_USDT, "/bin/x", "prov", "name");
	check_kind("q=usdt:libc.so.6:libc:memory_heap_new", SPEC_USDT, "libc.so.6", "libc",
	    "memory_heap_new");
	check_kind("usdt:/odd:dir/x:p:n", SPEC_USDT, "/odd:dir/x", "p", "n");
	check_kind("tracepoint:syscalls:sys_enter_sendmsg", SPEC_TRACEPOINT, NULL, "syscalls",
	    "sys_enter_sendmsg");
	CHECK_EQ(spec_parse("s=sampled:src/a.c:12", &s, NULL), 0);
	CHECK_EQ(s.kind, SPEC_SAMPLED);
	CHECK_STR(s.name, "s");
	CHECK_STR(s.file, "src/a.c");
	CHECK_EQ(s.line, 12);
	spec_deinit(&s);
	check_symbol("sampled::f", "sampled::f", NULL, "sampled::f", 0);
}

TEST(kinds_refused)
{
	check_refused("uretprobe:f", "'uretprobe:' is followed by PATH:SYMBOL");
	check_refused("uretprobe:/bin/x:f+8", "without an offset");
	check_refused("usdt:name", "PATH:PROVIDER:NAME");
	check_refused("usdt:prov:name", "PATH:PROVIDER:NAME");
	check_refused("usdt:/bin/x:prov:", "PROVIDER:NAME is missing");
	check_refused("usdt:/bin/x::name", "PROVIDER:NAME is missing");
	check_refused("tracepoint:sched", "CATEGORY:NAME");
	check_refused("tracepoint:sched:", "CATEGORY:NAME");
	check_refused("tracepoint:a:b:c", "CATEGORY:NAME");
	check_refused("tracepoint:../x:y", "CATEGORY:NAME");
	check_refused("sampled:a.c", "no line");
	check_refused("sampled:a.c:0", "count from 1");
}

TEST(error_may_be_null)
{
	struct spec s;

	CHECK_EQ(spec_parse("", &s, NULL), -1);
}
