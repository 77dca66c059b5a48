// SPDX-License-Identifier: BSD-3-Clause
/* A screen of cells: writes any text into it, by columns. */
#include "report/terminal_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/utf8.h"

#define NOT_SHOWN '?'

int terminal_screen_init(struct terminal_screen *s, int width, int height, bool unicode)
{
	size_t n = (size_t)width * (size_t)height;

	if (s->width != width || s->height != height || !s->cells) {
		struct terminal_cell *cells = realloc(s->cells, (n + 1) * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		s->cells = cells;
	}
	s->width = width;
	s->height = height;
	s->unicode = unicode;
	for (size_t i = 0; i < n; i++)
		s->cells[i] = (struct terminal_cell){' ', LOOK_PLAIN};
	return 0;
}

void terminal_screen_deinit(struct terminal_screen *s)
{
	free(s->cells);
	memset(s, 0, sizeof(*s));
}

/* The code point at *@text, which advances; of broken UTF-8 one byte. */
static uint32_t next_character(const char **text)
{
	uint32_t ret;
	size_t length = utf8_character(*text, strnlen(*text, 4), &ret);

	*text += length ? length : 1;
	return length ? ret : NOT_SHOWN;
}

struct character_range {
	uint32_t first, last;
};

static bool is_in(uint32_t c, const struct character_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Columns of a character. Marks that join the character before, and marks that turn the direction
 * of writing, are left out. Unicode 15, in blocks. */
static int character_columns(uint32_t c)
{
	static const struct character_range none[] = {{0x300, 0x36f}, {0x200b, 0x200f},
	    {0x202a, 0x202e}, {0x2060, 0x206f}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f},
	    {0xfeff, 0xfeff}};
	static const struct character_range two[] = {{0x1100, 0x115f}, {0x2e80, 0x303e},
	    {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};

	if (c < 0x300)
		return 1;
	if (is_in(c, none, sizeof(none) / sizeof(none[0])))
		return 0;
	return is_in(c, two, sizeof(two) / sizeof(two[0])) ? 2 : 1;
}

int terminal_columns(const char *text)
{
	int ret = 0;

	while (*text)
		ret += character_columns(next_character(&text));
	return ret;
}

int terminal_put(struct terminal_screen *s, int x, int y, int end, unsigned look, const char *text)
{
	if (end > s->width)
		end = s->width;
	if (x < 0 || y < 0 || y >= s->height)
		return x;
	while (*text && x < end) {
		struct terminal_cell *cell = &s->cells[(size_t)y * (size_t)s->width + (size_t)x];
		uint32_t c = next_character(&text);
		int columns = character_columns(c);

		if (c < ' ' || (c >= 0x7f && c < 0xa0) || (c > 0x7f && !s->unicode)) {
			c = NOT_SHOWN;
			columns = columns ? 1 : 0;
		}
		if (!columns)
			continue;
		if (x + columns > end)
			break;
		*cell = (struct terminal_cell){c, (uint8_t)look};
		if (columns == 2)
			cell[1] = (struct terminal_cell){0, (uint8_t)look};
		x += columns;
	}
	return x;
}

void terminal_print(FILE *out, const struct terminal_screen *s)
{
	for (int y = 0; y < s->height; y++) {
		const struct terminal_cell *row = &s->cells[(size_t)y * (size_t)s->width];
		int end = s->width;
		char bytes[5];

		while (end > 0 && row[end - 1].character == ' ')
			end--;
		for (int x = 0; x < end; x++) {
			if (!row[x].character)
				continue; /* the right half of the one before */
			utf8_encode(row[x].character, bytes);
			fputs(bytes, out);
		}
		putc('\n', out);
	}
}

int put(struct terminal_screen *s, int x, int y, unsigned look, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return terminal_put(s, x, y, s->width, look, text);
}

void put_label(
    struct terminal_screen *s, int x, int y, int columns, unsigned look, const char *text)
{
	int length = terminal_columns(text);

	if (length > columns && columns > 3) {
		x = terminal_put(s, x, y, x + columns, look, s->unicode ? "…" : "~");
		while (*text && length > columns - 1)
			length -= character_columns(next_character(&text));
		columns--;
	}
	terminal_put(s, x, y, x + columns, look, text);
}

int put_words(struct terminal_screen *s, int x, int y, int end, unsigned look, const char *text)
{
	while (*text && y < end) {
		const char *at = text, *blank = NULL;
		int columns = 0;
		char row[1024];

		while (*at && columns <= s->width - x) {
			blank = *at == ' ' ? at : blank;
			columns += character_columns(next_character(&at));
		}
		if (columns > s->width - x && blank > text)
			at = blank; /* a word that is longer than the row is cut */
		snprintf(row, sizeof(row), "%.*s", (int)(at - text), text);
		terminal_put(s, x, y++, s->width, look, row);
		text = at + strspn(at, " ");
	}
	return y;
}

int put_item(struct terminal_screen *s, int x, int y, unsigned look, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (x > 1)
		x += 2;
	if (x + terminal_columns(text) > s->width)
		return s->width; /* the rest is worth less */
	return terminal_put(s, x, y, s->width, look, text);
}

void put_reverse(struct terminal_screen *s, int y)
{
	for (int x = 0; y >= 0 && y < s->height && x < s->width; x++)
		s->cells[(size_t)y * (size_t)s->width + (size_t)x].look |= LOOK_REVERSE;
}

void put_interval(struct terminal_screen *s, int x, int y, const struct axis *a, double lo,
    double value, double hi)
{
	const char *const *marks = s->unicode ? (const char *const[]){"─", "├", "┤", "●", "┊"}
					      : (const char *const[]){"-", "[", "]", "o", ":"};
	int zero = axis_column(a, 0);

	if (zero >= 0)
		terminal_put(s, x + zero, y, x + a->columns, LOOK_DIM, marks[4]);
	if (lo <= hi) { /* neither is NaN */
		int first = axis_column(a, lo < a->lo ? a->lo : lo),
		    last = axis_column(a, hi > a->hi ? a->hi : hi);

		for (int i = first; i >= 0 && i <= last; i++)
			terminal_put(s, x + i, y, x + a->columns, LOOK_PLAIN, marks[0]);
		if (lo >= a->lo)
			terminal_put(s, x + first, y, x + a->columns, LOOK_PLAIN, marks[1]);
		if (hi <= a->hi)
			terminal_put(s, x + last, y, x + a->columns, LOOK_PLAIN, marks[2]);
	}
	if (axis_column(a, value) >= 0)
		terminal_put(s, x + axis_column(a, value), y, x + a->columns, LOOK_BOLD, marks[3]);
}

int axis_column(const struct axis *a, double v)
{
	double part =
	    (v - a->lo) / (a->hi - a->lo); /* NaN where the axis has no width, or no end */

	if (!(part >= 0 && part <= 1) || a->columns < 2)
		return -1;
	return (int)(part * (a->columns - 1) + 0.5);
}
