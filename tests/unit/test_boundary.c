// SPDX-License-Identifier: BSD-3-Clause
/* Where instructions begin, in code that was written for it (fixtures/boundary.S). */
#include "direct.h"

#include "debug_fixture.h"

#if defined(__x86_64__)

static uint64_t offset_of(struct object *o, const char *symbol)
{
	struct probe_site *sites = NULL;
	struct error e = {0};
	uint64_t ret = 0;
	size_t n = 0;

	CHECK_EQ(object_find_symbol(o, symbol, 0, &sites, &n, &e), 0);
	if (n)
		ret = sites[0].offset;
	free(sites);
	return ret;
}

static const char flags[] = "-nostdlib -static -Wl,--eh-frame-hdr";

TEST(instructions)
{
	static const unsigned begins = 1U << 0 | 1U << 1 | 1U << 2 | 1U << 5 | 1U << 15 | 1U << 16;
	struct object *o = NULL;
	struct error e = {0};
	uint64_t listed, start;

	CHECK_EQ(object_open(build("gcc", flags, "boundary.S", "boundary"), "", &o, &e), 0);
	listed = offset_of(o, "listed");
	for (unsigned i = 0; i < 17; i++) {
		e = (struct error){0};
		CHECK_EQ(object_check_site(o, listed + i, true, &e), begins >> i & 1 ? 0 : -1);
		CHECK(begins >> i & 1 || strstr(e.cause, "inside an instruction"));
	}
	start = offset_of(o, "_start");
	CHECK_EQ(object_check_site(o, start, true, &e), 0);
	CHECK_EQ(object_check_site(o, start + 1, true, &e), -1);
	CHECK(strstr(e.cause, "cannot be told"));
	CHECK_EQ(object_check_site(o, start + 1, false, &e), 0);
	CHECK_EQ(object_check_site(o, 1, false, &e), -1);
	CHECK(strstr(e.cause, "is no code"));
	object_close(o);
}

/* A debug file that names a place inside an instruction is not believed. */
TEST(debug_file_that_lies)
{
	struct object *o = NULL;
	struct error e = {0};

	build("gcc", flags, "boundary.S", "boundary");
	CHECK(run("objcopy --add-symbol lie=.text:3,function,global boundary liar && "
		  "objcopy --only-keep-debug liar liar.debug && strip -s boundary && "
		  "objcopy --add-gnu-debuglink=liar.debug boundary"));
	CHECK_EQ(object_open(DIR "/boundary", "", &o, &e), 0);
	CHECK_EQ(object_check_site(o, offset_of(o, "lie"), false, &e), -1);
	CHECK(strstr(e.cause, "inside an instruction"));
	CHECK_EQ(object_check_site(o, offset_of(o, "listed"), true, &e), 0);
	object_close(o);
}
#endif
