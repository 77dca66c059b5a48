// SPDX-License-Identifier: BSD-3-Clause
/* Names of source files as text; see paths.h. The many spellings of one file must not become many
 * files. */
#include "core/text/paths.h"

#include <string.h>

/* Start of the last component written so far; NULL when ".." has none to take back. */
static char *last_component(char *start, char *end)
{
	char *p = end;

	if (p == start)
		return NULL;
	while (p > start && p[-1] != '/')
		p--;
	return end - p == 2 && p[0] == '.' && p[1] == '.' ? NULL : p;
}

void path_normalise(char *path)
{
	bool absolute = path[0] == '/';
	char *start = path + absolute; /* the components follow the root's slash */
	char *out = start, *last;
	const char *in = start;

	while (*in) {
		size_t len = strcspn(in, "/");
		bool up = len == 2 && in[0] == '.' && in[1] == '.';

		if (len == 0 || (len == 1 && in[0] == '.')) {
			/* nothing: "//" or "/./" */
		} else if (up && (last = last_component(start, out))) {
			out = last > start ? last - 1 : start;
		} else if (!up || !absolute) {
			if (out > start)
				*out++ = '/';
			memmove(out, in, len);
			out += len;
		}
		in += len;
		in += *in == '/';
	}
	*out = 0;
}

size_t path_join(char *buf, size_t size, const char *dir, const char *file)
{
	/* No further than the room: a damaged file can name one long directory a million times. */
	size_t dir_len = file[0] != '/' && dir ? strnlen(dir, size) : 0,
	       file_len = strnlen(file, size);

	if (dir_len + 1 + file_len + 1 > size)
		return 0;
	if (dir_len) {
		memcpy(buf, dir, dir_len);
		buf[dir_len++] = '/';
	}
	memcpy(buf + dir_len, file, file_len + 1);
	path_normalise(buf);
	return strlen(buf);
}

bool path_has_suffix(const char *path, const char *wanted)
{
	size_t len, wanted_len;

	while (!strncmp(wanted, "./", 2) || !strncmp(wanted, "../", 3))
		wanted = strchr(wanted, '/') + 1;
	len = strlen(path);
	wanted_len = strlen(wanted);
	if (!wanted_len || wanted_len > len || strcmp(path + len - wanted_len, wanted))
		return false;
	return wanted_len == len || path[len - wanted_len - 1] == '/';
}

bool path_is_library(const char *path, const char *name)
{
	const char *base = path_base(path);
	size_t len = strlen(name);

	if (strchr(name, '/') || strncmp(base, name, len))
		return path_has_suffix(path, name);
	return !base[len] || (strstr(name, ".so") && base[len] == '.' && base[len + 1] >= '0' &&
				 base[len + 1] <= '9');
}

/* Whether a line's number, or what of a line is meant, stands before @at. */
static bool ends_line(const char *line, const char *at)
{
	const char *c = at;

	while (c > line && c[-1] >= '0' && c[-1] <= '9')
		c--;
	return c > line && (c < at ? c[-1] == ':' : c[-1] == ']');
}

/* "a.c:1 + b.c:2" is two lines, and "f + /b.c:2" a function and a line: no place in a file. */
static bool is_of_two(const char *line)
{
	const char *at = line;

	while ((at = strstr(at, " + "))) {
		if (ends_line(line, at) || at[3] == '/')
			return true;
		at += 3;
	}
	return false;
}

size_t path_of_line(const char *line, size_t *ret_number)
{
	const char *colon = is_of_two(line) ? NULL : strrchr(line, ':');
	size_t number = 0;

	/* behind a space stands what of the line is meant: its waits */
	for (const char *c = colon ? colon + 1 : ""; *c && *c != ' '; c++) {
		if (*c < '0' || *c > '9' || number > 100000000)
			return 0;
		number = number * 10 + (size_t)(*c - '0');
	}
	*ret_number = number;
	return number ? (size_t)(colon - line) : 0;
}

size_t path_of_function(const char *function)
{
	size_t length = strcspn(function, ":");
	const char *plus = function[length] ? NULL : strrchr(function, '+');

	if (plus && !strncmp(plus, "+0x", 3) && plus[3] &&
	    !plus[3 + strspn(plus + 3, "0123456789abcdef")])
		return (size_t)(plus - function);
	return length;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
