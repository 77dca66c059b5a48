// SPDX-License-Identifier: BSD-3-Clause
/* Cheap sites of functions, judged by running them: stepped through a program, a site must be
 * executed as often as the place it stands for. */
#include "direct.h"

#include "check.h"

#if defined(__x86_64__)
#include "trace.h"

struct tally {
	size_t functions, cheap_before, cheap, moved;
};

/* Compares each function that was executed with its site. */
static struct tally check_counts(struct object *o, const struct trace *t)
{
	struct tally tally = {0};

	CHECK_EQ(object_load_symbols(o), 0);
	for (size_t i = 0; i < o->n_symbols; i++) {
		const struct symbol *s = &o->symbols[i];
		uint64_t offset, site, addr = 0;

		if (s->addr - t->lo >= t->size || !t->count[s->addr - t->lo] ||
		    (i && s[-1].addr == s->addr))
			continue;
		CHECK(object_offset(o, s->addr, &offset));
		CHECK_EQ(object_cheap_site(o, offset, &site), 0);
		CHECK(object_address(o, site, &addr));
		if (t->count[addr - t->lo] != t->count[s->addr - t->lo]) {
			fprintf(stderr, "  '%s': executed %u times, its site at +0x%llx %u times\n",
			    s->name, t->count[s->addr - t->lo],
			    (unsigned long long)(addr - s->addr), t->count[addr - t->lo]);
			CHECK(!"the site is executed as often as the function");
		}
		tally.functions++;
		tally.cheap_before += object_site_is_cheap(o, offset);
		tally.cheap += object_site_is_cheap(o, site);
		tally.moved += site != offset;
		CHECK(site == offset || object_site_is_cheap(o, site));
	}
	return tally;
}

static uint64_t symbol_addr(struct object *o, const char *name)
{
	for (size_t i = 0; i < o->n_symbols; i++)
		if (!strcmp(o->symbols[i].name, name))
			return o->symbols[i].addr;
	fprintf(stderr, "  no symbol '%s'\n", name);
	CHECK(!"the symbol is there");
	return 0;
}

static void check_hand(struct object *o, const char *function, uint64_t want)
{
	uint64_t offset = 0, site = 0;

	CHECK(object_offset(o, symbol_addr(o, function), &offset));
	CHECK_EQ(object_cheap_site(o, offset, &site), 0);
	if (site - offset != want)
		fprintf(stderr, "  '%s'\n", function);
	CHECK_EQ(site - offset, want);
}

/* A probe at @at in the function: whether it may clobber, and then how far away the next place is;
 * 0: there is none. */
static void check_call(struct object *o, const char *function, uint64_t at, bool may, uint64_t want)
{
	uint64_t offset = 0, next = 1;

	CHECK(object_offset(o, symbol_addr(o, function) + at, &offset));
	CHECK_EQ(image_site_may_clobber(o, offset, &next), may);
	CHECK_EQ(next ? next - offset : 0, want);
}

static void check_stretches(const char *compiler, const char *flags)
{
	struct object *o = NULL;
	struct error e = {0};
	struct trace t;
	struct tally tally;

	CHECK(run("%s %s -ffreestanding -fno-stack-protector -fno-pie -static -nostdlib -o "
		  "stretches '%s/stretches.c' '%s/stretches.S'",
	    compiler, flags, fixtures, fixtures));
	CHECK_EQ(object_open(DIR "/stretches", "", &o, &e), 0);
	t = run_traced(o, DIR "/stretches");
	tally = check_counts(o, &t);
	CHECK(tally.functions >= 20);
	CHECK(tally.cheap > tally.cheap_before);
	printf("%s %s: %ld steps, %zu functions, cheap at their start %zu, after moving %zu of "
	       "them %zu\n",
	    compiler, flags, t.steps, tally.functions, tally.cheap_before, tally.moved,
	    tally.cheap);
	free(t.count);
	object_close(o);
}

TEST(stretches_of_compilers)
{
	static const char *const flags[] = {"-O0 -fcf-protection=full", "-O2 -fcf-protection=none",
	    "-O2 -fpatchable-function-entry=5", "-Os -fcf-protection=none",
	    /* Not where it has to be brief. */
	    "-O0 -fcf-protection=none", "-O1 -fcf-protection=full", "-O2 -fcf-protection=full",
	    "-O3 -fomit-frame-pointer", "-O2 -mno-red-zone -march=x86-64-v3"};
	size_t n = brief() ? 4 : sizeof(flags) / sizeof(*flags);

	CHECK(run("true"));
	for (size_t i = 0; i < n; i++) {
		check_stretches("gcc", flags[i]);
		if (have("clang"))
			check_stretches("clang", flags[i]);
	}
}

TEST(stretches_by_hand)
{
	struct object *o = NULL;
	struct error e = {0};

	CHECK(run("true"));
	CHECK(run("gcc -O2 -ffreestanding -fno-pie -static -nostdlib -o hand '%s/stretches.c' "
		  "'%s/stretches.S'",
	    fixtures, fixtures));
	CHECK_EQ(object_open(DIR "/hand", "", &o, &e), 0);
	CHECK_EQ(object_load_symbols(o), 0);
	check_hand(o, "hand_call", 5);
	check_hand(o, "hand_loop_inside", 0);
	check_hand(o, "hand_loop_to_start", 5);
	check_hand(o, "hand_from_cold", 0);
	check_hand(o, "hand_side_entry", 0);
	check_hand(o, "hand_computed", 0);
	check_hand(o, "hand_table", 10);
	check_hand(o, "hand_nop", 0);
	check_hand(o, "hand_ret", 0);
	check_hand(o, "hand_long_nop", 4);
	check_hand(o, "hand_call_nop", 0);
	check_call(o, "hand_call_nop", 0, false, 0);
	check_call(o, "hand_keeps", 4, true, 5);
	check_call(o, "hand_keeps_loop", 4, true, 0);
	check_call(o, "hand_keeps_loop", 0, false, 0);
	check_call(o, "hand_begins", 0, false, 0);
	check_call(o, "hand_long_nop", 4, false, 0);
	object_close(o);
}

/* A whole C library, with all its assembler code. */
TEST(static_library)
{
	struct object *o = NULL;
	struct error e = {0};
	struct trace t;
	struct tally tally;

	CHECK(run("printf '#include <stdio.h>\\n#include <stdlib.h>\\n#include <string.h>\\n"
		  "static int cmp(const void *a, const void *b) { return *(const int *)a - *(const "
		  "int *)b; }\\n"
		  "int main(void)\\n{\\n\\tint v[] = {3, 1, 2};\\n\\tchar text[300], *p = "
		  "malloc(1000);\\n\\tqsort(v, 3, 4, cmp);\\n"
		  "\\tmemset(p, 0, 1000); memcpy(text, p, 300); memmove(p + 10, p, 500);\\n"
		  "\\tfor (int i = 0; i < 20; i++) snprintf(text, 300, \"%%%%d %%%%s %%%%g\", i, "
		  "\"abc\", i / 3.0);\\n"
		  "\\tfree(p);\\n\\treturn strlen(text) + strcmp(text, \"x\") == 12345 || "
		  "!strchr(text, 97) || strtol(\"12\", NULL, 10) != "
		  "12;\\n}\\n' "
		  ">library.c && gcc -O2 -static -no-pie -o library library.c"));
	CHECK_EQ(object_open(DIR "/library", "", &o, &e), 0);
	t = run_traced(o, DIR "/library");
	tally = check_counts(o, &t);
	CHECK(tally.functions > 100);
	printf("libc: %ld steps, %zu functions, cheap at their start %zu, after moving %zu of them "
	       "%zu\n",
	    t.steps, tally.functions, tally.cheap_before, tally.moved, tally.cheap);
	free(t.count);
	object_close(o);
}

/* Places that do not move: no code, stripped programs, another architecture. */
TEST(nothing_known)
{
	struct object *o = NULL;
	struct error e = {0};
	uint64_t offset = 0, site = 0;

	CHECK(run("printf 'int f(int x) { return x + 1; } int main(int c, char **v) { return f(c) "
		  "== 9; }' | gcc -x c -O2 -s -o stripped -"));
	CHECK_EQ(object_open(DIR "/stripped", "", &o, &e), 0);
	CHECK_EQ(object_cheap_site(o, 0, &site), -1);
	CHECK_EQ(site, 0);
	CHECK_EQ(object_cheap_site(o, UINT64_MAX, &site), -1);
	offset = o->code[o->n_code / 2].offset;
	CHECK_EQ(object_cheap_site(o, offset, &site), 0);
	CHECK_EQ(site, offset);
	object_close(o);
}
#else
TEST(nothing_to_move)
{
}
#endif
