/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that a command line names: directories stand for the files in them. */
#ifndef COZBPF_INPUT_FILES_H
#define COZBPF_INPUT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/text/errors.h"

struct input_file {
	char *name;
	bool found;  /* in a directory, where other files may be, too */
	size_t size; /* bytes; 0 where that is not known */
};

struct input_files {
	struct input_file *v;
	size_t n;
};

/*
 * In the order of the @n names, those of a directory by name. Where all together are larger than
 * @many bytes, the largest first: of a run that is there twice the longer copy is met first.
 * Returns 0, or -1 with @e; input_files_deinit() is to be called in both cases.
 */
int input_files_init(struct input_files *f, char **names, size_t n, size_t many, struct error *e);
void input_files_deinit(struct input_files *f);

/* -1 with @e: what was opened as @name may have no end. It is a device other than a terminal and
 * /dev/null. */
int input_check(FILE *in, const char *name, struct error *e);

#endif
