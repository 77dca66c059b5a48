// SPDX-License-Identifier: BSD-3-Clause
/* Where code spins, in code that was written for it (fixtures/spins.S), and in the C library. */
#include "debug_fixture.h"

#include "symbols/symbols.h"

#if defined(__x86_64__)

/* Distances of the sites from the first one, in order; ends with -1. */
static void check_sites(const char *file, const int *expected)
{
	struct object *o = NULL;
	struct error e = {0};
	uint64_t *sites = NULL;
	size_t n = 0, i = 0;

	CHECK_EQ(object_open(file, "", &o, &e), 0);
	CHECK_EQ(object_spin_sites(o, 100, &sites, &n, &e), 0);
	for (; expected[i] >= 0 && i < n; i++)
		CHECK_EQ(sites[i] - sites[0], (uint64_t)expected[i]);
	CHECK_EQ(n, i);
	CHECK_EQ(expected[i], -1);
	free(sites);
	object_close(o);
}

/* The bytes of the instruction within another one are none. */
TEST(instructions)
{
	static const int both[] = {0, 16, -1};
	const char *file = build(
	    "gcc", "-nostdlib -static -Wl,--eh-frame-hdr,--build-id=none", "spins.S", "spins");
	struct object *o = NULL;
	struct error e = {0};
	uint64_t *sites;
	size_t n;

	check_sites(file, both);
	CHECK_EQ(object_open(file, "", &o, &e), 0);
	CHECK_EQ(object_spin_sites(o, 1, &sites, &n, &e), 0); /* no more than asked for */
	CHECK_EQ(n, 1);
	free(sites);
	object_close(o);
	/* Without symbols .eh_frame_hdr knows where the first function begins, and decoding goes
	 * on. */
	CHECK(run("strip -s spins"));
	check_sites(DIR "/spins", both);
	/* Without both nothing tells where instructions begin. */
	CHECK(run("objcopy --remove-section .eh_frame_hdr --remove-section .eh_frame spins"));
	check_sites(DIR "/spins", both + 2);
}

/* glibc's locks spin. */
TEST(c_library)
{
	struct object *o = NULL;
	struct error e = {0};
	uint64_t *sites = NULL;
	size_t n = 0;

	CHECK(run("ldd /bin/true | sed -nE 's/.* => (.*libc\\.so\\.6) .*/\\1/p' >libc"));
	FILE *f = fopen(DIR "/libc", "r");
	char path[4096] = "";

	CHECK(f && fscanf(f, "%4095s", path) == 1);
	if (f)
		fclose(f);
	CHECK_EQ(object_open(path, "", &o, &e), 0);
	CHECK_EQ(object_spin_sites(o, 1000, &sites, &n, &e), 0);
	CHECK(n >= 2 && n < 100);
	free(sites);
	object_close(o);
}
#endif
