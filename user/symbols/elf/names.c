// SPDX-License-Identifier: BSD-3-Clause
/* Names of functions: demangling and cutting them down to what people type; see names.h. */
#include "symbols/elf/names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GO_TYPES "[...]"
#define MAX_MANGLED 4096 /* bytes; longer names are left mangled */
/* Bytes; a reference within a name can double its length with every few bytes. */
#define MAX_DEMANGLED 65536

static const char *const clone_suffixes[] = {
    ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm."};

size_t name_stem(const char *name)
{
	const char *dot = name;

	/* "@": versions; a leading one belongs to the name. */
	while (*dot && (dot == name || (*dot != '.' && *dot != '@')))
		dot++;
	if (*dot == '@')
		return (size_t)(dot - name);
	for (size_t i = 0; i < sizeof(clone_suffixes) / sizeof(*clone_suffixes); i++) {
		size_t length = strlen(clone_suffixes[i]);

		/* A number follows; a type of Go may be called "part". */
		if (!strncmp(dot, clone_suffixes[i], length) && isdigit((unsigned char)dot[length]))
			return (size_t)(dot - name);
	}
	return strlen(name);
}

bool name_is_cold(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && cold > name && (!cold[5] || cold[5] == '.');
}

struct demangled {
	jmp_buf too_long; /* the demangler cannot be told to stop */
	size_t len;
	char text[MAX_DEMANGLED];
};

static void append(const char *part, size_t len, void *arg)
{
	struct demangled *d = arg;

	if (len >= sizeof(d->text) - d->len)
		longjmp(d->too_long, 1);
	memcpy(d->text + d->len, part, len);
	d->len += len;
}

static bool demangle(const char *name, struct demangled *ret)
{
	ret->len = 0;
	if (setjmp(ret->too_long))
		return false;
	/* Rust first: its older names are valid C++ names too, with a hash at the end. */
	if (rust_demangle_callback(name, 0, append, ret))
		return true;
	ret->len = 0;
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, append, ret);
}

/* Go, as its own tools write it: what generic code is made for is left out.
 * "main.Max[go.shape.int]" becomes "main.Max[...]", and no other names have brackets. */
static void cut_go_types(char *name)
{
	char *open = strchr(name, '['), *close = open ? strrchr(open, ']') : NULL;

	if (!close || close - open < 4)
		return;
	memcpy(open + 1, "...", 3);
	memmove(open + 4, close, strlen(close) + 1);
}

char *name_demangle(const char *name, size_t len)
{
	static struct demangled d; /* its text alone fills a small stack */
	char *copy = strndup(name, len);

	if (copy && *copy != '_')
		cut_go_types(copy);
	if (!copy || (strncmp(copy, "_Z", 2) && strncmp(copy, "_R", 2)) || len > MAX_MANGLED ||
	    !demangle(copy, &d))
		return copy;
	free(copy);
	return strndup(d.text, d.len);
}

void site_name(char function[128], const char *linkage_name)
{
	char *name = name_demangle(linkage_name, name_stem(linkage_name));

	snprintf(function, 128, "%s", name ? name : linkage_name);
	free(name);
}

/* Start of the bracket that the one at @end closes; NULL when it does not balance. "->" is passed
 * over, and so are operators of '<' and '>'. */
static char *opening(char *start, char *end)
{
	int depth = 0;

	for (char *p = end; p >= start; p--) {
		if (strchr(")]}", *p) || (*p == '>' && p > start && p[-1] != '-'))
			depth++;
		else if (strchr("([{<", *p) && --depth == 0)
			return p;
	}
	return NULL;
}

/* Start of the operator's name ("operator<", "operator()") in @name, outside of brackets; NULL:
 * none. */
static char *operator_at(char *name)
{
	char *found = NULL;

	for (char *p = strstr(name, "operator"); p; p = strstr(p + 8, "operator"))
		if ((p == name || !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) &&
		    !(isalnum((unsigned char)p[8]) || p[8] == '_'))
			found = p;
	return found;
}

/* Cuts the return type: the part before the last space outside of brackets. */
static void cut_return_type(char *name)
{
	int depth = 0;
	char *start = name, *stop = operator_at(name);

	for (char *p = name; *p && p != stop; p++) {
		if (strchr("([{<", *p))
			depth++;
		else if (strchr(")]}", *p) || (*p == '>' && p > name && p[-1] != '-'))
			depth--;
		else if (*p == ' ' && depth == 0)
			start = p + 1;
	}
	memmove(name, start, strlen(start) + 1);
}

void name_cut_signature(char *name)
{
	static const char *const qualifiers[] = {" const", " volatile", " &", " &&"};
	size_t len = strlen(name);
	char *open;

	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		size_t q = strlen(qualifiers[i]);

		if (len > q && !strcmp(name + len - q, qualifiers[i])) {
			name[len -= q] = 0;
			i = (size_t)-1;
		}
	}
	if (!len || name[len - 1] != ')')
		return;
	open = opening(name, name + len - 1);
	/* "operator()" without parameters is a name already. */
	if (open && open > name && !(open - name >= 8 && !strncmp(open - 8, "operator", 8)))
		*open = 0;
	cut_return_type(name);
}

/* Rust: "<krate::T>::f", a method of a type, becomes "krate::T::f"; one of a trait, "<krate::T as
 * Trait>::f", is left alone. */
static void cut_type_brackets(char *name)
{
	char *close = name;

	if (*name != '<')
		return;
	while ((close = strstr(close + 1, ">::")) && opening(name, close) != name)
		;
	if (!close || memmem(name, (size_t)(close - name), " as ", 4))
		return;
	memmove(close, close + 1, strlen(close));
	memmove(name, name + 1, strlen(name));
}

void name_cut_template(char *name)
{
	size_t len;
	char *open = strstr(name, GO_TYPES);

	if (open)
		memmove(open, open + strlen(GO_TYPES), strlen(open + strlen(GO_TYPES)) + 1);
	cut_type_brackets(name);
	len = strlen(name);
	if (!len || name[len - 1] != '>' || operator_at(name))
		return;
	open = opening(name, name + len - 1);
	if (open && open > name + 2 && !strncmp(open - 2, "::", 2)) /* Rust: "work::<u64>" */
		open -= 2;
	if (open && open > name)
		*open = 0;
}

const char *name_without_path(const char *name)
{
	const char *end = name + strcspn(name, "([{ "),
		   *slash = memrchr(name, '/', (size_t)(end - name));

	return slash ? slash + 1 : name;
}
