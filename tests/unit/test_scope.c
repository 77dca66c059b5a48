// SPDX-License-Identifier: BSD-3-Clause
/* Scope patterns and the default scope; names of source files. */
#include "check.h"

#include <stdbool.h>

#include "core/text/paths.h"
#include "core/places/scope.h"

TEST(match_whole_path)
{
	CHECK(scope_match("/a/b.c", "/a/b.c"));
	CHECK(!scope_match("/a/b", "/a/b.c"));
	CHECK(!scope_match("b.c", "/a/b.c"));
	CHECK(scope_match("", ""));
	CHECK(!scope_match("", "a"));
	CHECK(!scope_match("a", ""));
}

TEST(match_wildcard)
{
	CHECK(scope_match("%", ""));
	CHECK(scope_match("%", "/a/b.c"));
	CHECK(scope_match("%.c", "/a/b.c"));
	CHECK(!scope_match("%.c", "/a/b.cc"));
	CHECK(scope_match("/a/%", "/a/b.c"));
	CHECK(scope_match("%/src/%", "/home/u/src/x/y.c"));
	CHECK(!scope_match("%/src/%", "/home/u/source/y.c"));
	CHECK(scope_match("%%b%%", "ab"));
	/* An early wildcard must give back what it took when a later part needs it. */
	CHECK(scope_match("%ab%ac", "abababac"));
	CHECK(!scope_match("%ab%ad", "abababac"));
	/* No other character is special. */
	CHECK(!scope_match("*", "/a"));
	CHECK(!scope_match("a.c", "abc"));
}

TEST(match_is_not_exponential)
{
	char pattern[201], path[2001];

	for (int i = 0; i < 200; i++)
		pattern[i] = i % 2 ? 'a' : '%';
	pattern[199] = 'b';
	pattern[200] = 0;
	memset(path, 'a', 2000);
	path[2000] = 0;
	CHECK(!scope_match(pattern, path));
}

TEST(default_sources)
{
	static const char *const in[] = {"/home/u/src/a.c", "/src/main.cc", "/work/include/mine.h",
	    "a.c", "/usr/src/app/a.c", "/build/app/a.c", "/opt/my/lib/x.hpp"};
	static const char *const out[] = {"", "/usr/include/stdio.h",
	    "/usr/include/c++/12/bits/stl_vector.h", "/usr/local/include/boost/x.hpp",
	    "/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h",
	    "/usr/lib/llvm-14/lib/clang/14.0.6/include/xmmintrin.h",
	    "/opt/gcc-13/include/c++/13.2.0/vector", "/opt/llvm/lib/clang/17/include/stddef.h",
	    "/rustc/90b35a623/library/core/src/slice/mod.rs",
	    "/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/vec/mod.rs",
	    "/usr/lib/go-1.19/src/runtime/proc.go",
	    "/build/glibc-6iIyft/glibc-2.28/malloc/malloc.c", "sysdeps/x86_64/start.S",
	    "csu/libc-start.c", "../sysdeps/x86_64/start.S", "<built-in>"};
	struct scope s = {0};

	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++) {
		CHECK(scope_has_source(&s, in[i]));
		if (!scope_has_source(&s, in[i]))
			fprintf(stderr, "  '%s' is out of scope\n", in[i]);
	}
	for (size_t i = 0; i < sizeof(out) / sizeof(*out); i++) {
		CHECK(!scope_has_source(&s, out[i]));
		if (scope_has_source(&s, out[i]))
			fprintf(stderr, "  '%s' is in scope\n", out[i]);
	}
}

TEST(given_sources)
{
	const char *patterns[] = {"%/a.c", "/usr/include/%"};
	struct scope s = {.sources = patterns, .n_sources = 2};

	CHECK(scope_has_source(&s, "/x/a.c"));
	CHECK(scope_has_source(&s, "/usr/include/stdio.h"));
	CHECK(!scope_has_source(&s, "/x/b.c"));
}

TEST(binaries)
{
	const char *patterns[] = {"MAIN", "%/libx.so%"}, *lib[] = {"%/libx.so"};
	struct scope none = {0}, both = {.binaries = patterns, .n_binaries = 2},
		     only_lib = {.binaries = lib, .n_binaries = 1};

	CHECK(scope_has_binary(&none, "/bin/x", true));
	CHECK(!scope_has_binary(&none, "/lib/libx.so", false));
	CHECK(scope_has_binary(&both, "/bin/x", true));
	CHECK(!scope_has_binary(&both, "/bin/x", false));
	CHECK(scope_has_binary(&both, "/lib/libx.so.1", false));
	CHECK(!scope_has_binary(&only_lib, "/bin/x", true));
	CHECK(scope_has_binary(&only_lib, "/lib/libx.so", false));
}

static const char *normal(const char *path)
{
	static char buf[256];

	snprintf(buf, sizeof(buf), "%s", path);
	path_normalise(buf);
	return buf;
}

TEST(normalise)
{
	CHECK_STR(normal("/a/./b/../c"), "/a/c");
	CHECK_STR(normal("/a//b///c/"), "/a/b/c");
	CHECK_STR(normal("/a/b/../../.."), "/");
	CHECK_STR(normal("/../a"), "/a");
	CHECK_STR(normal("a/../b"), "b");
	CHECK_STR(normal("../a"), "../a");
	CHECK_STR(normal("../../a/../b"), "../../b");
	CHECK_STR(normal("./csu/../sysdeps/x.S"), "sysdeps/x.S");
	CHECK_STR(normal("/a/..b/c."), "/a/..b/c.");
	CHECK_STR(normal("/a/.../b"), "/a/.../b");
	CHECK_STR(normal("/"), "/");
	CHECK_STR(normal(""), "");
	CHECK_STR(normal("a/.."), "");
}

TEST(join)
{
	char buf[16];

	CHECK_EQ(path_join(buf, sizeof(buf), "/d/e", "../f.c"), 6);
	CHECK_STR(buf, "/d/f.c");
	CHECK_EQ(path_join(buf, sizeof(buf), "/d", "/abs.c"), 6);
	CHECK_STR(buf, "/abs.c");
	CHECK_EQ(path_join(buf, sizeof(buf), NULL, "a.c"), 3);
	CHECK_STR(buf, "a.c");
	CHECK_EQ(path_join(buf, sizeof(buf), "/0123456789", "abcd"), 0);
	CHECK_EQ(path_join(buf, sizeof(buf), "/012345678", "abcd"), 15);
}

TEST(path_library)
{
	CHECK(path_is_library("/lib/libx.so", "libx.so"));
	CHECK(path_is_library("/lib/libx.so.6", "libx.so.6"));
	CHECK(path_is_library("/lib/libx.so.6.0.30", "libx.so.6"));
	CHECK(path_is_library("/lib/libx.so.6.0.30", "libx.so"));
	CHECK(path_is_library("/lib/libx.so", "lib/libx.so"));
	CHECK(!path_is_library("/lib/libx.so.6", "lib/libx.so"));
	CHECK(!path_is_library("/lib/libx.so.60", "libx.so.6"));
	CHECK(!path_is_library("/lib/libx.so.debug", "libx.so"));
	CHECK(!path_is_library("/lib/libxx.so", "libx.so"));
	CHECK(!path_is_library("/lib/libx.so", "libx"));
	CHECK(!path_is_library("/lib/a.c.1", "a.c"));
}

TEST(suffix)
{
	CHECK(path_has_suffix("/a/b/c.c", "c.c"));
	CHECK(path_has_suffix("/a/b/c.c", "b/c.c"));
	CHECK(path_has_suffix("/a/b/c.c", "/a/b/c.c"));
	CHECK(path_has_suffix("/a/b/c.c", "./b/c.c"));
	CHECK(path_has_suffix("/a/b/c.c", "../../b/c.c"));
	CHECK(!path_has_suffix("/a/b/xc.c", "c.c"));
	CHECK(!path_has_suffix("/a/b/c.c", "/b/c.c"));
	CHECK(!path_has_suffix("c.c", "b/c.c"));
	CHECK(!path_has_suffix("/a/b/c.c", ""));
}
