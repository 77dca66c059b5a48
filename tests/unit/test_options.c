// SPDX-License-Identifier: BSD-3-Clause
/* The option tables: parsing, both ends of the options, messages and the text of --help. */
#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "cmd/options.h"

struct fields {
	const char *output;
	const char *waits;
	struct string_list points;
	uint64_t runs, duration;
	bool verbose, follow;
};

static const struct option_entry entries[] = {
    {'P', "progress", OPTION_LIST, offsetof(struct fields, points), "[NAME=]SPEC",
	"progress point; repeatable"},
    {'o', "output", OPTION_STRING, offsetof(struct fields, output), "FILE",
	"write the profile to FILE (default profile.coz)"},
    {'n', "runs", OPTION_UINT, offsetof(struct fields, runs), "N", "run the command N times"},
    {'d', "duration", OPTION_TIME, offsetof(struct fields, duration), "TIME",
	"stop profiling after TIME, which is a sentence of some length so that it has to be "
	"wrapped somewhere"},
    {0, "follow-children", OPTION_FLAG, offsetof(struct fields, follow), NULL,
	"forked children are target too (default)"},
    {0, "no-follow-children", OPTION_UNFLAG, offsetof(struct fields, follow), NULL, "they are not"},
    {0, "a-name-that-leaves-no-room", OPTION_STRING, offsetof(struct fields, output),
	"METAVARIABLE", "text on its own line"},
    {'v', "verbose", OPTION_FLAG, offsetof(struct fields, verbose), NULL, "say more"},
    {0, "off-cpu", OPTION_CHOICE, offsetof(struct fields, waits), "CLASSES", "waits, too"},
    {0, NULL, 0, 0, NULL, NULL},
};
static const struct option_table table = {.command = "run",
    .usage = "cozbpf [run] [options] -- cmd [args...]",
    .summary = "Runs a command.",
    .entries = entries,
    .takes_command = true,
    .epilogue = "example"};

/* Parses the arguments after argv[0], which are separated by blanks. */
static int parse(const char *line, struct fields *f, struct error *e)
{
	static char buf[512];
	char *argv[32] = {"run"};
	int argc = 1;

	memset(f, 0, sizeof(*f));
	memset(e, 0, sizeof(*e));
	f->follow = true;
	snprintf(buf, sizeof(buf), "%s", line);
	for (char *w = strtok(buf, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	return options_parse(&table, argc, argv, f, e);
}

TEST(values_of_all_types)
{
	struct fields f;
	struct error e;

	CHECK_EQ(
	    parse("-P a -o x --progress=b -n 3 --duration 1ms -v --no-follow-children cmd -n 9", &f,
		&e),
	    12);
	CHECK_EQ(f.points.n, 2);
	CHECK_STR(f.points.items[0], "a");
	CHECK_STR(f.points.items[1], "b");
	CHECK_STR(f.output, "x");
	CHECK_EQ(f.runs, 3);
	CHECK_EQ(f.duration, 1000000);
	CHECK(f.verbose && !f.follow);
	string_list_deinit(&f.points);
	CHECK(!f.points.items);
}

/* A value that may be left out is joined by '='; what follows is the next word. */
TEST(a_value_that_may_be_left_out)
{
	struct fields f, defaults;
	struct error e;
	char *line = NULL;

	parse("", &defaults, &e);
	CHECK(!defaults.waits);
	CHECK_EQ(parse("--off-cpu io", &f, &e), 2);
	CHECK_STR(f.waits, "all");
	CHECK_EQ(parse("--off-cpu=io,net cmd", &f, &e), 2);
	CHECK_STR(f.waits, "io,net");
	CHECK_EQ(options_again(&table, &f, &defaults, (const char *const[]){NULL}, &line), 0);
	CHECK_STR(line, "--off-cpu=io,net");
	free(line);
}

TEST(ends_of_the_options)
{
	struct fields f;
	struct error e;

	CHECK_EQ(parse("", &f, &e), 1);
	CHECK_EQ(parse("-v -- cmd -v", &f, &e), 3);
	CHECK_EQ(parse("-v --- cmd -v", &f, &e), 3);
	CHECK_EQ(parse("---", &f, &e), 2);
	CHECK_EQ(parse("--- -- cmd", &f, &e), 2);
	CHECK_EQ(parse("-- --- cmd", &f, &e), 2);
	CHECK_EQ(parse("cmd --- -v", &f, &e), 1);
	CHECK(!f.verbose);
	/* As a value it ends nothing. */
	CHECK_EQ(parse("-o --- -v cmd", &f, &e), 4);
	CHECK_STR(f.output, "---");
	CHECK(f.verbose);
	CHECK_EQ(parse("-vo--- cmd", &f, &e), 2);
	CHECK_EQ(parse("- x", &f, &e), 1);
}

/* Without a command, options may follow operands, and all operands come last. */
TEST(operands_between_options)
{
	struct option_table files = table;
	char *argv[] = {"report", "a", "-v", "b", "-o", "x", "-n7", "--", "-c", NULL};
	char *again[] = {"report", "a", "-v", "---", "-b", NULL};
	struct fields f = {0};
	struct error e = {0};

	files.takes_command = false;
	CHECK_EQ(options_parse(&files, 9, argv, &f, &e), 6);
	CHECK(f.verbose);
	CHECK_STR(f.output, "x");
	CHECK_EQ(f.runs, 7);
	CHECK_STR(argv[6], "a");
	CHECK_STR(argv[7], "b");
	CHECK_STR(argv[8], "-c");
	CHECK_EQ(options_parse(&files, 5, again, &f, &e), 3);
	CHECK_STR(again[3], "a");
	CHECK_STR(again[4], "-b");
}

TEST(prefixes_and_clusters)
{
	struct fields f;
	struct error e;

	CHECK_EQ(parse("--verb --run=4", &f, &e), 3);
	CHECK(f.verbose);
	CHECK_EQ(f.runs, 4);
	CHECK_EQ(parse("-vn7", &f, &e), 2);
	CHECK_EQ(f.runs, 7);
}

static void check_refused(const char *line, const char *cause, const char *hint)
{
	struct fields f;
	struct error e;

	CHECK_EQ(parse(line, &f, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK_STR(e.cause, cause);
	if (hint)
		CHECK_STR(e.hint, hint);
	string_list_deinit(&f.points);
}

TEST(refusals)
{
	check_refused("--progres-point x", "unknown option '--progres-point'",
	    "'cozbpf run --help' lists the options");
	check_refused("--outptu x", "unknown option '--outptu'", "did you mean '--output'?");
	check_refused("--ouptut=x", "unknown option '--ouptut'", "did you mean '--output'?");
	check_refused("--hepl", "unknown option '--hepl'", "did you mean '--help'?");
	check_refused("-x", "unknown option '-x'", "'cozbpf run --help' lists the options");
	check_refused("-vx", "unknown option '-x'", NULL);
	check_refused("-o", "option '--output' needs a value", "write --output FILE");
	check_refused("--runs", "option '--runs' needs a value", "write --runs N");
	check_refused("--verbose=1", "option '--verbose' takes no value", "");
	check_refused("--help=1", "option '--help' takes no value", "");
	check_refused("-n -3", "option '--runs' takes a whole number, not '-3'", "");
	check_refused("-n 3x", "option '--runs' takes a whole number, not '3x'", "");
	check_refused("-n 18446744073709551616",
	    "option '--runs' takes a whole number, not '18446744073709551616'", "");
	check_refused("-d soon", "option '--duration': 'soon' is not a time",
	    "write a number with a unit: 500us, 1ms, 30s, 5m, 1h; without a unit it means seconds");
	check_refused("-d 0", "option '--duration': the time '0' is too short", "");
	check_refused("-d 0.1ns", "option '--duration': the time '0.1ns' is too short", "");
	check_refused("-P a -P b --nope", "unknown option '--nope'", NULL);
	check_refused("--=x", "unknown option '--'", NULL);
}

TEST(ambiguous_prefix)
{
	static const struct option_entry two[] = {{0, "text", OPTION_FLAG, 0, NULL, "text"},
	    {0, "term", OPTION_FLAG, 1, NULL, "terminal"}, {0, NULL, 0, 0, NULL, NULL}};
	static const struct option_table t = {
	    "report", "cozbpf report", "Reports.", two, false, NULL};
	char *argv[] = {"report", "--te", NULL};
	bool flags[2] = {0};
	struct error e = {0};

	CHECK_EQ(options_parse(&t, 2, argv, flags, &e), -1);
	CHECK_STR(e.cause, "option '--te' is ambiguous");
	CHECK_STR(e.hint, "it could be '--text', '--term'");
}

TEST(times)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {{"500us", 500000}, {"1ms", 1000000}, {"30s", 30000000000}, {"5m", 300000000000},
	    {"1h", 3600000000000}, {"2", 2000000000}, {"1.5ms", 1500000}, {"0", 0},
	    {".5", 500000000}, {"7ns", 7}, {"0.25us", 250}};
	static const char *const bad[] = {"", "s", ".", "-1s", "1 s", "1x", "1.2.3s",
	    "9223372036854775807s", "99999999999999999999ns", "1e3", "0x10"};
	uint64_t ns;
	struct error e;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ns = 1;
		CHECK_EQ(parse_time(good[i].text, &ns, &e), 0);
		CHECK_EQ(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ns = 1;
		CHECK_EQ(parse_time(bad[i], &ns, &e), -1);
		CHECK_EQ(e.status, EXIT_USAGE);
		CHECK_EQ(ns, 1);
	}
	CHECK_EQ(parse_time("x", &ns, NULL), -1);
}

TEST(sizes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"1", 1}, {"500k", 512000}, {"64M", 67108864}, {"1.5G", 1610612736},
	    {"2T", 2199023255552}, {".5M", 524288}};
	static const char *const bad[] = {"", "M", "0", "-1M", "1 M", "1MB", "1K", "0.1", "1.2.3M",
	    "99999999999T", "1e3", "0x10"};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_EQ(parse_size(good[i].text, &bytes), 0);
		CHECK_EQ(bytes, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(parse_size(bad[i], &bytes), -1);
}

TEST(help)
{
	static const char want[] =
	    "usage: cozbpf [run] [options] -- cmd [args...]\n"
	    "\n"
	    "Runs a command.\n"
	    "\n"
	    "options:\n"
	    "  -P, --progress [NAME=]SPEC  progress point; repeatable\n"
	    "  -o, --output FILE           write the profile to FILE (default profile.coz)\n"
	    "  -n, --runs N                run the command N times\n"
	    "  -d, --duration TIME         stop profiling after TIME, which is a sentence of some "
	    "length so\n"
	    "                              that it has to be wrapped somewhere\n"
	    "      --follow-children       forked children are target too (default)\n"
	    "      --no-follow-children    they are not\n"
	    "      --a-name-that-leaves-no-room METAVARIABLE\n"
	    "                              text on its own line\n"
	    "  -v, --verbose               say more\n"
	    "      --off-cpu[=CLASSES]     waits, too\n"
	    "  -h, --help                  show this text\n"
	    "\n"
	    "example\n";
	char got[4096] = "";
	struct fields f;
	struct error e;
	FILE *file = tmpfile();
	int saved = dup(1);

	fflush(stdout);
	dup2(fileno(file), 1);
	CHECK_EQ(parse("-v --help cmd", &f, &e), 0);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	rewind(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = 0;
	fclose(file);
	CHECK_STR(got, want);
}

/* A command line that means the same, without what it is not to have. */
TEST(the_same_options_again)
{
	static const char *const without[] = {"a-name-that-leaves-no-room", "runs", NULL};
	struct fields f, defaults, again;
	struct error e;
	char *line = NULL;

	parse("", &defaults, &e);
	CHECK(parse("-P a -v --no-follow-children --progress=b|c -d 1500ms -n 7 -o x.coz", &f, &e));
	CHECK_EQ(options_again(&table, &f, &defaults, without, &line), 0);
	CHECK_STR(line, "-P a -P 'b|c' -o x.coz -d 1500000000ns -v");
	string_list_deinit(&f.points);
	free(line);
	line = NULL;
	parse("-P a -n 7 -d 2h --a-name-that-leaves-no-room y", &f, &e);
	CHECK_EQ(options_again(&table, &f, &defaults, without + 2, &line), 0);
	parse(line, &again, &e);
	CHECK_EQ(again.runs, 7);
	CHECK_EQ(again.duration, f.duration);
	CHECK(again.points.n == 1 && !strcmp(again.output, "y"));
	string_list_deinit(&f.points);
	string_list_deinit(&again.points);
	free(line);
	line = NULL;
	parse("", &f, &e); /* nothing was given */
	CHECK_EQ(options_again(&table, &f, &defaults, without, &line), 0);
	CHECK(!line);
}
