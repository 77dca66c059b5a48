// SPDX-License-Identifier: BSD-3-Clause
/* Finds a line of the map by the name a user gave, and tells what to offer when there is none; see
 * linemap.h. */
#include "core/places/linemap.h"

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
		error_hint(e, "did you mean %s", names);
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

		if (m->lines[id].wait)
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

uint32_t line_map_find_function(const struct line_map *m, const char *name, struct error *e)
{
	struct suggest names;
	char nearest[512];
	uint32_t found = 0;

	suggest_init(&names, name);
	for (uint32_t id = 1; id < m->n_lines; id++) {
		const char *unit = m->lines[id].file, *colon;

		if (m->lines[id].line || m->lines[id].wait)
			continue;
		colon = strchr(unit, ':');
		if (!strcmp(unit, name))
			return id;
		suggest_add(&names, colon ? colon + 1 : unit);
		if (!colon || strcmp(colon + 1, name) != 0)
			continue;
		if (found)
			return ambiguous(m, name, found, id, e);
		found = id;
	}
	if (found)
		return found;
	error_set(e, EXIT_USAGE, "no function '%s' in the program", name);
	suggest_list(&names, nearest, sizeof(nearest));
	if (nearest[0])
		error_hint(e, "did you mean %s", nearest);
	else
		error_hint(e,
		    "libraries come later, and theirs cannot be named; 'cozbpf lines' lists "
		    "those of the program");
	return 0;
}
