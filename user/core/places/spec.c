// SPDX-License-Identifier: BSD-3-Clause
/* Parses progress points: [NAME=]SPEC; see spec.h. Other files look up what a SPEC names. */
#include "core/places/spec.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_FORMS                                                                  \
	"a point is [NAME=]SPEC, where SPEC is FILE:LINE, [PATH:]SYMBOL[+OFFSET], " \
	"[PATH:]+ADDRESS, uretprobe:PATH:SYMBOL, usdt:PATH:PROVIDER:NAME, "         \
	"tracepoint:CATEGORY:NAME or sampled:FILE:LINE"

static int refuse(struct error *e, const char *text, const char *why)
{
	error_set(e, EXIT_USAGE, "progress point '%s': %s", text, why);
	return error_hint(e, SPEC_FORMS);
}

/* Whether [text, eq) ends in the name of a C++ operator to which the '=' at @eq belongs
 * ("operator=", "A::operator<="). */
static bool in_operator(const char *text, const char *eq)
{
	while (eq > text && strchr("=<>!+-*/%^&|", eq[-1]))
		eq--;
	return eq - text >= 8 && !strncmp(eq - 8, "operator", 8);
}

/* Length of NAME when @text starts with NAME=, else -1. NAME has no ':', '(' or '<': after one of
 * these the '=' is part of a path or symbol. */
static long name_length(const char *text)
{
	size_t len = strcspn(text, "=:(<");

	return text[len] == '=' && !in_operator(text, text + len) ? (long)len : -1;
}

/* The ':' between PATH and SYMBOL: the first one that is not half of a "::" and not inside
 * parameters or template arguments. */
static const char *path_end(const char *text)
{
	for (const char *p = text; *p && *p != '(' && *p != '<'; p++) {
		if (*p != ':')
			continue;
		if (p[1] != ':')
			return p;
		p++;
	}
	return NULL;
}

static bool all_digits(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* Reads all of @s as an unsigned number of at most @max: decimal or, with @hex, also 0x... */
static bool parse_number(const char *s, bool hex, uint64_t max, uint64_t *ret)
{
	unsigned base = 10;
	uint64_t value = 0;

	if (hex && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		unsigned digit = isdigit(c)    ? (unsigned)(c - '0')
				 : isxdigit(c) ? (unsigned)(tolower(c) - 'a') + 10
					       : 99;

		if (digit >= base || value > (max - digit) / base)
			return false;
		value = value * base + digit;
	}
	*ret = value;
	return true;
}

/* FILE:LINE */
static int parse_line(const char *text, const char *body, struct spec *s, struct error *e)
{
	const char *colon = strrchr(body, ':');
	uint64_t line;

	if (!colon)
		return refuse(e, text, "there is no line after the file");
	if (colon == body)
		return refuse(e, text, "there is no file before ':'");
	if (!parse_number(colon + 1, false, UINT32_MAX, &line) || line == 0)
		return refuse(e, text, "lines count from 1 to 4294967295");
	s->line = (uint32_t)line;
	s->file = strndup(body, (size_t)(colon - body));
	if (!s->file)
		return refuse(e, text, "out of memory");
	colon = strrchr(s->file, ':');
	if (colon && all_digits(colon + 1))
		return refuse(e, text, "columns cannot be told apart, only lines");
	return 0;
}

/* [PATH:]SYMBOL[+OFFSET] or [PATH:]+ADDRESS; PATH is required after an explicit @kind. */
static int parse_symbol(
    const char *text, const char *body, const char *kind, struct spec *s, struct error *e)
{
	const char *colon = path_end(body), *symbol = colon ? colon + 1 : body;
	const char *plus = strrchr(symbol, '+');
	size_t len;

	if (*kind && !colon) {
		error_set(e, EXIT_USAGE, "progress point '%s': '%s' is followed by PATH:SYMBOL",
		    text, kind);
		return error_hint(e, SPEC_FORMS);
	}
	if (colon == body)
		return refuse(e, text, "there is no file before ':'");
	if (plus && isdigit((unsigned char)plus[1])) {
		if (!parse_number(plus + 1, true, UINT64_MAX, &s->offset))
			return refuse(e, text, "the offset after '+' is not a number");
	} else {
		plus = NULL;
	}
	len = plus ? (size_t)(plus - symbol) : strlen(symbol);
	if (!len && !plus)
		return refuse(
		    e, text, colon ? "there is no line or symbol after ':'" : "there is no symbol");
	s->symbol = strndup(symbol, len);
	if (colon)
		s->path = strndup(body, (size_t)(colon - body));
	if (!s->symbol || (colon && !s->path))
		return refuse(e, text, "out of memory");
	return 0;
}

/* uretprobe: PATH:SYMBOL, without an offset: a return belongs to a whole function. */
static int parse_return(const char *text, const char *body, struct spec *s, struct error *e)
{
	if (parse_symbol(text, body, "uretprobe:", s, e))
		return -1;
	return s->offset || !*s->symbol
		   ? refuse(e, text, "a return belongs to a whole function, without an offset")
		   : 0;
}

/* GROUP:EVENT, with @from at GROUP. */
static int parse_event(const char *text, const char *from, struct spec *s, struct error *e)
{
	const char *colon = strchr(from, ':');

	if (!colon || colon == from || !colon[1])
		return refuse(e, text,
		    s->kind == SPEC_USDT ? "PROVIDER:NAME is missing"
					 : "'tracepoint:' is followed by CATEGORY:NAME");
	s->group = strndup(from, (size_t)(colon - from));
	s->event = strdup(colon + 1);
	return s->group && s->event ? 0 : refuse(e, text, "out of memory");
}

static int parse_tracepoint(const char *text, const char *body, struct spec *s, struct error *e)
{
	if (body[strspn(
		body, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-:")] ||
	    strchr(body, ':') != strrchr(body, ':'))
		return refuse(e, text, "'tracepoint:' is followed by CATEGORY:NAME");
	return parse_event(text, body, s, e);
}

/* PATH:PROVIDER:NAME; the last two ':' count, since a path may contain some. */
static int parse_usdt(const char *text, const char *body, struct spec *s, struct error *e)
{
	const char *last = strrchr(body, ':'), *first = last;

	while (first && first > body && *--first != ':')
		;
	if (!first || *first != ':')
		return refuse(e, text, "'usdt:' is followed by PATH:PROVIDER:NAME");
	if (first == body)
		return refuse(e, text, "there is no file before ':'");
	s->path = strndup(body, (size_t)(first - body));
	return s->path ? parse_event(text, first + 1, s, e) : refuse(e, text, "out of memory");
}

static int parse_uprobe(const char *text, const char *body, struct spec *s, struct error *e)
{
	return parse_symbol(text, body, "uprobe:", s, e);
}

static const struct {
	const char *name;
	enum spec_kind kind;
	int (*parse)(const char *text, const char *body, struct spec *s, struct error *e);
	const char *no_arguments;
} kinds[] = {
    {"uprobe:", SPEC_SYMBOL, parse_uprobe, NULL},
    {"uretprobe:", SPEC_RETURN, parse_return, "arguments are gone when a function returns"},
    {"usdt:", SPEC_USDT, parse_usdt, NULL},
    {"tracepoint:", SPEC_TRACEPOINT, parse_tracepoint, "a tracepoint has no such arguments"},
    {"sampled:", SPEC_SAMPLED, parse_line, NULL},
};

static int parse_body(const char *text, const char *body, struct spec *s, struct error *e)
{
	const char *colon = strrchr(body, ':');

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(kinds[i].name);

		if (strncmp(body, kinds[i].name, len) ||
		    body[len] == ':') /* "usdt::f" is a C++ name */
			continue;
		s->kind = kinds[i].kind;
		return kinds[i].parse(text, body + len, s, e);
	}
	if (colon && all_digits(colon + 1)) {
		s->kind = SPEC_LINE;
		return parse_line(text, body, s, e);
	}
	s->kind = SPEC_SYMBOL;
	return parse_symbol(text, body, "", s, e);
}

int spec_parse(const char *text, struct spec *ret, struct error *e)
{
	struct spec s = {0};
	long name_len = name_length(text);
	const char *body = text + name_len + 1; /* all of the text when there is no NAME (-1) */
	int err;

	if (strpbrk(text, "\t\n\r"))
		return refuse(e, text, "tabs and line ends are not allowed");
	if (name_len == 0)
		return refuse(e, text, "the name before '=' is empty");
	if (!*body)
		return refuse(e, text, "it is empty");
	err = parse_body(text, body, &s, e);
	if (!err) {
		s.name = name_len > 0 ? strndup(text, (size_t)name_len) : strdup(text);
		if (!s.name)
			err = refuse(e, text, "out of memory");
	}
	if (err) {
		spec_deinit(&s);
		return err;
	}
	*ret = s;
	return 0;
}

void spec_deinit(struct spec *s)
{
	free(s->name);
	free(s->path);
	free(s->symbol);
	free(s->file);
	free(s->group);
	free(s->event);
	memset(s, 0, sizeof(*s));
}

const char *spec_no_arguments(const struct spec *s)
{
	if (s->kind == SPEC_LINE)
		return "a line has no arguments";
	if (s->kind == SPEC_SYMBOL && (s->offset || !*s->symbol))
		return "arguments are known where a function begins only";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].kind == s->kind)
			return kinds[i].no_arguments;
	return NULL;
}
