// SPDX-License-Identifier: BSD-3-Clause
/* Probe sites of a symbol that a user named: by linkage name, demangled name, or an unambiguous
 * part of the demangled name. */
#include "symbols/elf/image.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/text/paths.h"
#include "core/text/suggest.h"
#include "symbols/elf/names.h"

/* How a name can match, best first: only the best kind that occurs is used. */
enum match {
	MATCH_LINKAGE,
	MATCH_DEMANGLED,
	MATCH_NO_SIGNATURE,
	MATCH_NO_TEMPLATE,
	MATCH_NO_PATH, /* of a package of Go */
	MATCH_NONE,
};

struct name_search {
	const char *wanted;
	enum match best;
	const struct symbol **found;
	size_t n_found, cap;
	bool ambiguous;  /* those found are different functions */
	char first[512]; /* demangled name of the first one found */
	char candidates[700];
	struct suggest near;
};

/* Compares one symbol's names with the wanted one. @demangled is cut in place. */
static enum match match_name(
    struct name_search *s, const struct symbol *symbol, char *demangled, size_t stem)
{
	if (!strcmp(symbol->name, s->wanted) ||
	    (strlen(s->wanted) == stem && !strncmp(symbol->name, s->wanted, stem)))
		return MATCH_LINKAGE;
	if (!strcmp(demangled, s->wanted))
		return MATCH_DEMANGLED;
	name_cut_signature(demangled);
	if (!strcmp(demangled, s->wanted))
		return MATCH_NO_SIGNATURE;
	suggest_add(&s->near, demangled);
	name_cut_template(demangled);
	if (!strcmp(demangled, s->wanted))
		return MATCH_NO_TEMPLATE;
	return strcmp(name_without_path(demangled), s->wanted) ? MATCH_NONE : MATCH_NO_PATH;
}

static void note_candidate(struct name_search *s, const char *name)
{
	size_t len = strlen(s->candidates);

	if (!s->n_found || s->best == MATCH_LINKAGE) {
		snprintf(s->first, sizeof(s->first), "%s", name);
		snprintf(s->candidates, sizeof(s->candidates), "'%s'", name);
	} else if (strncmp(s->first, name, sizeof(s->first) - 1)) {
		s->ambiguous = true;
		if (len + strlen(name) + 6 < sizeof(s->candidates))
			snprintf(s->candidates + len, sizeof(s->candidates) - len, ", '%s'", name);
	}
}

/* Adds the symbol when no better one has been found. */
static bool add_match(
    struct name_search *s, const struct symbol *symbol, enum match match, const char *full)
{
	if (match < s->best) {
		s->best = match;
		s->n_found = 0;
		s->ambiguous = false;
	}
	note_candidate(s, full);
	if (s->n_found == s->cap) {
		const struct symbol **grown =
		    reallocarray(s->found, s->cap ? s->cap * 2 : 8, sizeof(*grown));

		if (!grown)
			return false;
		s->found = grown;
		s->cap = s->cap ? s->cap * 2 : 8;
	}
	s->found[s->n_found++] = symbol;
	return true;
}

static bool search_symbol(struct image *o, struct name_search *s, const struct symbol *symbol)
{
	size_t stem = name_stem(symbol->name);
	char *full, *cut;
	enum match match;
	bool ok;

	if (symbol_is_cold(o, symbol))
		return true;
	full = name_demangle(symbol->name, stem);
	cut = full ? strdup(full) : NULL;
	ok = cut;
	if (ok) {
		match = match_name(s, symbol, cut, stem);
		if (match != MATCH_NONE && match <= s->best)
			ok = add_match(s, symbol, match, full);
	}
	free(full);
	free(cut);
	return ok;
}

static int not_found(const struct image *o, const struct name_search *s, struct error *e)
{
	char names[512];

	error_set(e, EXIT_USAGE, "no symbol '%s' in '%s'", s->wanted, o->path);
	suggest_list(&s->near, names, sizeof(names));
	if (names[0])
		return error_hint(e, "did you mean %s?", names);
	if (!o->n_symbols)
		return error_hint(e, "the file is stripped of its symbols: install its debug "
				     "symbols, do not strip it, or, if it starts the program "
				     "that has the symbol, name that one: PATH:SYMBOL");
	return error_hint(e,
	    "'nm -C %s' lists the symbols; a function that is inlined everywhere has none: name "
	    "one of its lines",
	    o->path);
}

static int make_sites(const struct image *o, const struct name_search *s, uint64_t offset,
    struct probe_site **ret, size_t *n, struct error *e)
{
	struct probe_site *sites = calloc(s->n_found, sizeof(*sites));
	uint64_t last = UINT64_MAX;

	if (!sites)
		return error_set(e, EXIT_OTHER, "out of memory");
	*n = 0;
	for (size_t i = 0; i < s->n_found; i++) {
		const struct symbol *symbol = s->found[i];
		uint64_t addr = symbol->addr + offset;

		/* Symbols come by address: two names for one place are one site. */
		if (addr == last)
			continue;
		last = addr;
		/* A clone can be too short for the offset. */
		if ((offset && symbol->size && offset >= symbol->size) || addr < symbol->addr ||
		    !image_offset(o, addr, &sites[*n].offset))
			continue;
		site_name(sites[(*n)++].function, symbol->name);
	}
	if (!*n) {
		free(sites);
		error_set(e, EXIT_USAGE, "offset 0x%llx lies beyond the end of '%s' in '%s'",
		    (unsigned long long)offset, s->wanted, o->path);
		return error_hint(
		    e, "the function has 0x%llx bytes", (unsigned long long)s->found[0]->size);
	}
	*ret = sites;
	return 0;
}

/* Code that no symbol names, by its address. */
static int find_address(
    const struct image *o, uint64_t addr, struct probe_site **ret, size_t *n, struct error *e)
{
	uint64_t offset;

	if (!image_is_code(o, addr) || !image_offset(o, addr, &offset)) {
		error_set(e, EXIT_USAGE, "there is no code at 0x%llx in '%s'",
		    (unsigned long long)addr, o->path);
		return error_hint(e,
		    "addresses are those of the linker, as reports show them; 'objdump -d %s' "
		    "lists them",
		    o->path);
	}
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return error_set(e, EXIT_OTHER, "out of memory");
	(*ret)->offset = offset;
	snprintf((*ret)->function, sizeof((*ret)->function), "%.64s+0x%llx", path_base(o->path),
	    (unsigned long long)addr);
	*n = 1;
	return 0;
}

int image_find_symbol(struct image *o, const char *symbol, uint64_t offset, struct probe_site **ret,
    size_t *n, struct error *e)
{
	struct name_search s = {.wanted = symbol, .best = MATCH_NONE};
	bool ok = !image_load_symbols(o);
	int err;

	if (!*symbol)
		return image_check(o, e) ? -1 : find_address(o, offset, ret, n, e);
	suggest_init(&s.near, symbol);
	for (size_t i = 0; ok && i < o->n_symbols; i++)
		ok = search_symbol(o, &s, &o->symbols[i]);
	if (image_check(o, e)) {
		err = -1;
	} else if (!ok) {
		err = error_set(e, EXIT_OTHER, "out of memory");
	} else if (!s.n_found) {
		err = not_found(o, &s, e);
	} else if (s.ambiguous) {
		error_set(
		    e, EXIT_USAGE, "'%s' in '%s' can be more than one function", symbol, o->path);
		err = error_hint(e, "name one of %s", s.candidates);
	} else {
		err = make_sites(o, &s, offset, ret, n, e);
	}
	free(s.found);
	return err;
}
