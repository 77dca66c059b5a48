// SPDX-License-Identifier: BSD-3-Clause
/* Rows for unwinding: of functions whose rules are known, of a real library, and where there is no
 * room for all. */
#include "debug_fixture.h"

#include <time.h>

#include <cozbpf/abi.h>

#ifdef __x86_64__

static struct object *open_object(const char *path)
{
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(path, "", &o, &e), 0);
	return o;
}

static uint64_t offset_of(struct object *o, const char *symbol)
{
	struct probe_site *sites;
	struct error e = {0};
	uint64_t ret;
	size_t n;

	CHECK_EQ(object_find_symbol(o, symbol, 0, &sites, &n, &e), 0);
	ret = sites[0].offset;
	free(sites);
	return ret;
}

/* Like the kernel side: the last row at or before the offset. */
static struct cozbpf_unwind_row at(const struct cozbpf_unwind_row *rows, size_t n, uint64_t offset)
{
	struct cozbpf_unwind_row found = {0};

	for (size_t i = 0; i < n && rows[i].lo <= offset; i++)
		found = rows[i];
	return found;
}

static void check_row(struct cozbpf_unwind_row row, int kind, int cfa, int rbp)
{
	CHECK_EQ(row.kind, kind);
	CHECK_EQ(row.cfa, cfa);
	CHECK_EQ(row.slot, rbp);
}

TEST(known_rules)
{
	struct object *o = open_object(build("gcc", "", "unwind.S", "unwind"));
	struct cozbpf_unwind_row *rows;
	bool stop = false;
	struct error e = {0};
	uint64_t f, g, h;
	size_t n;

	f = offset_of(o, "with_rbp");
	g = offset_of(o, "with_rsp");
	h = offset_of(o, "with_other");
	CHECK_EQ(object_unwind_rows(o, 100000, &stop, &rows, &n, &e), 0);
	check_row(at(rows, n, f - 1), COZBPF_UNWIND_NONE, 0, 0);
	check_row(at(rows, n, f), COZBPF_UNWIND_RSP, 8, 0);
	check_row(at(rows, n, f + 1), COZBPF_UNWIND_RSP, 16, -2);
	check_row(at(rows, n, f + 3), COZBPF_UNWIND_RSP, 16, -2);
	check_row(at(rows, n, f + 4), COZBPF_UNWIND_RBP, 16, -2);
	check_row(at(rows, n, f + 5), COZBPF_UNWIND_RBP, 16, -2);
	check_row(at(rows, n, f + 6), COZBPF_UNWIND_RSP, 8, 0);
	check_row(at(rows, n, g + 3), COZBPF_UNWIND_RSP, 8, 0);
	check_row(at(rows, n, g + 4), COZBPF_UNWIND_RSP, 32, 0);
	check_row(at(rows, n, h), COZBPF_UNWIND_RSP, 8, 0);
	check_row(at(rows, n, h + 5), COZBPF_UNWIND_NONE, 0, 0);
	free(rows);
	object_close(o);
}

/* Without section headers the segment of the table for exceptions leads to the rules. */
TEST(no_section_headers)
{
	struct object *whole = open_object(build("gcc", "", "unwind.S", "unwind_whole")), *bare;
	struct cozbpf_unwind_row *rows;
	bool stop = false;
	struct error e = {0};
	uint64_t f = offset_of(whole, "with_rbp");
	size_t n;

	CHECK(run("cp unwind_whole bare && "
		  "printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=bare bs=1 seek=40 conv=notrunc "
		  "2>/dev/null && "
		  "printf '\\0\\0\\0\\0' | dd of=bare bs=1 seek=60 conv=notrunc 2>/dev/null"));
	bare = open_object(DIR "/bare");
	CHECK_EQ(object_unwind_rows(bare, 100000, &stop, &rows, &n, &e), 0);
	check_row(at(rows, n, f + 1), COZBPF_UNWIND_RSP, 16, -2);
	check_row(at(rows, n, f + 4), COZBPF_UNWIND_RBP, 16, -2);
	free(rows);
	object_close(bare);
	object_close(whole);
}

/* One function with 100,000 rows: each instruction is executed once. libdw executes all of those
 * before a row again, which took minutes. */
TEST(one_function_of_many_rows)
{
	struct object *o;
	struct cozbpf_unwind_row *rows;
	bool stop = false;
	struct error e = {0};
	clock_t begin;
	size_t n;

	CHECK(run("{ printf '.globl _start\\n_start: .cfi_startproc\\n' && "
		  "awk 'BEGIN { for (i = 0; i < 100000; i++) "
		  "printf \"nop\\n.cfi_def_cfa_offset %%d\\n\", 16 + 8 * (i %% 2) }' && "
		  "printf 'nop\\n.cfi_endproc\\n'; } >many.S && gcc -nostdlib -o many many.S"));
	o = open_object(DIR "/many");
	begin = clock();
	CHECK_EQ(object_unwind_rows(o, 1000000, &stop, &rows, &n, &e), 0);
	CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 2);
	CHECK(n > 100000);
	free(rows);
	object_close(o);
}

TEST(a_library)
{
	struct object *o;
	struct cozbpf_unwind_row *rows, *few;
	bool stop = false;
	struct error e = {0};
	size_t n, n_few, ruled = 0;

	CHECK(run("cp \"$(ldd /bin/sh | sed -n 's/.*=> \\(.*libc[^ ]*\\) .*/\\1/p')\" libc.copy"));
	o = open_object(DIR "/libc.copy");
	CHECK_EQ(object_unwind_rows(o, 1000000, &stop, &rows, &n, &e), 0);
	CHECK(n > 1000);
	for (size_t i = 0; i < n; i++) {
		CHECK(!i || rows[i].lo > rows[i - 1].lo);
		ruled += rows[i].kind != COZBPF_UNWIND_NONE;
	}
	CHECK(ruled > n / 2);
	CHECK_EQ(object_unwind_rows(o, 100, &stop, &few, &n_few, &e), 0);
	CHECK_EQ(n_few, 100);
	CHECK(!memcmp(few, rows, 99 * sizeof(*few)));
	CHECK_EQ(few[99].kind, COZBPF_UNWIND_NONE); /* what there is no room for has no rule */
	free(few);
	stop = true;
	CHECK_EQ(object_unwind_rows(o, 1000000, &stop, &few, &n_few, &e), -1);
	CHECK_EQ(n_few, 0);
	free(few);
	free(rows);
	object_close(o);
}

#else

TEST(of_x86_64)
{
	printf("its programs are of x86-64; test_unwind_arm64.c has those of arm64\n");
	exit(77);
}

#endif
