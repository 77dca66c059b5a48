// SPDX-License-Identifier: BSD-3-Clause
/* Parsing of latency pairs; see pair.h. */
#include "core/places/pair.h"

#include <stdlib.h>
#include <string.h>

#define PAIR_FORM                                                                            \
	"a latency is NAME=BEGIN..END or NAME=BEGIN..END,key=argN, where BEGIN and END are " \
	"places as for -P"

static int refuse(struct error *e, const char *text, const char *why)
{
	error_set(e, EXIT_USAGE, "latency '%s': %s", text, why);
	return error_hint(e, PAIR_FORM);
}

/* The ".." between BEGIN and END. */
static char *find_dots(char *body)
{
	int depth = 0;

	for (char *p = body; *p; p++) {
		depth += (*p == '(') - (*p == ')');
		if (depth > 0 || p == body || p[-1] == '/' || p[-1] == ':' || strncmp(p, "..", 2) ||
		    p[2] == '/')
			continue;
		return p;
	}
	return NULL;
}

/* Cuts off the last ",key=" and returns it; NULL: none. */
static char *cut_key(char *body)
{
	char *found = NULL;

	for (char *p = strstr(body, ",key="); p; p = strstr(p + 1, ",key="))
		found = p;
	if (!found)
		return NULL;
	*found = 0;
	return found + strlen(",key=");
}

static int parse_key(const char *text, const char *key, struct pair *ret, struct error *e)
{
	if (!strcmp(key, "tid"))
		return 0;
	if (!strncmp(key, "arg", 3) && key[3] && strspn(key + 3, "0123456789") == strlen(key + 3) &&
	    strlen(key + 3) <= 2) {
		ret->by_arg = true;
		ret->arg = (unsigned)strtoul(key + 3, NULL, 10);
		if (ret->arg < PAIR_ARGS)
			return 0;
	}
	error_set(e, EXIT_USAGE, "latency '%s': '%s' is not a key", text, key);
	return error_hint(
	    e, "give key=tid, or key=arg0 for the first argument, up to arg%d", PAIR_ARGS - 1);
}

/* What the kind alone tells. An offset of 0 is a function's beginning as well; the look-up sees
 * that. */
static int check_key(const char *text, const struct pair *p, const struct spec *s, struct error *e)
{
	const char *why = spec_no_arguments(s);

	if (s->kind == SPEC_SAMPLED) {
		error_set(e, EXIT_USAGE,
		    "latency '%s': '%s' cannot begin or end it: samples are no visits", text,
		    s->name);
		return error_hint(e, "take the function, or file.c:LINE without 'sampled:'");
	}
	if (!p->by_arg || !why)
		return 0;
	error_set(e, EXIT_USAGE, "latency '%s': no key at '%s': %s", text, s->name, why);
	return error_hint(e, "take a function's name or a USDT probe for BEGIN and END, or leave "
			     "the key out if both are met by one thread");
}

static int parse_place(const char *text, const char *place, struct spec *ret, struct error *e)
{
	if (!*place)
		return refuse(e, text, "BEGIN and END are needed on both sides of '..'");
	return spec_parse(place, ret, e);
}

static int parse_body(const char *text, char *body, struct pair *ret, struct error *e)
{
	char *key = cut_key(body), *dots = find_dots(body);

	if (!dots)
		return refuse(
		    e, text, "there is no '..' between where it begins and where it ends");
	*dots = 0;
	if ((key && parse_key(text, key, ret, e)) || parse_place(text, body, &ret->begin, e) ||
	    parse_place(text, dots + 2, &ret->end, e))
		return -1;
	return check_key(text, ret, &ret->begin, e) || check_key(text, ret, &ret->end, e) ? -1 : 0;
}

int pair_parse(const char *text, struct pair *ret, struct error *e)
{
	size_t name = strcspn(text, "=:(<");
	char *copy = strdup(text);
	int err = -1;

	memset(ret, 0, sizeof(*ret));
	if (!copy)
		return refuse(e, text, "out of memory");
	if (strpbrk(text, "\t\n\r")) {
		refuse(e, text, "tabs and line ends are not allowed");
	} else if (text[name] != '=' || !name) {
		refuse(e, text, "it needs a name before '='");
	} else {
		ret->name = strndup(text, name);
		err = ret->name ? parse_body(text, copy + name + 1, ret, e)
				: refuse(e, text, "out of memory");
	}
	free(copy);
	if (err)
		pair_deinit(ret);
	return err;
}

void pair_deinit(struct pair *p)
{
	free(p->name);
	spec_deinit(&p->begin);
	spec_deinit(&p->end);
	memset(p, 0, sizeof(*p));
}

/* The report could not tell two points of one name apart. */
static int check_name(const struct string_list *specs, size_t n, const char *name, struct error *e)
{
	struct spec other;
	bool is_taken = false;

	for (size_t i = 0; i < n && !is_taken; i++) {
		if (spec_parse(specs->items[i], &other, e))
			return -1;
		is_taken = !strcmp(other.name, name);
		spec_deinit(&other);
	}
	if (!is_taken)
		return 0;
	error_set(e, EXIT_USAGE, "two progress points are called '%s'", name);
	return error_hint(e, "give each a name of its own: -P NAME=SPEC");
}

int specs_check(const struct string_list *specs, const struct string_list *pairs, struct error *e)
{
	struct spec spec = {0};
	struct pair pair;

	for (size_t i = 0; i < specs->n; i++) {
		int err = spec_parse(specs->items[i], &spec, e);

		if (!err)
			err = check_name(specs, i, spec.name, e);
		spec_deinit(&spec);
		if (err)
			return -1;
	}
	for (size_t i = 0; pairs && i < pairs->n; i++) {
		if (pair_parse(pairs->items[i], &pair, e))
			return -1;
		pair_deinit(&pair);
	}
	return 0;
}
