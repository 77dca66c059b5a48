// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf lines`: what could be selected in a binary, or why nothing could. */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/lines.h"
#include "cmd/options.h"
#include "run/debuginfod.h"
#include "run/target_file.h"
#include "core/text/paths.h"
#include "core/text/printable.h"
#include "core/profile/profile.h"
#include "symbols/symbols.h"
#include "report/say.h"
#include "symbols/elf/privileges.h"
#include "target/program.h"

/* For a debug file from the network: a download ends with us. */
#define NAMES_S 60

struct lines_options {
	struct string_list sources, binaries;
	const char *pid, *profile, *units;
	bool verbose, points, spins;
};

static const struct option_entry entries[] = {
    {'p', "pid", OPTION_STRING, offsetof(struct lines_options, pid), "PID",
	"the program of this running process, in place of BINARY"},
    {'s', "source-scope", OPTION_LIST, offsetof(struct lines_options, sources), "PATTERN",
	"source files that may be selected, by their whole path with % as wildcard; repeatable "
	"(default: all but system headers)"},
    {'b', "binary-scope", OPTION_LIST, offsetof(struct lines_options, binaries), "PATTERN",
	"binaries that may be selected, by path with % as wildcard; repeatable (default: MAIN, "
	"which is BINARY here)"},
    {0, "granularity", OPTION_STRING, offsetof(struct lines_options, units),
	"line|function|block|auto",
	"what to list: lines, functions, basic blocks, or functions where there is no "
	"debug information (default: auto)"},
    {'v', "verbose", OPTION_FLAG, offsetof(struct lines_options, verbose), NULL,
	"print each line with its number of address ranges, and its samples where a profile is "
	"given"},
    {0, "profile", OPTION_STRING, offsetof(struct lines_options, profile), "FILE",
	"show how often this profile has sampled them, those first; - is standard input"},
    {0, "points", OPTION_FLAG, offsetof(struct lines_options, points), NULL,
	"instead of lines print the markers, USDT probes and functions of BINARY that can be "
	"progress points, as -P takes them"},
    {0, "spins", OPTION_FLAG, offsetof(struct lines_options, spins), NULL,
	"instead of lines print the places where BINARY waits by PAUSE or in an idle loop: "
	"executing these is waiting"},
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "lines",
    .usage = "cozbpf lines [-s PATTERN] [-b PATTERN] [-v] [--granularity UNITS]\n"
	     "                    [--profile FILE | --points | --spins]\n"
	     "                    (-p PID | BINARY)",
    .summary = "Prints the source files of BINARY whose lines could be selected, with the number "
	       "of lines in each. When there are none, says "
	       "why and what to do about it.",
    .entries = entries,
    .epilogue = "examples:\n"
		"  cozbpf lines ./server\n"
		"  cozbpf lines -v -s '%/src/parser.c' ./server\n"
		"  cozbpf lines -v --profile profile.coz ./server\n"
		"  cozbpf lines --points ./server\n"
		"  cozbpf lines --spins /lib/x86_64-linux-gnu/libc.so.6\n",
};

/* A line with the number of its ranges and samples, for printing in order. */
struct listed_line {
	const struct source_line *line;
	size_t n_ranges;
	uint64_t samples, file_samples; /* file_samples: of all lines of the file */
};

/* By file; those with samples come first, and so do lines within a file. */
static int listed_cmp(const void *a, const void *b)
{
	const struct listed_line *x = a, *y = b;
	int ret = strcmp(x->line->file, y->line->file);

	if (x->file_samples != y->file_samples)
		return x->file_samples > y->file_samples ? -1 : 1;
	if (ret)
		return ret;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->line->line < y->line->line ? -1 : x->line->line > y->line->line;
}

/* The number of a unit of this binary's @n; 0: it is none, or there is no memory. */
static uint32_t number_of(struct line_map *map, const char *unit, size_t n)
{
	size_t number = 0, length = path_of_line(unit, &number);
	char *file = length ? strndup(unit, length) : strdup(unit);
	uint32_t id = file ? line_map_line(map, file, (uint32_t)number) : 0;

	free(file);
	return id <= n ? id : 0;
}

/* A function's samples are those of its lines. */
static void add_samples(
    struct line_map *map, const struct profile *p, struct listed_line *lines, size_t n)
{
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct samples_record *s = &p->samples[i];
		uint32_t id = number_of(map, s->location, n);

		if (!id && s->function)
			id = number_of(map, s->function, n);
		if (id)
			lines[id - 1].samples += s->count;
	}
}

static int read_samples(
    struct line_map *map, const char *file, struct listed_line *lines, size_t n, struct error *e)
{
	struct profile p;
	int err;

	profile_init(&p);
	err = input_read(&p, file, e);
	if (!err)
		add_samples(map, &p, lines, n);
	profile_deinit(&p);
	return err;
}

/* Lines with ranges and samples, by id. File names are interned, so pointers are compared. */
static int count_lines(
    struct line_map *map, const char *profile, struct listed_line *lines, size_t n, struct error *e)
{
	size_t first = 0;

	for (size_t i = 0; i < map->n_ranges; i++)
		lines[map->ranges[i].line - 1].n_ranges++;
	if (profile && read_samples(map, profile, lines, n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		lines[i].line = &map->lines[i + 1];
	qsort(lines, n, sizeof(*lines), listed_cmp); /* by file */
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = 0;

		if (i + 1 < n && lines[i + 1].line->file == lines[i].line->file)
			continue;
		for (size_t j = first; j <= i; j++)
			sum += lines[j].samples;
		for (; first <= i; first++)
			lines[first].file_samples = sum;
	}
	qsort(lines, n, sizeof(*lines), listed_cmp);
	return 0;
}

static void print_line(FILE *out, const struct listed_line *l, bool samples)
{
	fputs(l->line->file, out);
	if (l->line->line)
		fprintf(out, ":%u", l->line->line);
	fprintf(out, "\t%zu", l->n_ranges);
	if (samples)
		fprintf(out, "\t%llu", (unsigned long long)l->samples);
	putc('\n', out);
}

static void print_file(FILE *out, const struct listed_line *l, size_t n_lines, bool samples)
{
	if (samples)
		fprintf(out, "%9llu ", (unsigned long long)l->file_samples);
	fprintf(out, "%7zu  %s\n", n_lines, l->line->file);
}

/* Lines or their files, as the user wants; functions. The number of files. */
static size_t print_by_file(
    FILE *out, const struct listed_line *lines, size_t n, const struct lines_options *o)
{
	size_t in_file = 0, files = 0;

	for (size_t i = 0; i < n; i++) {
		in_file++;
		if (o->verbose)
			print_line(out, &lines[i], o->profile);
		if (i + 1 < n && lines[i + 1].line->file == lines[i].line->file)
			continue;
		if (!o->verbose && lines[i].line->line)
			print_file(out, &lines[i], in_file, o->profile);
		else if (!o->verbose)
			fprintf(out, "%s\n", lines[i].line->file);
		files++;
		in_file = 0;
	}
	return files;
}

static int print_units(
    struct line_map *map, const struct scope *scope, const struct lines_options *o, struct error *e)
{
	size_t n = map->n_lines - 1, files;
	struct listed_line *lines = calloc(n, sizeof(*lines));
	FILE *out;

	if (!lines)
		return error_set(e, EXIT_OTHER, "out of memory");
	if (count_lines(map, o->profile, lines, n, e)) {
		free(lines);
		return -1;
	}
	out = say_stdout();
	files = print_by_file(out, lines, n, o);
	free(lines);
	printable_close(out, stdout);
	if (!map->lines[1].line)
		say("%zu %s%s can be selected", n, scope_unit(scope, false), n == 1 ? "" : "s");
	else
		say("%zu line%s in %zu file%s can be selected", n, n == 1 ? "" : "s", files,
		    files == 1 ? "" : "s");
	return 0;
}

static int most_lines_first(const void *a, const void *b)
{
	const struct source_file *x = a, *y = b;

	return x->n_lines > y->n_lines ? -1 : x->n_lines < y->n_lines;
}

/* Appends a formatted "'name'" to a list of names, as long as there is room. */
static void append_name(char *buf, size_t size, const char *name)
{
	size_t len = strlen(buf);

	if (len + strlen(name) + 5 < size)
		snprintf(buf + len, size - len, "%s'%s'", len ? ", " : "", name);
}

/* Debug information is there and names files, but none of them is in scope. */
static int explain_scope(const struct lines_options *o, const char *path,
    const struct source_file *files, size_t n, struct error *e)
{
	char names[600] = "", patterns[300] = "";
	size_t shown = n < 4 ? n : 4;

	for (size_t i = 0; i < shown; i++)
		append_name(names, sizeof(names), files[i].path);
	for (size_t i = 0; i < o->sources.n; i++)
		append_name(patterns, sizeof(patterns), o->sources.items[i]);
	if (!o->sources.n) {
		error_set(e, EXIT_NO_RESULT,
		    "'%s' has no source file but those of the system and the toolchain", path);
		return error_hint(e, "its files are %s%s; use -s '%%' to have them in scope", names,
		    n > shown ? " and others" : "");
	}
	error_set(e, EXIT_NO_RESULT, "no source file of '%s' matches %s", path, patterns);
	return error_hint(e,
	    "a pattern covers the whole path, with %% as wildcard; the files with most lines are "
	    "%s%s",
	    names, n > shown ? " (-s '%' lists all)" : "");
}

/* Sets @e to the reason why nothing is in scope. */
static int explain(struct object *object, const struct scope *scope, const struct lines_options *o,
    struct error *e)
{
	struct source_file *files;
	size_t n;

	if (object_source_files(object, scope, &files, &n, e))
		return -1;
	if (!n) {
		error_set(e, EXIT_NO_RESULT,
		    "the debug information of '%s' names no line with code", object_path(object));
		error_hint(e,
		    "build it with '-g' and do not link it with options that discard line tables");
	} else {
		qsort(files, n, sizeof(*files), most_lines_first);
		explain_scope(o, object_path(object), files, n, e);
	}
	source_files_free(files, n);
	return -1;
}

/* Opens the named binary, or that of the running process. */
static int open_binary(
    const struct lines_options *o, int pid, const char *path, struct object **ret, struct error *e)
{
	if (!o->pid)
		return object_open_at(&(struct object_place){path, path, "", true}, ret, e);
	if (!target_object(pid, path, ret, e) || e->status)
		return e->status ? -1 : 0;
	return error_set(e, EXIT_OTHER, "process %d has no code of '%s' mapped", pid, path);
}

/* Prints what is asked for of the open binary, which is called @name. */
static int list_object(struct object *object, const char *name, const struct scope *scope,
    const struct lines_options *o, struct error *e)
{
	struct line_map map;
	size_t n_lines;
	int ret;

	if (o->points) {
		FILE *out = say_stdout();

		ret = lines_print_points(out, object, e);
		printable_close(out, stdout);
	} else if (line_map_init(&map)) {
		ret = error_set(e, EXIT_OTHER, "out of memory");
	} else if (o->spins) {
		FILE *out = say_stdout();

		ret = lines_print_spins(out, object, scope, &map, e);
		printable_close(out, stdout);
		line_map_deinit(&map);
	} else {
		if (line_map_rename(&map, path_base(object_path(object)), name))
			ret = error_set(e, EXIT_OTHER, "out of memory");
		else if (scope->granularity == GRANULARITY_BLOCK)
			ret = object_add_units(object, scope, &map, &n_lines, e);
		else if (scope_has_lines(scope, object_has_debug_info(object)))
			ret = object_add_lines(object, scope, &map, &n_lines, e);
		else
			ret = object_add_functions(object, &map, &n_lines, e);
		if (!ret)
			ret =
			    n_lines ? print_units(&map, scope, o, e) : explain(object, scope, o, e);
		line_map_deinit(&map);
	}
	return ret;
}

static int list_binary(const char *path, const struct lines_options *o, struct error *e)
{
	struct scope scope = {
	    o->sources.items, o->sources.n, o->binaries.items, o->binaries.n, GRANULARITY_AUTO};
	struct object *object;
	char program[PATH_MAX], name[NAME_MAX + 1];
	int ret, pid = 0;

	if (granularity_parse(o->units, &scope.granularity, e))
		return -1;
	if (!o->pid)
		privileges_drop();
	if (o->pid &&
	    (target_pid(o->pid, &pid, e) || target_program(pid, program, sizeof(program), e)))
		return -1;
	if (o->pid)
		path = program;
	snprintf(name, sizeof(name), "%s", path_base(path));
	if (o->pid)
		program_name(pid, path, name);
	if (!scope_has_binary(&scope, path, true)) {
		error_set(e, EXIT_NO_RESULT, "'%s' is not in the binary scope", path);
		return error_hint(e, "leave out -b, or give a pattern that matches the whole path");
	}
	if (open_binary(o, pid, path, &object, e))
		return -1;
	ret = list_object(object, name, &scope, o, e);
	object_close(object);
	return ret;
}

/* Each of these has a list of its own. */
static int check_lists(const struct lines_options *o, struct error *e)
{
	const char *first = o->points ? "points" : "spins";
	const char *second = o->points && o->spins ? "spins" : "profile";

	if (o->points + o->spins + !!o->profile < 2)
		return 0;
	error_set(e, EXIT_USAGE, "'--%s' and '--%s' exclude each other", first, second);
	return error_hint(e, "leave one out");
}

int cmd_lines(int argc, char **argv)
{
	struct lines_options o = {0};
	struct console console = {0};
	struct debuginfod names;
	struct error e = {0};
	int first = options_parse(&table, argc, argv, &o, &e), ret = first;

	if (first > 0 && argc - first != !o.pid) {
		ret = error_set(&e, EXIT_USAGE,
		    first == argc ? "no binary is named"
		    : o.pid       ? "'--pid' and a binary exclude each other"
				  : "more than one binary is named");
		error_hint(&e, "write cozbpf lines [options] BINARY, or -p PID; "
			       "'cozbpf lines --help' lists the options");
	} else if (first > 0 && check_lists(&o, &e)) {
		ret = -1;
	} else if (first > 0) {
		debuginfod_start(&names, &console, o.verbose, NAMES_S);
		ret = list_binary(o.pid ? NULL : argv[first], &o, &e);
		debuginfod_stop(&names);
	}
	string_list_deinit(&o.sources);
	string_list_deinit(&o.binaries);
	return ret < 0 ? say_error(&e) : EXIT_OK;
}
