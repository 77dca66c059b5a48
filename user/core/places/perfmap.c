// SPDX-License-Identifier: BSD-3-Clause
/* Reads perf maps; see perfmap.h. */
#include "core/places/perfmap.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 512
/* bytes of one function; a longer one is a mistake, and would hide all others */
#define MAX_SIZE (64 << 20)

struct text {
	const char *at, *end;
};

/* A number in hex, and blanks behind it. */
static bool take_number(struct text *t, uint64_t *ret)
{
	const char *start;

	if (t->end - t->at > 2 && t->at[0] == '0' && t->at[1] == 'x')
		t->at += 2;
	*ret = 0;
	for (start = t->at; t->at < t->end && isxdigit((unsigned char)*t->at); t->at++) {
		int c = tolower((unsigned char)*t->at);

		*ret = *ret << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (t->at == start || t->at - start > 16 || t->at == t->end || *t->at != ' ')
		return false;
	while (t->at < t->end && *t->at == ' ')
		t->at++;
	return true;
}

/* V8 marks how a function was compiled: "JS:~f", "JS:^f", "JS:*f". */
static void cut_mark(char *name)
{
	static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char *mark = name + strlen(kinds[i]);

		if (strncmp(name, kinds[i], strlen(kinds[i])) || !*mark || !strchr("~^*+", *mark))
			continue;
		memmove(mark, mark + 1, strlen(mark));
		return;
	}
}

/* .NET names the tier: "int32 [app] Program::Work(int32)[Tier0]". */
static void cut_tier(char *name)
{
	size_t n = strlen(name);
	char *open = strrchr(name, '[');

	if (n && name[n - 1] == ']' && open > name && open[-1] == ')')
		*open = 0;
}

/* "f /a.js:3:13" would be line 13 of a file: "f (/a.js:3:13)". @room: one more byte than @name has
 * to have. */
static void set_place_apart(char *name, size_t room)
{
	size_t n = strlen(name), digits = n;
	char *word;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == n || !digits || name[digits - 1] != ':' || n + 3 > room)
		return;
	word = strrchr(name, ' ');
	word = word ? word + 1 : name;
	memmove(word + 1, word, strlen(word) + 1);
	*word = '(';
	strcat(name, ")");
}

static void unit_name(struct text name, char ret[NAME_SIZE])
{
	static const char module[] = PERF_MAP_MODULE ":";
	char *own = ret + sizeof(module) - 1;
	size_t n = (size_t)(name.end - name.at), room = NAME_SIZE - sizeof(module) - 3;

	memcpy(ret, module, sizeof(module));
	while (n && isspace((unsigned char)name.at[n - 1]))
		n--;
	if (n > room)
		n = room;
	for (size_t i = 0; i < n; i++)
		own[i] = iscntrl((unsigned char)name.at[i]) ? '?' : name.at[i];
	own[n] = 0;
	cut_mark(own);
	cut_tier(own);
	set_place_apart(own, NAME_SIZE - sizeof(module));
}

/* False: out of memory. */
static bool take_line(struct text line, struct line_map *map, struct line_range *ranges, size_t *n)
{
	uint64_t start, size;
	char name[NAME_SIZE];
	uint32_t unit;

	if (!take_number(&line, &start) || !take_number(&line, &size) || line.at == line.end ||
	    !size || size > MAX_SIZE || start > UINT64_MAX - size)
		return true;
	unit_name(line, name);
	unit = line_map_line(map, name, 0);
	ranges[(*n)++] = (struct line_range){start, start + size, unit};
	return unit;
}

/* Where the last PERF_MAP_LINES whole lines begin. */
static struct text last_lines(const char *text, size_t n)
{
	const char *end = n ? memrchr(text, '\n', n) : NULL, *at = end;

	if (!end)
		return (struct text){text, text};
	for (size_t i = 0; at && i < PERF_MAP_LINES; i++)
		at = at == text ? NULL : memrchr(text, '\n', (size_t)(at - text));
	return (struct text){at ? at + 1 : text, end + 1};
}

int perf_map_parse(const char *text, size_t n, struct line_map *map)
{
	struct line_range *ranges = calloc(PERF_MAP_LINES, sizeof(*ranges));
	struct line_object object = {.path = PERF_MAP_MODULE};
	struct text left = last_lines(text, n);
	size_t n_ranges = 0;
	bool ok = ranges;

	while (ok && left.at < left.end) {
		const char *end = memchr(left.at, '\n', (size_t)(left.end - left.at));

		ok = take_line((struct text){left.at, end}, map, ranges, &n_ranges);
		left.at = end + 1;
	}
	if (ok)
		ok = !line_map_add_object(map, &object, ranges, n_ranges);
	free(ranges);
	return ok ? 0 : -ENOMEM;
}
