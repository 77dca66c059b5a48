// SPDX-License-Identifier: BSD-3-Clause
/* Names of functions: demangling and cutting them down to what people type; see names.h. */
#include "symbols/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* libstdc++'s demangler, which is all that is needed of it. */
extern char *__cxa_demangle(const char *mangled, char *buf, size_t *size, int *status);

/* Longer names are left mangled: the demangler's output can be far longer still. */
#define MAX_MANGLED 4096

static const char *const clone_suffixes[] = {".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm."};

size_t name_stem(const char *name)
{
	const char *dot = name;

	/* "@": versions; a leading one belongs to the name. */
	while (*dot && (dot == name || (*dot != '.' && *dot != '@')))
		dot++;
	if (*dot == '@')
		return (size_t)(dot - name);
	for (size_t i = 0; i < sizeof(clone_suffixes) / sizeof(*clone_suffixes); i++)
		if (!strncmp(dot, clone_suffixes[i], strlen(clone_suffixes[i])))
			return (size_t)(dot - name);
	return strlen(name);
}

bool name_is_cold(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && cold > name && (!cold[5] || cold[5] == '.');
}

/* Takes off the hash that Rust's older mangling ends in ("::h0123456789abcdef"). */
static void cut_rust_hash(char *name)
{
	size_t len = strlen(name);

	if (len > 19 && !strncmp(name + len - 19, "::h", 3) && strspn(name + len - 16, "0123456789abcdef") == 16)
		name[len - 19] = 0;
}

char *name_demangle(const char *name, size_t len)
{
	char *copy = strndup(name, len), *demangled;
	int status;

	if (!copy || strncmp(copy, "_Z", 2) || len > MAX_MANGLED)
		return copy;
	demangled = __cxa_demangle(copy, NULL, NULL, &status);
	if (!demangled)
		return copy;
	free(copy);
	cut_rust_hash(demangled);
	return demangled;
}

/* Start of the bracket that the one at @end closes; NULL when it does not balance. "->" and operators of '<' and '>' are not looked at. */
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

/* Start of the operator's name when @name holds one that is not inside of brackets ("operator<", "operator()"); NULL: none. */
static char *operator_at(char *name)
{
	char *found = NULL;

	for (char *p = strstr(name, "operator"); p; p = strstr(p + 8, "operator"))
		if ((p == name || !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) && !(isalnum((unsigned char)p[8]) || p[8] == '_'))
			found = p;
	return found;
}

/* Takes a return type off the front: what stands before the last space outside of brackets. */
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

void name_cut_template(char *name)
{
	size_t len = strlen(name);
	char *open;

	if (!len || name[len - 1] != '>' || operator_at(name))
		return;
	open = opening(name, name + len - 1);
	if (open && open > name)
		*open = 0;
}
