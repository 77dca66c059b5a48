// SPDX-License-Identifier: BSD-3-Clause
/* Rows for unwinding of arm64, on any machine that has a compiler for it. */
#include "debug_fixture.h"

#include <cozbpf/abi.h>

#define X29 COZBPF_UNWIND_X29

static struct object *open_object(const char *path)
{
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(path, "", &o, &e), 0);
	return o;
}

struct table {
	struct object *o;
	struct cozbpf_unwind_row *rows;
	size_t n;
};

static struct table table_of(const char *path)
{
	struct table t = {.o = open_object(path)};
	struct error e = {0};
	bool stop = false;

	CHECK_EQ(object_unwind_rows(t.o, 100000, &stop, &t.rows, &t.n, &e), 0);
	return t;
}

static void done(struct table *t)
{
	free(t->rows);
	object_close(t->o);
}

/* Like the kernel side: the row that holds at the @nth instruction of a function. */
static void check_row(
    const struct table *t, const char *function, uint64_t nth, int kind, int cfa, int slot)
{
	struct cozbpf_unwind_row found = {0};
	struct probe_site *sites;
	struct error e = {0};
	uint64_t offset;
	size_t n;

	CHECK_EQ(object_find_symbol(t->o, function, 0, &sites, &n, &e), 0);
	offset = sites[0].offset + 4 * nth;
	free(sites);
	for (size_t i = 0; i < t->n && t->rows[i].lo <= offset; i++)
		found = t->rows[i];
	CHECK_EQ(found.kind, kind);
	CHECK_EQ(found.cfa, cfa);
	CHECK_EQ(found.slot, slot);
}

TEST(known_rules)
{
	struct table t;

	need_arm64();
	t = table_of(build(ARM64_GCC, "-nostdlib -static", "unwind_arm64.S", "arm64"));
	check_row(&t, "pair", 0, COZBPF_UNWIND_LINK, 0, 0);
	check_row(&t, "pair", 1, COZBPF_UNWIND_PAIR, 48, -6);
	check_row(&t, "pair", 2, COZBPF_UNWIND_PAIR, 48, -6);
	check_row(&t, "pair", 3, COZBPF_UNWIND_LINK, 0, 0);
	check_row(&t, "leaf", 1, COZBPF_UNWIND_LINK, 32, 0);
	check_row(&t, "leaf", 2, COZBPF_UNWIND_LINK, 0, 0);
	check_row(&t, "alone", 1, COZBPF_UNWIND_ALONE, 16, -2);
	check_row(&t, "dynamic", 1, COZBPF_UNWIND_PAIR, 16, -2);
	check_row(&t, "dynamic", 2, COZBPF_UNWIND_PAIR | X29, 16, -2);
	check_row(&t, "large", 1, COZBPF_UNWIND_LINK, 4000, 0);
	check_row(&t, "large", 2, COZBPF_UNWIND_PAIR, 4000, 2);
	check_row(&t, "between", 1, COZBPF_UNWIND_NONE, 0, 0);
	check_row(&t, "signed", 1, COZBPF_UNWIND_LINK, 0, 0);
	check_row(&t, "signed", 2, COZBPF_UNWIND_PAIR, 16, -2);
	check_row(&t, "with_other", 1, COZBPF_UNWIND_NONE, 0, 0);
	check_row(&t, "_start", 0, COZBPF_UNWIND_LINK, 0, 0);
	done(&t);
}

/* What a compiler makes of C, with and without frame pointers: a rule at each instruction of a
 * function that is called and calls. */
TEST(of_a_compiler)
{
	static const char *flags[] = {"-O2", "-O2 -fomit-frame-pointer",
	    "-O2 -fno-omit-frame-pointer", "-O2 -mbranch-protection=standard"};

	need_arm64();
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		size_t ruled = 0;
		struct table t;

		CHECK(run("printf '#define A __attribute__((noinline))\\n"
			  "A int g(int *x) { return x[0] + 1; }\\n"
			  "A int f(int n) { int x[900]; x[0] = n; return g(x) + g(x + 1); }\\n"
			  "void _start(void) { f(g(0)); }\\n' >c.c && " ARM64_GCC
			  " %s -nostdlib -static -o c c.c",
		    flags[i]));
		t = table_of(DIR "/c");
		for (size_t k = 0; k < t.n; k++)
			ruled += t.rows[k].kind != COZBPF_UNWIND_NONE;
		CHECK(ruled >= 4);
		check_row(&t, "g", 0, COZBPF_UNWIND_LINK, 0, 0);
		check_row(&t, "f", 0, COZBPF_UNWIND_LINK, 0, 0);
		done(&t);
	}
}
