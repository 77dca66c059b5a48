/* SPDX-License-Identifier: BSD-3-Clause */
/* What the subcommands that read profiles share: several files into one profile. Different builds
 * are never added silently. */
#ifndef COZBPF_INPUTS_H
#define COZBPF_INPUTS_H

#include <stdbool.h>

#include "cmd/options.h"
#include "core/estimate/estimate.h"
#include "core/profile/profile.h"
#include "report/report.h"

struct input_options {
	bool mixed_builds, sum;
	const char *build;          /* first digits of a build id; NULL: any */
	struct string_list sources; /* OLD=NEW */
};

/* Their entries in an option table; @s is the type of the options struct, @f its struct
 * input_options. */
#define INPUT_MIX_ENTRIES(s, f)                                                                   \
	{0, "mixed-builds", OPTION_FLAG, offsetof(struct s, f.mixed_builds), NULL,                \
	    "add experiments of different builds all the same; default: refuse, for a line need " \
	    "not be the same in both"},                                                           \
	{                                                                                         \
		0, "source-prefix", OPTION_LIST, offsetof(struct s, f.sources), "OLD=NEW",        \
		    "read source paths below directory OLD as if they were below NEW; repeatable" \
	}
#define INPUT_ENTRIES(s, f)                                               \
	{0, "build", OPTION_STRING, offsetof(struct s, f.build), "ID",    \
	    "take only the runs of the build whose id begins like this"}, \
	    INPUT_MIX_ENTRIES(s, f)

#define DEFAULT_PROFILE "profile.coz"

/* Reads one profile (- is standard input) and adds it to @p. Returns 0, or -1 with @e. */
int input_read(struct profile *p, const char *name, struct error *e);

/*
 * Reads the @n named profiles, or DEFAULT_PROFILE when @n is 0, into @p. The caller initialises @p
 * and deinitialises it in any case. A run that is there twice counts once. Says on standard error
 * what was skipped, and what a reader has to know about runs of different files. Returns 0, or -1
 * with @e; different builds without the option are EXIT_USAGE. *@ret_files (may be NULL): how many
 * profiles were read.
 */
int inputs_read(struct profile *p, char **names, int n, const struct input_options *o,
    size_t *ret_files, struct error *e);

/* How text for people is printed on this terminal. Sets the locale's character set, and nothing
 * else of the locale. */
struct text_options terminal_options(void);

/* --sort KEY. 0, or -1 with @e (EXIT_USAGE). */
int parse_sort(const char *name, enum sort_key *ret, struct error *e);

#endif
