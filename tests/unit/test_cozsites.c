// SPDX-License-Identifier: BSD-3-Clause
/*
 * Places of Coz's own coz.h in programs of several compilers, judged by running them: the sites of
 * a point must be executed as often as the point is visited. At most the first visit of each place
 * may be missing, since no answer is waited for there.
 */
#include "direct.h"

#include "debug_fixture.h"

#include <time.h>

#if defined(__x86_64__)
#include "trace.h"

/* A point, how often it is visited, and how many variables it has (templates have one each). */
struct point {
	enum marker_kind kind;
	const char *name;
	uint32_t visits, places;
};

static const struct point markers_c[] = {
    {MARKER_PROGRESS, "step", 15, 1},
    {MARKER_PROGRESS, "short", 3, 1},
    {MARKER_PROGRESS, "markers.c:25", 3, 1},
    {MARKER_PROGRESS, "markers.c:48", 1, 1},
    {MARKER_PROGRESS, "100% {a|b} $x; # %0 ä", 1, 1},
    {MARKER_PROGRESS, "macro", 1, 1},
    {MARKER_PROGRESS, "of parts", 1, 1},
    {MARKER_BEGIN, "transaction", 6, 1},
    {MARKER_END, "transaction", 6, 1},
};

static const struct point markers_cc[] = {
    {MARKER_PROGRESS, "template", 9, 3},
    {MARKER_PROGRESS, "inline", 6, 1},
    {MARKER_PROGRESS, "lambda", 3, 1},
    {MARKER_PROGRESS, "markers.cc:51", 1, 1},
    {MARKER_BEGIN, "sale", 3, 1},
    {MARKER_END, "sale", 3, 1},
};

static const struct point loops_c[] = {
    {MARKER_PROGRESS, "tight", 40, 1},
    {MARKER_PROGRESS, "sums", 40, 1},
    {MARKER_PROGRESS, "stores", 40, 1},
    {MARKER_PROGRESS, "inner", 40, 1},
    {MARKER_PROGRESS, "unrolled", 20, 1},
    {MARKER_PROGRESS, "sometimes", 8, 1},
    {MARKER_PROGRESS, "else", 8, 1},
    {MARKER_PROGRESS, "calls", 10, 1},
    {MARKER_PROGRESS, "odd", 10, 1},
    {MARKER_PROGRESS, "even", 10, 1},
    {MARKER_PROGRESS, "everywhere", 11, 1},
    {MARKER_PROGRESS, "case", 5, 1},
    {MARKER_PROGRESS, "case one", 10, 1},
    {MARKER_BEGIN, "outer", 10, 1},
    {MARKER_END, "outer", 10, 1},
};

static const struct marker *find_marker(const struct marker *m, size_t n, const struct point *p)
{
	for (size_t i = 0; i < n; i++) {
		const char *slash = strrchr(m[i].name, '/'); /* __FILE__ is an absolute path here */

		if (m[i].kind == p->kind && !strcmp(slash ? slash + 1 : m[i].name, p->name))
			return &m[i];
	}
	return NULL;
}

/* Sites should be jumps, which the kernel emulates. Where points share a test, one of them may need
 * something else. */
static bool is_jump(struct object *o, uint64_t offset)
{
	uint8_t bytes[2] = {0};
	FILE *f = fopen(object_path(o), "r");
	bool ok = f && !fseek(f, (long)offset, SEEK_SET) && fread(bytes, 1, 2, f) == 2;

	if (f)
		fclose(f);
	return ok && ((bytes[0] & 0xfe) == 0x74 || bytes[0] == 0xe9 || bytes[0] == 0xeb ||
			 (bytes[0] == 0x0f && (bytes[1] & 0xfe) == 0x84));
}

/* The sites of all points, and how often each is executed. */
struct counts {
	uint64_t offsets[400];
	uint32_t hits[400];
	size_t n;
};

static void run_counting(
    struct object *o, const char *path, const struct marker *m, size_t n, struct counts *c)
{
	c->n = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0;
		     k < m[i].n_sites && c->n < sizeof(c->offsets) / sizeof(*c->offsets); k++)
			c->offsets[c->n++] = m[i].sites[k].offset;
	CHECK(count_hits(o, path, c->offsets, c->hits, c->n));
}

static uint32_t hits_of(const struct counts *c, const struct marker *m)
{
	uint32_t sum = 0;

	for (size_t k = 0; k < m->n_sites; k++)
		for (size_t i = 0; i < c->n; i++)
			if (c->offsets[i] == m->sites[k].offset) {
				sum += c->hits[i];
				break;
			}
	return sum;
}

/* Number of points that were given up. */
static size_t check_points(
    struct object *o, const char *what, const struct point *points, size_t n_points)
{
	struct marker *m = NULL;
	struct error e = {0};
	struct counts counts;
	size_t n = 0, given_up = 0, slow = 0;

	CHECK_EQ(object_find_coz_sites(o, &m, &n, &e), 0);
	CHECK_EQ(n, n_points);
	if (n != n_points)
		fprintf(stderr, "  %s\n", what);
	run_counting(o, DIR "/coz_own", m, n, &counts);
	for (size_t i = 0; i < n_points; i++) {
		const struct marker *found = find_marker(m, n, &points[i]);
		uint32_t counted = found ? hits_of(&counts, found) : 0;

		for (size_t k = 0; found && k < found->n_sites; k++)
			slow += !is_jump(o, found->sites[k].offset);
		if (found && found->n_lost) {
			given_up++;
			CHECK(counted <= points[i].visits);
			printf("%s: '%s' is given up\n", what, points[i].name);
		} else if (!found || counted > points[i].visits ||
			   counted + points[i].places < points[i].visits) {
			fprintf(stderr, "  %s: '%s' is visited %u times, counted %u times, %s\n",
			    what, points[i].name, points[i].visits, counted,
			    found ? "found" : "not found");
			CHECK(!"visits are counted");
		}
	}
	if (slow)
		printf("%s: %zu sites are not jumps\n", what, slow);
	CHECK(slow <= 4);
	markers_free(m, n);
	return given_up;
}

static size_t check_built(const char *what, const struct point *points, size_t n_points)
{
	struct object *o = NULL;
	struct error e = {0};
	size_t given_up;

	CHECK_EQ(object_open(DIR "/coz_own", "", &o, &e), 0);
	if (!o)
		return 0;
	given_up = check_points(o, what, points, n_points);
	object_close(o);
	return given_up;
}

#define POINTS(v) v, sizeof(v) / sizeof(*(v))

static size_t check_c(const char *compiler, const char *flags, const char *source,
    const struct point *points, size_t n_points)
{
	char what[200];

	snprintf(what, sizeof(what), "%s %s %s", compiler, flags, source);
	CHECK(run("%s %s -Wno-unused-command-line-argument -o coz_own '%s/%s' no_profiler.o",
	    compiler, flags, fixtures, source));
	return check_built(what, points, n_points);
}

static bool have_coz(void)
{
	bool have = !access("/usr/include/coz.h", R_OK);

	CHECK(run("true"));
	/* What the dynamic linker says when there is no profiler; static programs would not even
	 * ask. */
	CHECK(run("printf 'void *dlsym(void *h, const char *n) { return 0; }' | gcc -x c -O0 -c -o "
		  "no_profiler.o -"));
	if (!have)
		printf("no /usr/include/coz.h here: nothing tested\n");
	return have;
}

static const char *const all_flags[] = {"-O0", "-O2", "-O3",
    /* As in shared libraries: variables that others may replace are reached through the global
       offset table. */
    "-O2 -fPIC -Wl,--no-relax",
    /* Not where it has to be brief. */
    "-O1", "-Os", "-O0 -fPIC -Wl,--no-relax", "-O2 -static-pie -fPIE", "-O0 -static-pie -fPIE",
    "-O2 -flto", "-O2 -fcf-protection=full -ffunction-sections"};

static size_t n_flags(void)
{
	if (!have_coz())
		return 0;
	return brief() ? 4 : sizeof(all_flags) / sizeof(*all_flags);
}

/* Without symbols functions are told apart by the table that exceptions need. */
static size_t check_stripped(const char *compiler, const char *flags)
{
	char what[200];

	snprintf(what, sizeof(what), "%s %s, stripped", compiler, flags);
	CHECK(run("strip coz_own"));
	return check_built(what, POINTS(markers_c));
}

TEST(coz_points_in_c)
{
	size_t given_up = 0, n = n_flags();

	for (size_t i = 0; i < n; i++) {
		/* Across files compilers unroll and join more than can be followed. */
		bool joined = strstr(all_flags[i], "-flto");

		given_up += check_c("gcc", all_flags[i], "markers.c", POINTS(markers_c));
		given_up += check_stripped("gcc", all_flags[i]);
		if (have("clang")) {
			given_up += check_c("clang", all_flags[i], "markers.c", POINTS(markers_c));
			given_up += check_stripped("clang", all_flags[i]);
		}
		CHECK(joined || !given_up);
		given_up = 0;
	}
}

TEST(coz_points_in_loops)
{
	size_t n = n_flags();

	for (size_t i = 0; i < n; i++) {
		check_c("gcc", all_flags[i], "loops.c", POINTS(loops_c));
		if (have("clang"))
			check_c("clang", all_flags[i], "loops.c", POINTS(loops_c));
	}
}

/* -funswitch-loops takes tests out of loops: such points have to be given up, and none counted
 * wrongly. */
TEST(coz_points_unswitched)
{
	if (!have_coz())
		return;
	check_c("gcc", "-O3 -funswitch-loops -funroll-all-loops -fpeel-loops", "loops.c",
	    POINTS(loops_c));
	check_c("gcc", "-O3 -march=x86-64-v3 -fno-inline", "loops.c", POINTS(loops_c));
}

static size_t check_cc(const char *compiler, const char *flags)
{
	char what[200];

	snprintf(what, sizeof(what), "%s %s markers.cc", compiler, flags);
	CHECK(run(
	    "%s %s -Wno-unused-command-line-argument -c -DOTHER -o coz_other.o '%s/markers.cc' && "
	    "%s %s -Wno-unused-command-line-argument -o coz_own '%s/markers.cc' coz_other.o "
	    "no_profiler.o",
	    compiler, flags, fixtures, compiler, flags, fixtures));
	return check_built(what, POINTS(markers_cc));
}

TEST(coz_points_in_cxx)
{
	size_t given_up = 0, n = n_flags();

	for (size_t i = 0; i < n; i++) {
		bool joined = strstr(all_flags[i], "-flto");

		given_up += check_cc("g++", all_flags[i]);
		if (have("clang++"))
			given_up += check_cc("clang++", all_flags[i]);
		CHECK(joined || !given_up);
		given_up = 0;
	}
}

/* A search that runs out of work hands out nothing, however far it has come. */
TEST(coz_points_given_up_in_between)
{
	struct object *o = NULL;
	struct error e = {0};
	size_t n = 0, tries = 0;

	if (!have_coz())
		return;
	CHECK(run("gcc -O2 -o coz_own '%s/loops.c' no_profiler.o", fixtures));
	CHECK_EQ(object_open(DIR "/coz_own", "", &o, &e), 0);
	for (uint64_t work = 1; o && !n && tries < 10000; work += work / 100 + 1, tries++) {
		struct marker *m = NULL;

		n = 1;
		if (find_coz_sites(o, work, &m, &n, &e)) {
			CHECK_EQ(e.status, EXIT_NO_RESULT);
			CHECK(strstr(e.cause, "too large"));
			CHECK(!m && !n);
		}
		markers_free(m, n);
	}
	CHECK_EQ(n, sizeof(loops_c) / sizeof(*loops_c));
	CHECK(tries > 100);
	object_close(o);
}

/*
 * A function of 256 KB with nothing but jumps, each to the one before, up to the counting at its
 * start. Each round only one more place learns what is known. A look at every byte in each of
 * 52,000 rounds took 20 s.
 */
TEST(coz_points_of_a_function_that_jumps_backwards)
{
	static const char source[] =
	    ".text\n.globl main\n.type main,@function\nmain: mov counter(%rip),%rax\n.byte "
	    "0xe9\n.4byte .Llast-.-4\n"
	    ".Lfirst: test %rax,%rax\nje 1f\nlock addq $1,(%rax)\n1: ret\n.byte 0xe9\n.4byte "
	    ".Lfirst-.-4\n"
	    ".rept 52380\n.byte 0xe9\n.4byte -10\n.endr\n.set .Llast,.-5\n.size main,.-main\n"
	    ".data\ncounter: .quad 0\n.asciz \"_coz_get_counter\"\n.section "
	    ".note.GNU-stack,\"\",@progbits\n";
	struct object *o = NULL;
	struct marker *m = NULL;
	struct error e = {0};
	clock_t begun;
	size_t n = 0;
	FILE *f;

	CHECK(run("true"));
	f = fopen(DIR "/backwards.s", "w");
	CHECK(f && fputs(source, f) >= 0);
	if (f)
		fclose(f);
	CHECK(run("gcc -o backwards backwards.s"));
	CHECK_EQ(object_open(DIR "/backwards", "", &o, &e), 0);
	begun = clock();
	CHECK_EQ(o ? object_find_coz_sites(o, &m, &n, &e) : -1, 0);
	CHECK(clock() - begun < 5 * CLOCKS_PER_SEC);
	CHECK_EQ(n, 0); /* nobody asks for the counter */
	markers_free(m, n);
	object_close(o);
}
#endif

static void check_none(const char *path)
{
	struct object *o = NULL;
	struct marker *m = NULL;
	struct error e = {0};
	size_t n = 1;

	CHECK_EQ(object_open(path, "", &o, &e), 0);
	CHECK_EQ(object_find_coz_sites(o, &m, &n, &e), 0);
	CHECK_EQ(n, 0);
	markers_free(m, n);
	object_close(o);
}

TEST(no_coz_points)
{
	check_none("/bin/sh");
	CHECK(run("printf '#include <coz.h>\\nint main(void) { COZ_PROGRESS; return 0; }\\n' | gcc "
		  "-x c -I'%s/../../../include' -o ours -",
	    fixtures));
	check_none(DIR "/ours");
	/* Code that looks like such a place and is none. */
	CHECK(run("printf 'extern int puts(const char *); long *ask(int t, const char *n) { return "
		  "puts(n) ? 0 : (long *)n; } static long *c;\\n"
		  "int main(void) { c = ask(1, \"_coz_get_counter\"); if (c) __atomic_add_fetch(c, "
		  "1, 0); return 0; }\\n' | "
		  "gcc -x c -O0 -o alike -"));
	check_none(DIR "/alike");
}
