// SPDX-License-Identifier: BSD-3-Clause
/* Finds a line of the map by the name a user gave, and tells what to offer when there is none; see
 * linemap.h. */
#include "core/places/linemap.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/paths.h"
#include "core/text/suggest.h"

/* What one pass over the map's lines finds. Lines of one file need not stand together; interned
 * names tell files apart. */
struct search {
	const char *wanted;
	bool exact;
	const char *file;        /* first file that matches; NULL: none */
	uint32_t found, n_found; /* id of the line, in how many files */
	uint32_t below, above;   /* nearest lines that have code in `file`; 0: none */
	char candidates[512];
	struct suggest names;
};

static void note_candidate(struct search *s, const struct source_line *l)
{
	size_t len = strlen(s->candidates);

	snprintf(s->candidates + len, sizeof(s->candidates) - len, "%s'%s:%u'", len ? ", " : "",
	    l->file, l->line);
}

static void search_line(struct search *s, const struct line_map *m, uint32_t id, uint32_t line)
{
	const struct source_line *l = &m->lines[id];

	if (!s->file)
		s->file = l->file;
	if (l->line == line && !s->exact) {
		/* A full match is meant, whatever other names end like it. */
		s->exact = !strcmp(l->file, s->wanted);
		s->n_found = s->exact ? 1 : s->n_found + 1;
		s->found = id;
		note_candidate(s, l);
	}
	if (l->file != s->file)
		return;
	if (l->line < line && l->line > s->below)
		s->below = l->line;
	if (l->line > line && (!s->above || l->line < s->above))
		s->above = l->line;
}

static uint32_t no_file(const struct search *s, const char *file, struct error *e)
{
	char names[512];

	error_set(e, EXIT_USAGE, "no source file '%s' in scope", file);
	suggest_list(&s->names, names, sizeof(names));
	if (names[0])
		error_hint(e, "did you mean %s?", names);
	else
		error_hint(e, "'cozbpf lines BINARY' lists the files that can be selected");
	return 0;
}

uint32_t line_map_find(const struct line_map *m, const char *file, uint32_t line, struct error *e)
{
	struct search s = {.wanted = file};
	const char *last = NULL;
	bool matches = false;

	suggest_init(&s.names, path_base(file));
	for (uint32_t id = 1; id < m->n_lines; id++) {
		const char *path = m->lines[id].file;

		if (m->lines[id].wait || m->lines[id].is_couple)
			continue;
		if (path != last) {
			last = path;
			matches = path_has_suffix(path, file);
			if (!matches && !s.file)
				suggest_add(&s.names, path_base(path));
		}
		if (matches)
			search_line(&s, m, id, line);
	}
	if (s.n_found == 1)
		return s.found;
	if (s.n_found) {
		error_set(e, EXIT_USAGE, "'%s:%u' is in %u files", file, line, s.n_found);
		error_hint(e, "name one of %s", s.candidates);
	} else if (!s.file) {
		return no_file(&s, file, e);
	} else {
		error_set(e, EXIT_USAGE, "no code at line %u of '%s'", line, s.file);
		if (s.below && s.above)
			error_hint(
			    e, "the nearest lines with code are %u and %u", s.below, s.above);
		else
			error_hint(
			    e, "the nearest line with code is %u", s.below ? s.below : s.above);
	}
	return 0;
}

/* Modules share names of functions, and then each has a unit of that name. */
static uint32_t ambiguous(
    const struct line_map *m, const char *name, uint32_t a, uint32_t b, struct error *e)
{
	error_set(e, EXIT_USAGE, "'%s' is in several modules", name);
	error_hint(e, "name one of '%s', '%s'", m->lines[a].file, m->lines[b].file);
	return 0;
}

/* What a name of a function finds: the unit of that name, or those of functions called so in a
 * module. */
struct function_search {
	uint32_t found, another;
	struct suggest near;
};

/* Among the units from @first to @end. */
static void search_functions(const struct line_map *m, uint32_t first, uint32_t end,
    const char *name, struct function_search *s)
{
	s->found = s->another = 0;
	suggest_init(&s->near, name);
	for (uint32_t id = first; id < end; id++) {
		const char *unit = m->lines[id].file, *colon;

		if (m->lines[id].line || m->lines[id].wait || m->lines[id].is_couple)
			continue;
		colon = strchr(unit, ':');
		if (!strcmp(unit, name)) {
			s->found = id;
			s->another = 0;
			return;
		}
		suggest_add(&s->near, colon ? colon + 1 : unit);
		if (!colon || strcmp(colon + 1, name) != 0)
			continue;
		*(s->found ? &s->another : &s->found) = id;
	}
}

/* The id, or 0 with @e. @otherwise: what to say where no name is near. */
static uint32_t judge_functions(const struct line_map *m, const struct function_search *s,
    const char *where, const char *otherwise, struct error *e)
{
	const char *name = s->near.word;
	char nearest[512];

	if (s->another)
		return ambiguous(m, name, s->found, s->another, e);
	if (s->found)
		return s->found;
	error_set(e, EXIT_USAGE, "no function '%s' in the %s", name, where);
	suggest_list(&s->near, nearest, sizeof(nearest));
	if (nearest[0])
		error_hint(e, "did you mean %s?", nearest);
	else
		error_hint(e, "%s", otherwise);
	return 0;
}

/* Units of a function that begin nearest to an offset in it: blocks, or functions without a name in
 * a module. */
struct near_units {
	uint32_t below, above; /* 0: none */
	uint64_t offset_below, offset_above;
};

/* The offset that a name ends with, "+0xOFFSET", and the length of what is before it; false: it
 * ends with none. */
static bool split_offset(const char *name, size_t *length, uint64_t *offset)
{
	const char *plus = strrchr(name, '+');
	char *end;

	if (!plus || strncmp(plus, "+0x", 3) || !isxdigit((unsigned char)plus[3]))
		return false;
	*length = (size_t)(plus - name);
	*offset = strtoull(plus + 3, &end, 16);
	return !*end;
}

static void search_near(const struct line_map *m, const char *function, size_t length,
    uint64_t offset, struct near_units *ret)
{
	*ret = (struct near_units){0};
	for (uint32_t id = 1; id < m->n_lines; id++) {
		const char *unit = m->lines[id].file, *colon;
		uint64_t at;
		size_t n;

		if (m->lines[id].line || m->lines[id].wait || m->lines[id].is_couple ||
		    !split_offset(unit, &n, &at))
			continue;
		colon = memchr(unit, ':', n);
		if ((n != length || strncmp(unit, function, n)) &&
		    (!colon || n - (size_t)(colon + 1 - unit) != length ||
			strncmp(colon + 1, function, length)))
			continue;
		if (at <= offset && (!ret->below || at > ret->offset_below)) {
			ret->below = id;
			ret->offset_below = at;
		} else if (at > offset && (!ret->above || at < ret->offset_above)) {
			ret->above = id;
			ret->offset_above = at;
		}
	}
}

/* True with @e: the name is that of a function with blocks, or of a place in it. */
static bool names_no_begin(const struct line_map *m, const char *name, struct error *e)
{
	struct near_units near;
	uint64_t offset;
	size_t length;

	search_near(m, name, strlen(name), 0, &near);
	if (!near.below && !near.above && split_offset(name, &length, &offset))
		search_near(m, name, length, offset, &near);
	if (!near.below && !near.above)
		return false;
	error_set(e, EXIT_USAGE, "no block or function begins at '%s'", name);
	if (near.below && near.above)
		error_hint(e, "the nearest ones are '%s' and '%s'", m->lines[near.below].file,
		    m->lines[near.above].file);
	else
		error_hint(e, "the nearest one is '%s'",
		    m->lines[near.below ? near.below : near.above].file);
	return true;
}

uint32_t line_map_find_function(const struct line_map *m, const char *name, struct error *e)
{
	struct function_search s;

	search_functions(m, 1, (uint32_t)m->n_lines, name, &s);
	if (!s.found && names_no_begin(m, name, e))
		return 0;
	return judge_functions(m, &s, "program",
	    "libraries come later, and theirs cannot be named; 'cozbpf lines' lists those of the "
	    "program",
	    e);
}

uint32_t line_map_find_kernel(
    const struct line_map *m, uint32_t first, uint32_t end, const char *name, struct error *e)
{
	struct function_search s;

	search_functions(m, first, end, name, &s);
	return judge_functions(m, &s, "kernel",
	    "/proc/kallsyms has the names; a function that is inlined has none", e);
}
