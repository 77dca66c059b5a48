// SPDX-License-Identifier: BSD-3-Clause
/* Where instructions begin on arm64, on any machine that has a compiler for it. */
#include "direct.h"

#include "debug_fixture.h"

#define FLAGS "-nostdlib -static"

/* Each has four bytes. Nothing else has to be known of a program, so a stripped one will do. */
TEST(four_bytes_each)
{
	struct probe_site *sites = NULL;
	struct object *o = NULL;
	struct error e = {0};
	uint64_t at;
	size_t n = 0;

	need_arm64();
	CHECK_EQ(object_open(build(ARM64_GCC, FLAGS, "unwind_arm64.S", "arm64"), "", &o, &e), 0);
	CHECK_EQ(object_find_symbol(o, "pair", 0, &sites, &n, &e), 0);
	CHECK_EQ(n, 1);
	at = sites[0].offset;
	free(sites);
	object_close(o);
	CHECK_EQ(
	    object_open(build(ARM64_GCC, FLAGS " -s", "unwind_arm64.S", "bare"), "", &o, &e), 0);
	for (unsigned i = 0; i < 9; i++) {
		e = (struct error){0};
		CHECK_EQ(object_check_site(o, at + i, true, &e), i % 4 ? -1 : 0);
		CHECK(!(i % 4) || strstr(e.cause, "inside an instruction"));
	}
	object_close(o);
}
