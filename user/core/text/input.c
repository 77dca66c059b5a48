// SPDX-License-Identifier: BSD-3-Clause
/* See input.h. */
#include "core/text/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 17) /* bytes that are read at a time */

int text_input_init(struct text_input *t, FILE *in, size_t max)
{
	*t = (struct text_input){.in = in, .max = max, .buf = malloc(max + CHUNK + 1)};
	return t->buf ? 0 : -ENOMEM;
}

/* Reads on behind what is there, which has to be shorter than a line may be. False at the end. */
static bool read_on(struct text_input *t)
{
	size_t n;

	if (t->begin) {
		memmove(t->buf, t->buf + t->begin, t->end - t->begin);
		t->end -= t->begin;
		t->begin = 0;
	}
	n = fread(t->buf + t->end, 1, CHUNK, t->in);
	t->end += n;
	return n;
}

/* Up to and with the next newline; that is @newline, or comes later. */
static void skip_line(struct text_input *t, const char *newline, struct text_line *ret)
{
	*ret = (struct text_line){0};
	while (!newline) {
		t->begin = t->end;
		if (!read_on(t))
			return;
		newline = memchr(t->buf, '\n', t->end);
	}
	ret->complete = true;
	t->begin = (size_t)(newline - t->buf) + 1;
}

bool text_input_next(struct text_input *t, struct text_line *ret)
{
	char *newline = NULL;
	size_t seen = 0;

	while (1) {
		char *begin = t->buf + t->begin;

		newline = memchr(begin + seen, '\n', t->end - t->begin - seen);
		seen = newline ? (size_t)(newline - begin) : t->end - t->begin;
		if (seen > t->max) {
			skip_line(t, newline, ret);
			return true;
		}
		if (newline || !read_on(t))
			break;
	}
	*ret = (struct text_line){t->buf + t->begin, seen, newline};
	ret->text[seen] = 0;
	t->begin += seen + (newline != NULL);
	return seen || newline;
}

void text_input_deinit(struct text_input *t)
{
	free(t->buf);
}
