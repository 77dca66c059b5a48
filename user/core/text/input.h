/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a stream, in place in a buffer. A line that is longer than the buffer is passed over. */
#ifndef COZBPF_CORE_INPUT_H
#define COZBPF_CORE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct text_input {
	FILE *in;
	char *buf;
	size_t max; /* bytes of a line */
	size_t begin, end;
};

struct text_line {
	char *text; /* ended by NUL, without its newline; good until the next one. NULL: too long */
	size_t n;
	bool complete; /* a newline followed */
};

/* 0 or -ENOMEM. */
int text_input_init(struct text_input *t, FILE *in, size_t max);
/* False: there is none, since the stream has ended or failed. */
bool text_input_next(struct text_input *t, struct text_line *ret);
void text_input_deinit(struct text_input *t);

#endif
