// SPDX-License-Identifier: BSD-3-Clause
/* The option tables of options.h at work: parsing and --help. Each subcommand's file lists its own
 * options. */
#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/shell.h"
#include "core/text/suggest.h"

#define HELP_COLUMNS 96   /* --help has at most 100 columns */
#define HELP_LABEL_MAX 34 /* the text of a longer label begins on the next line */
/* getopt's value of a long option is this plus its index, which tells letters from names */
#define LONG_BASE 256
/* getopt's value of an operand, where these do not end the options */
#define OPERAND 1

static const char help_name[] = "help";

static size_t count_entries(const struct option_table *t)
{
	size_t n = 0;

	while (t->entries[n].name)
		n++;
	return n;
}

static int has_argument(const struct option_entry *o)
{
	if (o->type == OPTION_CHOICE)
		return optional_argument;
	return o->type == OPTION_FLAG || o->type == OPTION_UNFLAG ? no_argument : required_argument;
}

/* --help */

/* Prints @text from column @at (already reached), wrapped at HELP_COLUMNS with @indent. Newlines in
 * @text are kept. */
static void print_wrapped(const char *text, int at, int indent)
{
	while (*text) {
		int word = (int)strcspn(text, " \n");

		if (at > indent && at + 1 + word > HELP_COLUMNS) {
			printf("\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", word, text);
		at += word;
		text += word;
		if (*text == '\n') {
			printf("\n%*s", indent, "");
			at = indent;
		}
		if (*text)
			text++;
	}
	putchar('\n');
}

static int format_label(const struct option_entry *o, char *buf, size_t size)
{
	char letter[8] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	if (o->type == OPTION_CHOICE)
		return snprintf(buf, size, "  %s--%s[=%s]", letter, o->name, o->metavar);
	return snprintf(buf, size, "  %s--%s%s%s", letter, o->name, o->metavar ? " " : "",
	    o->metavar ? o->metavar : "");
}

static void print_option(const struct option_entry *o, int column)
{
	char label[256];
	int width = format_label(o, label, sizeof(label));

	printf("%s", label);
	if (width + 2 > column)
		printf("\n%*s", column, "");
	else
		printf("%*s", column - width, "");
	print_wrapped(o->help, column, column);
}

static void print_help(const struct option_table *t)
{
	static const struct option_entry help = {
	    'h', help_name, OPTION_FLAG, 0, NULL, "show this text"};
	int column = 0;
	char label[256];

	for (const struct option_entry *o = t->entries; o->name; o++) {
		int width = format_label(o, label, sizeof(label)) + 2;

		if (width <= HELP_LABEL_MAX && width > column)
			column = width;
	}
	if (!column)
		column = HELP_LABEL_MAX;
	printf("usage: %s\n\n", t->usage);
	print_wrapped(t->summary, 0, 0);
	printf("\noptions:\n");
	for (const struct option_entry *o = t->entries; o->name; o++)
		print_option(o, column);
	print_option(&help, column);
	if (t->epilogue)
		printf("\n%s%s", t->epilogue,
		    t->epilogue[0] && t->epilogue[strlen(t->epilogue) - 1] == '\n' ? "" : "\n");
}

/* Values */

int parse_time(const char *text, uint64_t *ret_ns, struct error *e)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"", 1000000000}, {"s", 1000000000},
	    {"m", 60000000000}, {"h", 3600000000000}};
	unsigned __int128 ns = 0, scale = 1;
	const char *s = text;
	bool digits = false;

	/* Digits with an optional fraction become ns = number * scale. The limit keeps both far
	 * from the ends of 128 bits. */
	for (bool fraction = false; isdigit((unsigned char)*s) || (*s == '.' && !fraction); s++) {
		if (*s == '.') {
			fraction = true;
			continue;
		}
		digits = true;
		ns = ns * 10 + (unsigned)(*s - '0');
		if (fraction)
			scale *= 10;
		if (ns > UINT64_MAX || scale > UINT64_MAX)
			goto too_long;
	}
	for (size_t i = 0; digits && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s, units[i].name))
			continue;
		ns = ns * units[i].ns / scale;
		if (ns > INT64_MAX)
			goto too_long;
		*ret_ns = (uint64_t)ns;
		return 0;
	}
	error_set(e, EXIT_USAGE, "'%s' is not a time", text);
	return error_hint(e,
	    "write a number with a unit: 500us, 1ms, 30s, 5m, 1h; without a unit it means seconds");
too_long:
	return error_set(e, EXIT_USAGE, "the time '%s' is out of range", text);
}

/* Digits with an optional fraction. Not by strtod(), whose decimal sign depends on the locale.
 * Returns what follows; NULL: there are none. */
static const char *parse_decimal(const char *s, double *ret)
{
	double value = 0, scale = 1;
	bool digits = false, point = false;

	for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		digits = true;
		value = value * 10 + (*s - '0');
		scale *= point ? 10 : 1;
	}
	*ret = value / scale;
	return digits ? s : NULL;
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kMGT";
	double value, bytes;
	const char *s = parse_decimal(text, &value), *unit = s && *s ? strchr(units, *s) : NULL;

	if (!s || (*s && (!unit || s[1])))
		return -1;
	bytes = value * (double)(unit ? 1ULL << 10 * (unit - units + 1) : 1);
	if (!(bytes >= 1 && bytes < 0x1p62))
		return -1;
	*ret_bytes = (uint64_t)bytes;
	return 0;
}

int parse_percent(const char *text, double *ret)
{
	double value;
	const char *s = parse_decimal(text, &value);

	if (!s || (*s && strcmp(s, "%") != 0) || !(value > 0 && value <= 100))
		return -1;
	*ret = value / 100;
	return 0;
}

static int parse_uint(const char *text, uint64_t *ret)
{
	char *end;

	/* strtoull would accept a sign and leading space. */
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

static int list_append(struct string_list *l, const char *item)
{
	const char **items = realloc(l->items, (l->n + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	l->items = items;
	l->items[l->n++] = item;
	return 0;
}

static int set_field(const struct option_entry *o, const char *value, void *fields, struct error *e)
{
	void *field = (char *)fields + o->field;
	struct error why;

	switch (o->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_UNFLAG:
		*(bool *)field = false;
		return 0;
	case OPTION_STRING:
		*(const char **)field = value;
		return 0;
	case OPTION_CHOICE:
		*(const char **)field = value ? value : "all";
		return 0;
	case OPTION_LIST:
		return list_append(field, value) ? error_set(e, EXIT_OTHER, "out of memory") : 0;
	case OPTION_UINT:
		if (!parse_uint(value, field))
			return 0;
		error_set(
		    e, EXIT_USAGE, "option '--%s' takes a whole number, not '%s'", o->name, value);
		return -1;
	case OPTION_TIME:
		if (!parse_time(value, field, &why)) {
			/* in the fields 0 stands for a time that was not given */
			if (*(uint64_t *)field)
				return 0;
			return error_set(e, EXIT_USAGE, "option '--%s': the time '%s' is too short",
			    o->name, value);
		}
		error_set(e, EXIT_USAGE, "option '--%s': %s", o->name, why.cause);
		if (why.hint[0])
			error_hint(e, "%s", why.hint);
		return -1;
	}
	return error_set(e, EXIT_OTHER, "option '--%s' has an unknown type", o->name);
}

/* Parsing */

static int unknown_option(const struct option_table *t, const char *text, struct error *e)
{
	size_t n = strcspn(text, "="), matches = 0;
	char names[256] = "", word[SUGGEST_NAME];
	struct suggest near;

	/* getopt takes unambiguous prefixes, so several matches mean that the prefix was
	 * ambiguous. */
	for (const struct option_entry *o = t->entries; o->name; o++) {
		if (strncmp(o->name, text, n))
			continue;
		matches++;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s'--%s'",
		    names[0] ? ", " : "", o->name);
	}
	if (n && matches > 1) {
		error_set(e, EXIT_USAGE, "option '--%.*s' is ambiguous", (int)n, text);
		return error_hint(e, "it could be %s", names);
	}
	error_set(e, EXIT_USAGE, "unknown option '--%.*s'", (int)n, text);
	snprintf(word, sizeof(word), "%.*s", (int)n, text);
	suggest_init(&near, word);
	for (const struct option_entry *o = t->entries; o->name; o++)
		suggest_add(&near, o->name);
	suggest_add(&near, help_name);
	if (near.n)
		return error_hint(e, "did you mean '--%s'?", near.best[0].name);
	return error_hint(e, "'cozbpf %s --help' lists the options", t->command);
}

/* What getopt_long() refused. @opt is its answer, '?' or ':'; optopt and optind are as it left
 * them. */
static int refused(const struct option_table *t, char **argv, int opt, struct error *e)
{
	const struct option_entry *o = NULL;

	for (size_t i = 0; t->entries[i].name; i++) {
		if (optopt == (int)(LONG_BASE + i) ||
		    (t->entries[i].letter && optopt == t->entries[i].letter))
			o = &t->entries[i];
	}
	if (opt == ':' && o) {
		error_set(e, EXIT_USAGE, "option '--%s' needs a value", o->name);
		return error_hint(e, "write --%s %s", o->name, o->metavar ? o->metavar : "VALUE");
	}
	if (optopt >= LONG_BASE || optopt == 'h')
		return error_set(
		    e, EXIT_USAGE, "option '--%s' takes no value", o ? o->name : help_name);
	if (!optopt)
		return unknown_option(t, argv[optind - 1] + 2, e);
	error_set(e, EXIT_USAGE, "unknown option '-%c'", optopt);
	return error_hint(e, "'cozbpf %s --help' lists the options", t->command);
}

/* Fills getopt's two spellings of the table. @longs has room for its n entries, help and the end;
 * @shorts for 3 + 2 n bytes. */
static void fill_getopt(const struct option_table *t, size_t n, struct option *longs, char *shorts)
{
	/* '+': the first operand ends the options. '-': operands are told one by one. ':' tells a
	 * missing value from an unknown option. */
	shorts += sprintf(shorts, t->takes_command ? "+:h" : "-:h");
	for (size_t i = 0; i < n; i++) {
		const struct option_entry *o = &t->entries[i];

		longs[i].name = o->name;
		longs[i].has_arg = has_argument(o);
		longs[i].val = (int)(LONG_BASE + i);
		if (o->letter)
			shorts += sprintf(shorts, "%c%s", o->letter,
			    has_argument(o) == required_argument ? ":" : "");
	}
	longs[n].name = help_name;
	longs[n].val = 'h';
}

static const struct option_entry *entry_of(const struct option_table *t, int opt)
{
	if (opt >= LONG_BASE)
		return &t->entries[opt - LONG_BASE];
	for (const struct option_entry *o = t->entries; o->name; o++) {
		if (o->letter && o->letter == opt)
			return o;
	}
	return NULL;
}

/* The operands that stood between options, from argv[1] on, go to where the others follow. Returns
 * the index of the first one. */
static int gather(char **argv, int operands, int end)
{
	memmove(argv + end - operands, argv + 1, (size_t)operands * sizeof(*argv));
	return end - operands;
}

int options_parse(
    const struct option_table *t, int argc, char **argv, void *fields, struct error *e)
{
	size_t n = count_entries(t);
	struct option *longs = calloc(n + 2, sizeof(*longs));
	char *shorts = calloc(n + 2, 2);
	int ret = -1, operands = 0;

	if (!longs || !shorts) {
		error_set(e, EXIT_OTHER, "out of memory");
		goto out;
	}
	fill_getopt(t, n, longs, shorts);
	opterr = 0;
	optind = 0; /* glibc: start afresh, whatever was parsed before */
	for (;;) {
		int next = optind ? optind : 1, opt;

		/* Coz's end of the options; getopt would take it as a long option named '-'. */
		if (next < argc && !strcmp(argv[next], "---")) {
			ret = gather(argv, operands, next + 1);
			break;
		}
		opt = getopt_long(argc, argv, shorts, longs, NULL);
		if (opt == -1) {
			ret = gather(argv, operands, optind);
			break;
		}
		if (opt == OPERAND) {
			argv[1 + operands++] = optarg;
			continue;
		}
		if (opt == '?' || opt == ':') {
			refused(t, argv, opt, e);
			break;
		}
		if (opt == 'h') {
			print_help(t);
			ret = 0;
			break;
		}
		if (set_field(entry_of(t, opt), optarg, fields, e))
			break;
	}
out:
	free(longs);
	free(shorts);
	return ret;
}

/* The same options again */

static int add_option(const struct option_entry *o, const char *value, char **line)
{
	char name[64];

	if (o->letter)
		snprintf(name, sizeof(name), "-%c", o->letter);
	else
		snprintf(name, sizeof(name), "--%s", o->name);
	return shell_append(line, name) || (value && shell_append(line, value)) ? -ENOMEM : 0;
}

/* A value that may be left out is joined to the name. */
static int add_choice(const struct option_entry *o, const char *value, char **line)
{
	char text[128];

	snprintf(text, sizeof(text), "--%s=%s", o->name, value);
	return shell_append(line, text);
}

static int add_number(
    const struct option_entry *o, const uint64_t *value, const uint64_t *usual, char **line)
{
	char text[32];

	if (*value == *usual)
		return 0;
	snprintf(text, sizeof(text), "%llu%s", (unsigned long long)*value,
	    o->type == OPTION_TIME ? "ns" : "");
	return add_option(o, text, line);
}

static int add_again(
    const struct option_entry *o, const void *field, const void *usual, char **line)
{
	const struct string_list *list = field;
	const char *text;

	switch (o->type) {
	case OPTION_UNFLAG:
		return 0;
	case OPTION_FLAG:
		return *(const bool *)field && !*(const bool *)usual ? add_option(o, NULL, line)
								     : 0;
	case OPTION_CHOICE:
		return *(const char *const *)field
			   ? add_choice(o, *(const char *const *)field, line)
			   : 0;
	case OPTION_STRING:
		text = *(const char *const *)field;
		return text && text != *(const char *const *)usual ? add_option(o, text, line) : 0;
	case OPTION_LIST:
		for (size_t i = 0; i < list->n; i++)
			if (add_option(o, list->items[i], line))
				return -ENOMEM;
		return 0;
	case OPTION_UINT:
	case OPTION_TIME:
		return add_number(o, field, usual, line);
	}
	return 0;
}

int options_again(const struct option_table *t, const void *fields, const void *defaults,
    const char *const *without, char **line)
{
	for (const struct option_entry *o = t->entries; o->name; o++) {
		bool is_left_out = false;

		for (const char *const *w = without; *w; w++)
			is_left_out |= !strcmp(o->name, *w);
		if (!is_left_out && add_again(o, (const char *)fields + o->field,
					(const char *)defaults + o->field, line))
			return -ENOMEM;
	}
	return 0;
}
