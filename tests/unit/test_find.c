// SPDX-License-Identifier: BSD-3-Clause
/* Where a probe goes: sites of lines and of symbols, and what is said when there are none or too
 * many. */
#include "debug_fixture.h"

static void check_find_line(const char *compiler, const char *flags)
{
	struct object *o = NULL;
	struct probe_site *sites = NULL, *entry = NULL;
	struct error e = {0};
	size_t n, n_entry;

	CHECK_EQ(object_open(build(compiler, flags, "lines.c", "lines_find"), "", &o, &e), 0);
	CHECK_EQ(count_sites(o, "lines.c", 9), 1); /* the three runs of a `for` are one site */
	CHECK_EQ(count_sites(o, "lines.c", 10), 1);
	CHECK_EQ(count_sites(o, "lines.c", 37), 1);
	CHECK_EQ(object_find_line(o, "fixtures/lines.c", 17, &sites, &n, &e), 0);
	CHECK_EQ(n, 2); /* inlined twice */
	CHECK(n == 2 && strcmp(sites[0].function, sites[1].function));
	CHECK(!strcmp(sites[0].function, "first") || !strcmp(sites[0].function, "second"));
	free(sites);
	/* The opening line of a function begins at its first instruction. */
	CHECK_EQ(object_find_line(o, "lines.c", 7, &sites, &n, &e), 0);
	CHECK_EQ(object_find_symbol(o, "work", 0, &entry, &n_entry, &e), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(n_entry, 1);
	CHECK_EQ(sites[0].offset, entry[0].offset);
	free(sites);
	free(entry);
	object_close(o);
}

TEST(find_line)
{
	static const char *const flags[] = {"-g -O0", "-g -O2", "-gdwarf-4 -O2",
	    /* Not where it has to be brief. */
	    "-g -O1", "-g -O3"};
	size_t n = brief() ? 3 : sizeof(flags) / sizeof(*flags);

	for (size_t i = 0; i < n; i++) {
		check_find_line("gcc", flags[i]);
		if (have("clang"))
			check_find_line("clang", flags[i]);
	}
}

TEST(find_line_in_templates)
{
	struct object *o = NULL;
	struct error e;

	CHECK_EQ(object_open(build("g++", "-g -O2", "inlined.cc", "inlined_find"), "", &o, &e), 0);
	CHECK_EQ(count_sites(o, "inlined.cc", 8), 2); /* twice<int> and twice<double> */
	CHECK_EQ(count_sites(o, "inlined.cc", 40), 1);
	object_close(o);
}

TEST(find_line_fails)
{
	struct object *o = NULL;
	struct probe_site *sites;
	struct error e;
	size_t n;

	CHECK_EQ(object_open(build("gcc", "-g -O0", "lines.c", "lines_fail"), "", &o, &e), 0);
	CHECK_EQ(object_find_line(o, "lines.c", 11, &sites, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "10 and 12"));
	CHECK_EQ(object_find_line(o, "lines.c", 9999, &sites, &n, &e), -1);
	CHECK(strstr(e.hint, "is 38"));
	CHECK_EQ(object_find_line(o, "line.c", 9, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "no source file 'line.c'"));
	CHECK(strstr(e.hint, "did you mean 'lines.c'"));
	object_close(o);
}

/* Two files of one name: a suffix that fits both is ambiguous only for a line that both have. */
TEST(find_line_ambiguous)
{
	struct object *o = NULL;
	struct probe_site *sites;
	struct error e;
	size_t n;

	CHECK(
	    run("mkdir -p one two && printf 'int f(void)\\n{\\n\\treturn 1;\\n}\\n' >one/same.c && "
		"printf 'int f(void);\\nint main(void)\\n{\\n\\treturn f();\\n}\\nint g(void) { "
		"return 2; }\\n' >two/same.c && "
		"gcc -g -O0 -o ambiguous one/same.c two/same.c"));
	CHECK_EQ(object_open(DIR "/ambiguous", "", &o, &e), 0);
	CHECK_EQ(object_find_line(o, "same.c", 4, &sites, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "one/same.c:4") && strstr(e.hint, "two/same.c:4"));
	CHECK_EQ(count_sites(o, "one/same.c", 4), 1);
	CHECK_EQ(count_sites(o, "same.c", 6), 1);
	object_close(o);
}

static void check_symbol(struct object *o, const char *symbol, size_t want, const char *function)
{
	struct probe_site *sites;
	struct error e = {0};
	size_t n = 0;

	CHECK_EQ(object_find_symbol(o, symbol, 0, &sites, &n, &e), 0);
	if (*e.cause) {
		fprintf(stderr, "  %s (%s)\n", e.cause, e.hint);
		return;
	}
	CHECK_EQ(n, want);
	CHECK_STR(sites[0].function, function);
	free(sites);
}

TEST(find_symbol)
{
	struct object *o = NULL;
	struct probe_site *sites, *later;
	struct error e;
	size_t n;

	CHECK_EQ(
	    object_open(build("g++", "-g -O2", "inlined.cc", "inlined_symbol"), "", &o, &e), 0);
	check_symbol(o, "main", 1, "main");
	check_symbol(o, "_ZN4shop4till3addEi", 1, "shop::till::add(int)");
	check_symbol(o, "shop::till::add(double)", 1, "shop::till::add(double)");
	check_symbol(o, "shop::till::only", 1, "shop::till::only(int) const");
	check_symbol(o, "shop::till::only(int) const", 1, "shop::till::only(int) const");
	check_symbol(o, "shop::(anonymous namespace)::hidden", 1,
	    "shop::(anonymous namespace)::hidden(int)");
	check_symbol(o, "twice<int>", 1, "int twice<int>(int)");
	check_symbol(o, "fill", 1, "fill(std::vector<int, std::allocator<int> >&, int)");
	CHECK_EQ(object_find_symbol(o, "shop::till::add", 0, &sites, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "'shop::till::add(int)'") &&
	      strstr(e.hint, "'shop::till::add(double)'"));
	CHECK_EQ(object_find_symbol(o, "twice", 0, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "more than one function"));
	CHECK_EQ(object_find_symbol(o, "shop::till::onyl", 0, &sites, &n, &e), -1);
	CHECK(strstr(e.hint, "'shop::till::only'"));
	CHECK_EQ(object_find_symbol(o, "main", 0, &sites, &n, &e), 0);
	CHECK_EQ(object_find_symbol(o, "main", 4, &later, &n, &e), 0);
	CHECK_EQ(later[0].offset, sites[0].offset + 4);
	free(later);
	free(sites);
	CHECK_EQ(object_find_symbol(o, "main", 1 << 20, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "beyond the end"));
	CHECK_EQ(object_find_symbol(o, "stdout", 0, &sites, &n, &e), -1); /* data */
	object_close(o);
}

TEST(find_address)
{
	struct object *o = NULL;
	struct probe_site *sites, *main_sites;
	struct error e;
	char text[32] = "";
	FILE *nm;
	size_t n;

	CHECK_EQ(object_open(build("gcc", "-O2", "functions.c", "addresses"), "", &o, &e), 0);
	nm = popen("nm " DIR "/addresses | sed -n 's/ T main$//p'", "r");
	CHECK(fgets(text, sizeof(text), nm));
	pclose(nm);
	CHECK_EQ(object_find_symbol(o, "main", 0, &main_sites, &n, &e), 0);
	CHECK_EQ(object_find_symbol(o, "", strtoull(text, NULL, 16), &sites, &n, &e), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(sites[0].offset, main_sites[0].offset);
	CHECK(!strncmp(sites[0].function, "addresses+0x", 12));
	free(sites);
	free(main_sites);
	CHECK_EQ(object_find_symbol(o, "", 1, &sites, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.cause, "no code at 0x1 in"));
	CHECK_EQ(object_find_symbol(o, "", UINT64_MAX, &sites, &n, &e), -1);
	object_close(o);
}

TEST(find_symbol_clones)
{
	struct object *o = NULL;
	struct error e;

	CHECK(run("printf '%%s' 'int f(int) __asm__(\"f\"); int f(int x) { return x; }"
		  "int g(int) __asm__(\"f.constprop.0\"); int g(int x) { return x + 1; }"
		  "int h(int) __asm__(\"f.cold\"); int h(int x) { return x + 2; }"
		  "int k(int) __asm__(\"f.other\"); int k(int x) { return x + 3; }"
		  "int main(void) { return f(1) + g(1) + h(1) + k(1); }' >clones.c && gcc -g -O0 "
		  "-o clones clones.c"));
	CHECK_EQ(object_open(DIR "/clones", "", &o, &e), 0);
	check_symbol(o, "f", 2, "f");
	check_symbol(o, "f.constprop.0", 1, "f");
	check_symbol(o, "f.other", 1, "f.other");
	object_close(o);
}
