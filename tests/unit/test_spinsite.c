// SPDX-License-Identifier: BSD-3-Clause
/* Where code spins: in code that was written for it (fixtures/spins.S, idleloops.S), in what
 * compilers make (idleloops.c), and in the C library. */
#include "debug_fixture.h"

#include <cozbpf/abi_spins.h>

#include "symbols/symbols.h"

#if defined(__x86_64__)

static struct spin_site *ask(
    struct object *o, unsigned kinds, const uint64_t *around, size_t max, size_t *n)
{
	const struct spin_question q = {kinds, around, around ? 1 : 0, max};
	struct spin_site *ret = NULL;
	struct error e = {0};

	CHECK_EQ(object_spin_sites(o, &q, &ret, n, &e), 0);
	return ret;
}

/* Distances of the PAUSE instructions from the first one, in order; ends with -1. */
static void check_sites(const char *file, const int *expected)
{
	struct object *o = NULL;
	struct error e = {0};
	struct spin_site *sites;
	size_t n = 0, i = 0;

	CHECK_EQ(object_open(file, "", &o, &e), 0);
	sites = ask(o, COZBPF_SPINS_PAUSE, NULL, 100, &n);
	for (; expected[i] >= 0 && i < n; i++) {
		CHECK_EQ(sites[i].offset - sites[0].offset, (uint64_t)expected[i]);
		CHECK_EQ(sites[i].from, sites[i].offset);
		CHECK_EQ(sites[i].kind, COZBPF_SPINS_PAUSE);
		CHECK_EQ(sites[i].condition, 0);
	}
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
	size_t n;

	check_sites(file, both);
	CHECK_EQ(object_open(file, "", &o, &e), 0);
	free(ask(o, COZBPF_SPINS_PAUSE, NULL, 1, &n)); /* no more than asked for */
	CHECK_EQ(n, 1);
	free(ask(o, COZBPF_SPINS_IDLE, NULL, 100, &n)); /* a loop with PAUSE tells of itself */
	CHECK_EQ(n, 0);
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
	size_t n = 0;

	CHECK(run("ldd /bin/true | sed -nE 's/.* => (.*libc\\.so\\.6) .*/\\1/p' >libc"));
	FILE *f = fopen(DIR "/libc", "r");
	char path[4096] = "";

	CHECK(f && fscanf(f, "%4095s", path) == 1);
	if (f)
		fclose(f);
	CHECK_EQ(object_open(path, "", &o, &e), 0);
	free(ask(o, COZBPF_SPINS_PAUSE, NULL, 1000, &n));
	CHECK(n >= 2 && n < 100);
	/* Of some 10,000 loops hardly any waits. */
	free(ask(o, COZBPF_SPINS_IDLE, NULL, 1000, &n));
	CHECK(n < 20);
	object_close(o);
}

/* A function of a fixture, by its name: idle_N_NAME has N loops, idle_NAME has some, work_NAME
 * none.
 */
struct function {
	char name[64];
	uint64_t offset;
	size_t found;
};

static size_t find_functions(struct object *o, struct function *ret, size_t room)
{
	struct probe_site *sites;
	struct error e = {0};
	char **names = NULL;
	size_t n = 0, n_names = 0, n_sites;

	CHECK_EQ(object_functions(o, &names, &n_names, &e), 0);
	for (size_t i = 0; i < n_names && n < room; i++) {
		CHECK_EQ(object_find_symbol(o, names[i], 0, &sites, &n_sites, &e), 0);
		snprintf(ret[n].name, sizeof(ret[n].name), "%s", names[i]);
		ret[n].found = 0;
		ret[n++].offset = sites[0].offset;
		free(sites);
	}
	functions_free(names, n_names);
	return n;
}

static struct function *function_at(struct function *all, size_t n, uint64_t offset)
{
	struct function *ret = NULL;

	for (size_t i = 0; i < n; i++)
		if (all[i].offset <= offset && (!ret || all[i].offset > ret->offset))
			ret = &all[i];
	return ret;
}

/* The loop is also found around a byte in a piece that it touches, and around no other. */
static void check_around(struct object *o, const struct spin_site *site)
{
	struct spin_site *sites;
	size_t n;

	for (uint64_t at = site->from - 64; at < site->to + 64; at += 13) {
		uint64_t piece = at - at % 64;
		bool found = false, touches = site->from < piece + 64 && site->to > piece;

		sites = ask(o, COZBPF_SPINS_IDLE, &at, 100, &n);
		for (size_t i = 0; i < n; i++)
			found |= !memcmp(&sites[i], site, sizeof(*site));
		free(sites);
		CHECK_EQ(found, touches);
	}
}

/* Returns how many functions have loops that wait. */
static size_t check_functions(const char *file)
{
	struct function functions[256] = {0}, *f;
	struct object *o = NULL;
	struct spin_site *sites;
	struct error e = {0};
	size_t n, n_functions, idle = 0;

	CHECK_EQ(object_open(file, "", &o, &e), 0);
	n_functions = find_functions(o, functions, 256);
	sites = ask(o, COZBPF_SPINS_IDLE, NULL, 1000, &n);
	for (size_t i = 0; i < n; i++) {
		f = function_at(functions, n_functions, sites[i].offset);
		CHECK(f);
		if (f)
			f->found++;
	}
	for (f = functions; f < functions + n_functions; f++) {
		bool is_idle = !strncmp(f->name, "idle_", 5), is_exact = f->name[5] <= '9';
		size_t expected = is_idle && is_exact ? (size_t)(f->name[5] - '0') : f->found;

		if (f->found != expected || !f->found == is_idle) {
			fprintf(stderr, "  %s: %s: %zu loops\n", file, f->name, f->found);
			CHECK(!"the loops of each function are told apart");
		}
		idle += is_idle;
	}
	free(sites);
	object_close(o);
	return idle;
}

static const char *build_idle(void)
{
	static bool is_built;

	if (!is_built)
		build("gcc", "-nostdlib -static -Wl,--build-id=none", "idleloops.S", "idleloops");
	is_built = true;
	return DIR "/idleloops";
}

TEST(idle_loops)
{
	CHECK_EQ(check_functions(build_idle()), 27);
}

/* What compilers make of such loops. Without optimisation clang stores what it has read. */
TEST(compiled_loops)
{
	static const char *const flags[] = {"-O0", "-O2", "-Os",
	    /* Not where it has to be brief. */
	    "-O1", "-O3", "-O2 -m64 -fPIC"};
	size_t n = brief() ? 3 : sizeof(flags) / sizeof(*flags);

	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(check_functions(build("gcc", flags[i], "idleloops.c", "compiled")), 10);
		if (i && have("clang"))
			CHECK_EQ(
			    check_functions(build("clang", flags[i], "idleloops.c", "compiled")),
			    10);
	}
}

TEST(idle_loop_bounds)
{
	static const struct {
		const char *name;
		uint32_t condition;
		unsigned from, to; /* in the function */
	} expected[] = {
	    {"idle_1_load", 0x40, 0, 6},
	    {"idle_1_exchange", 0x40 | COZBPF_BRANCH_NOT, 0, 11},
	    {"idle_1_exchange_same", 0x1 | COZBPF_BRANCH_NOT, 0, 9},
	    {"idle_1_exits", 0, 0, 13},
	    {"idle_1_far", 0x40, 0, 10},
	};
	const char *file = build_idle();
	struct probe_site *at;
	struct spin_site *sites;
	struct object *o = NULL;
	struct error e = {0};
	size_t n, n_at;

	CHECK_EQ(object_open(file, "", &o, &e), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		CHECK_EQ(object_find_symbol(o, expected[i].name, 0, &at, &n_at, &e), 0);
		sites = ask(o, COZBPF_SPINS_IDLE, &at[0].offset, 100, &n);
		CHECK_EQ(n, 1);
		CHECK_EQ(sites[0].from, at[0].offset + expected[i].from);
		CHECK_EQ(sites[0].to, at[0].offset + expected[i].to);
		CHECK(sites[0].offset > sites[0].from && sites[0].offset < sites[0].to);
		CHECK_EQ(sites[0].kind, COZBPF_SPINS_IDLE);
		CHECK_EQ(sites[0].condition, expected[i].condition);
		check_around(o, &sites[0]);
		free(sites);
		free(at);
	}
	object_close(o);
}
#endif
