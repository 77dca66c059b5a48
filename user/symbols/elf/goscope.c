// SPDX-License-Identifier: BSD-3-Clause
/* Which source files of a Go program are its own. One file holds all code there is: the program,
 * the modules it uses, the standard library and the runtime. */
#include <stdlib.h>

#include "core/text/paths.h"
#include "symbols/elf/goimage.h"
#include "symbols/elf/image.h"

#define RUNTIME_FILE "runtime/proc.go" /* in every program */

/* The folder of the standard library, by where the runtime's source was. */
static char *find_root(const struct go_table *t)
{
	const size_t tail = strlen(RUNTIME_FILE);
	const char *name;

	for (uint64_t at = 0; (name = string_at(t->files, at)); at += strlen(name) + 1) {
		size_t length = strlen(name);

		if (length < tail || strcmp(name + length - tail, RUNTIME_FILE))
			continue;
		if (length == tail || !strncmp(name + length - tail - 5, "/src/", 5))
			return strndup(name, length - tail);
	}
	return NULL;
}

static const char *root_of(struct image *o)
{
	struct go_state *go = go_state_of(o);
	const struct go_table *t = image_go_table(o);

	if (!go || !t)
		return NULL;
	if (!go->root_loaded)
		go->root = find_root(t);
	go->root_loaded = true;
	return go->root;
}

static bool begins(const char *path, const char *with, size_t length)
{
	return length && !strncmp(path, with, length);
}

/* The module cache has a version in the name of each module's folder: "x@v1.2.3/y.go". What cgo
 * adds to a program is Go's as well. */
static bool is_of_others(const char *path)
{
	const char *version = strstr(path, "@v"), *base = path_base(path);

	return begins(base, "_cgo_", 5) || begins(base, "cgo-", 4) ||
	       strstr(path, "/runtime/cgo/") ||
	       (version && version[2] >= '0' && version[2] <= '9' && strchr(version, '/')) ||
	       strstr(path, "/vendor/") || begins(path, "vendor/", 7);
}

/* -trimpath names files by the module or package that they belong to. Those of a program that is
 * built from files, without a module, have no folder. */
static bool is_of_module(const char *path, const char *module)
{
	size_t length = strlen(module);

	if (!strchr(path, '/') || begins(path, "./", 2))
		return true;
	return length && begins(path, module, length) &&
	       (path[length] == '/' || path[length] == '.');
}

bool image_go_owns(struct image *o, const char *path)
{
	const char *root = root_of(o);

	if (!root)
		return true;
	if (is_of_others(path))
		return false;
	if (*root)
		return !begins(path, root, strlen(root));
	return *path == '/' || is_of_module(path, image_go_module(o));
}
