// SPDX-License-Identifier: BSD-3-Clause
/* From --fixed-line to units of the line map; see fixed.h. */
#include "run/fixed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/places/couple.h"
#include "core/places/syscalls.h"
#include "core/places/waits.h"
#include "kernel/session.h"

static uint32_t find_in_kernel(
    const struct files *files, const char *text, int wait, struct error *e)
{
	const struct line_map *m = &files->lines;

	if (files->o->kernel == KERNEL_SYSCALLS)
		return syscall_find(m, files->kernel.first, text, e);
	if (wait >= 0) {
		error_set(e, EXIT_USAGE, "no waits are known by functions of the kernel");
		return 0;
	}
	return line_map_find_kernel(
	    m, files->kernel.first, files->kernel.end, text + strlen(KERNEL_PREFIX), e);
}

/* @text: FILE:LINE, a function, or what is in the kernel; @wait: of its waits the class, or -1. The
 * id, or 0 with @e. */
static uint32_t find_unit(const struct files *files, const char *text, int wait, struct error *e)
{
	const char *colon = strrchr(text, ':');
	char file[PATH_MAX], *end;
	unsigned long line;
	uint32_t id;
	bool is_line;

	if (kernel_units_of_unit(text) != KERNEL_NONE)
		return find_in_kernel(files, text, wait, e);
	line = colon ? strtoul(colon + 1, &end, 10) : 0;
	is_line = line && line <= UINT32_MAX && !*end && colon != text &&
		  colon - text < (long)sizeof(file);
	if (!is_line || !scope_has_lines(&files->scope, true)) {
		id = line_map_find_function(&files->lines, text, e);
		if (id || !scope_has_lines(&files->scope, true))
			return id;
		error_set(e, EXIT_USAGE, "'%s' is not a line", text);
		error_hint(e, "give FILE:LINE, for example --fixed-line src/queue.c:217");
		return 0;
	}
	snprintf(file, sizeof(file), "%.*s", (int)(colon - text), text);
	return line_map_find(&files->lines, file, (uint32_t)line, e);
}

/* The unit that is named, as far as it runs: of "FILE:LINE [io]" FILE:LINE; of "[io]" none. */
static int find_one(struct fixed *f, const struct files *files, size_t i, struct error *e)
{
	const char *text = f->names->items[i];
	char *unit;
	size_t length;

	f->waits[i] = wait_of_unit(text, &length);
	if (f->waits[i] >= 0 && !length)
		return 0;
	unit = strndup(text, f->waits[i] >= 0 ? length : strlen(text));
	if (!unit)
		return error_set(e, EXIT_OTHER, "out of memory");
	f->units[i] = find_unit(files, unit, f->waits[i], e);
	free(unit);
	return f->units[i] ? 0 : -1;
}

int fixed_find(
    struct fixed *f, struct files *files, const struct string_list *names, struct error *e)
{
	*f = (struct fixed){.names = names};
	for (size_t i = 0; i < names->n; i++)
		if (find_one(f, files, i, e))
			return -1;
	return 0;
}

/* Waits are another unit than what waits. */
static int find_wait(struct fixed *f, struct files *files, size_t i, struct error *e)
{
	if (f->waits[i] < 0)
		return 0;
	if (!(files->o->waits >> f->waits[i] & 1)) {
		error_set(e, EXIT_USAGE, "'--fixed-line %s' is about waits", f->names->items[i]);
		return error_hint(e, "add --off-cpu=%s", wait_name((unsigned)f->waits[i]));
	}
	f->units[i] =
	    session_add_wait(files->session, &files->lines, (unsigned)f->waits[i], f->units[i]);
	return 0;
}

int fixed_find_waits(struct fixed *f, struct files *files, struct error *e)
{
	const char *const *names = f->names->items;

	for (size_t i = 0; i < f->names->n; i++)
		if (find_wait(f, files, i, e))
			return -1;
	if (f->names->n < FIXED_LINES)
		return 0;
	if (couple_overlaps(&files->lines, f->units[0], f->units[1])) {
		error_set(e, EXIT_USAGE,
		    f->units[0] == f->units[1]
			? "'--fixed-line %s' and '--fixed-line %s' are the same"
			: "of '--fixed-line %s' and '--fixed-line %s' one holds the other",
		    names[0], names[1]);
		return error_hint(e, "name two that have nothing in common");
	}
	f->couple = line_map_add_couple(&files->lines, f->units[0], f->units[1]);
	return f->couple ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}
