// SPDX-License-Identifier: BSD-3-Clause
/* Words as a shell reads them, and writes them; see shell.h. */
#include "core/text/shell.h"

#include <ctype.h>
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

/* Of $'...': one character. Returns what follows it. */
static const char *unescape(const char *s, char **to)
{
	static const char letters[] = "abefnrtv", bytes[] = "\a\b\033\f\n\r\t\v";
	const char *at = *s ? strchr(letters, *s) : NULL;
	unsigned value = 0, digits = 0;

	if (*s == 'x') {
		while (digits < 2 && isxdigit((unsigned char)s[1 + digits]))
			digits++;
		sscanf(s + 1, "%2x", &value);
		*(*to)++ = digits ? (char)value : 'x';
		return s + 1 + digits;
	}
	*(*to)++ = at ? bytes[at - letters] : *s;
	return s + 1;
}

/* What is between quotes, of which @s is past the first one. Returns what follows the last one;
 * NULL: there is none. */
static const char *read_quoted(const char *s, char quote, bool escapes, char **to)
{
	while (*s && *s != quote) {
		if (escapes && *s == '\\' && s[1])
			s = unescape(s + 1, to);
		else if (quote == '"' && *s == '\\' && s[1] && strchr("\"\\$`", s[1]))
			*(*to)++ = s[1], s += 2;
		else
			*(*to)++ = *s++;
	}
	return *s ? s + 1 : NULL;
}

/* The word at @s. Returns what follows it; NULL: a quote does not end. */
static const char *read_word(const char *s, char *to)
{
	while (s && *s && !isspace((unsigned char)*s)) {
		if (*s == '\'' || *s == '"')
			s = read_quoted(s + 1, *s, false, &to);
		else if (*s == '$' && s[1] == '\'')
			s = read_quoted(s + 2, '\'', true, &to);
		else if (*s == '\\' && s[1])
			*to++ = s[1], s += 2;
		else
			*to++ = *s++;
	}
	*to = 0;
	return s;
}

static const char *skip_blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return *s == '#' ? "" : s;
}

int shell_split(const char *line, char ***ret)
{
	size_t length = strlen(line), n = 0;
	/* no more words than half the characters and one; words are no longer than what is read */
	char **words = calloc(length / 2 + 2, sizeof(*words));
	int err = words ? 0 : -ENOMEM;

	line = skip_blanks(line);
	while (!err && *line) {
		words[n] = malloc(strlen(line) + 1);
		err = words[n] ? 0 : -ENOMEM;
		line = err ? line : read_word(line, words[n++]);
		err = line ? err : -EINVAL;
		line = err ? line : skip_blanks(line);
	}
	if (err) {
		shell_free(words);
		return err;
	}
	*ret = words;
	return 0;
}

void shell_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}
