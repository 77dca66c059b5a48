// SPDX-License-Identifier: BSD-3-Clause
/* Words as a shell reads them; see shell.h. */
#include "core/text/shell.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of a byte: \xHH */
#define MOST_BYTES 4
/* the blank before the word, $' and ', and the end */
#define AROUND 5

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_./:=,+@%-", c));
}

static bool is_printed(unsigned char c)
{
	return c >= ' ' && c <= '~';
}

/* Between $' and '. */
static char *escape(char *to, const char *word)
{
	for (; *word; word++) {
		if (!is_printed((unsigned char)*word))
			to += sprintf(to, "\\x%02x", (unsigned char)*word);
		else
			to += sprintf(to, *word == '\'' || *word == '\\' ? "\\%c" : "%c", *word);
	}
	return to;
}

static void quote(char *to, const char *word)
{
	bool plain = *word, simple = true;

	for (const char *s = word; *s; s++) {
		plain &= is_plain((unsigned char)*s);
		simple &= is_printed((unsigned char)*s) && *s != '\'';
	}
	if (plain)
		strcpy(to, word);
	else if (simple)
		sprintf(to, "'%s'", word);
	else
		strcpy(escape(stpcpy(to, "$'"), word), "'");
}

int shell_append(char **line, const char *word)
{
	size_t used = *line ? strlen(*line) : 0;
	char *bigger = realloc(*line, used + MOST_BYTES * strlen(word) + AROUND);

	if (!bigger)
		return -ENOMEM;
	if (used)
		bigger[used++] = ' ';
	quote(bigger + used, word);
	*line = bigger;
	return 0;
}
