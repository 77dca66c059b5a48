/* SPDX-License-Identifier: BSD-3-Clause */
/* The command lines of `cozbpf blocks --inputs`. */
#ifndef COZBPF_BLOCKS_INPUTS_H
#define COZBPF_BLOCKS_INPUTS_H

#include "run/options.h"

struct blocks_inputs {
	struct run_command *commands;
	size_t n;
	char ***words; /* of each line; private */
};

/* @file: its name, or - for standard input; @command: what prints the lines instead; the other one
 * is NULL. Words of lines follow those of @argv. -1 with @e. */
int blocks_inputs_read(struct blocks_inputs *in, const char *file, const char *command,
    const char *user, char **argv, struct error *e);
void blocks_inputs_deinit(struct blocks_inputs *in);

#endif
