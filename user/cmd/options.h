/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One option table per subcommand gives the parser, --help, and what check-docs compares with the
 * man page. getopt_long() parses. Where a target's arguments follow, the first operand ends the
 * options; elsewhere operands and options may alternate.
 */
#ifndef COZBPF_OPTIONS_H
#define COZBPF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "core/text/string_list.h"

enum option_type {
	OPTION_FLAG,   /* bool *: set to true */
	OPTION_UNFLAG, /* bool *: set to false */
	OPTION_STRING, /* const char ** : borrowed from argv */
	OPTION_CHOICE, /* const char ** : the same, "all" where no value is given */
	OPTION_LIST,   /* struct string_list *: appended, borrowed from argv */
	OPTION_UINT,   /* uint64_t * : decimal */
	OPTION_TIME, /* uint64_t * : ns, above 0; "500us", "1ms", "5m"; a plain number is seconds */
};

struct option_entry {
	char letter; /* 0: none */
	const char *name;
	enum option_type type;
	size_t field;        /* offset in the options struct */
	const char *metavar; /* NULL for flags */
	const char *help;    /* one sentence, lower case, with the default */
};

struct option_table {
	const char *command;                /* "run" */
	const char *usage;                  /* "cozbpf [run] [options] -- cmd [args...]" */
	const char *summary;                /* what it does, one or two sentences */
	const struct option_entry *entries; /* ends with name == NULL */
	bool takes_command;                 /* operands are a command and its arguments */
	const char *epilogue;               /* printed after the options: examples; NULL: none */
};

/* Parses options into @fields. Returns the index of the first operand, 0 when --help was printed to
 * stdout, or -1 with @e (EXIT_USAGE; an unknown option's hint names the nearest one). `--` and
 * `---` end the options and are skipped. All operands are in @argv from that index on. */
int options_parse(
    const struct option_table *t, int argc, char **argv, void *fields, struct error *e);

/*
 * Appends to *@line (core/text/shell.h) the options by which @fields differ from @defaults, except
 * those named in @without, which ends with NULL. 0 or -ENOMEM.
 */
int options_again(const struct option_table *t, const void *fields, const void *defaults,
    const char *const *without, char **line);

/* "25", "12.5", "25%" -> 0.25. Returns 0, or -1 where @text is no percentage above 0 and up to
 * 100. */
int parse_percent(const char *text, double *ret);

/* "500k", "64M", "1.5G", or bytes: powers of 1024. Returns 0, or -1 where @text is no size above 0.
 */
int parse_size(const char *text, uint64_t *ret_bytes);

/* "1ms" -> ns. Returns 0, or -1 with @e. */
int parse_time(const char *text, uint64_t *ret_ns, struct error *e);

#endif
