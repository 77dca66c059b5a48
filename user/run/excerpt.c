// SPDX-License-Identifier: BSD-3-Clause
/* The source around one line; see excerpt.h. */
#include "run/excerpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/paths.h"
#include "symbols/elf/openfile.h"

#define AROUND 40   /* lines before and after the one looked at */
#define COLUMNS 400 /* of a line that are kept */
#define SIZE ((2 * AROUND + 1) * (COLUMNS + 1))

/* A source file as we see it, else as the process does; NULL: neither can be read. The program's
 * debug information names the file, so it must not make us open a device. */
static FILE *open_source(const char *path, int pid)
{
	char theirs[4400], root[64], why[256];
	int fd = file_open("", path, why, sizeof(why));

	if (fd < 0 && pid) {
		snprintf(root, sizeof(root), "/proc/%d/root", pid);
		snprintf(theirs, sizeof(theirs), "%s/%s", root, path);
		fd = file_open(root, theirs, why, sizeof(why));
	}
	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* Takes the lines around @line out of the file. */
static void read_around(struct excerpt *x, FILE *in, unsigned line)
{
	char *text = NULL, *at;
	size_t size = 0, n = 0;

	x->first = line > AROUND ? line - AROUND : 1;
	x->text = at = malloc(SIZE + 1);
	for (unsigned i = 1; at && i <= line + AROUND && getline(&text, &size, in) >= 0; i++) {
		if (i < x->first)
			continue;
		n = strcspn(text, "\n");
		n = n < COLUMNS ? n : COLUMNS;
		memcpy(at, text, n);
		at += n;
		*at++ = '\n';
	}
	if (at)
		*at = 0;
	free(text);
}

void excerpt_read(struct excerpt *x, const char *of, int pid)
{
	size_t number, length = path_of_line(of, &number);
	char path[4096];
	FILE *in;

	if (x->of && !strcmp(x->of, of))
		return;
	excerpt_deinit(x);
	x->of = strdup(of);
	if (!length) /* a function */
		return;
	snprintf(path, sizeof(path), "%.*s", (int)length, of);
	in = open_source(path, pid);
	if (in) {
		read_around(x, in, (unsigned)number);
		fclose(in);
	}
}

void excerpt_deinit(struct excerpt *x)
{
	free(x->of);
	free(x->text);
	*x = (struct excerpt){0};
}
