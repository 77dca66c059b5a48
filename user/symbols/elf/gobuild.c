// SPDX-License-Identifier: BSD-3-Clause
/* How a Go program was built: version and module, from .go.buildinfo (debug/buildinfo tells its
 * forms). */
#include <stdlib.h>

#include "symbols/elf/goimage.h"
#include "symbols/elf/image.h"

#define MAGIC "\xff Go buildinf:"
#define FLAGS 15          /* offset of the flags */
#define FLAG_BIG 1        /* big-endian pointers: another machine's */
#define FLAG_INLINE 2     /* Go 1.18 and later: the texts follow */
#define TEXTS 32          /* offset of the texts */
#define MAX_VERSION 256   /* bytes */
#define MAX_DETAILS 65536 /* bytes */
#define SENTINEL 16       /* bytes around the details, which tell them from other data */

/* A text of @size bytes; NULL: there is none, or it is too long. */
static char *copy_text(struct reader r, uint64_t size, uint64_t max)
{
	return r.bad || !size || size > max || size > reader_left(&r)
		   ? NULL
		   : strndup((const char *)r.p, size);
}

/* The texts stand behind the header, each behind its length. */
static void read_inline(struct bytes b, char **version, char **details)
{
	struct reader r = reader_at(b, TEXTS, b.size > TEXTS ? b.size - TEXTS : 0);
	uint64_t size = read_uleb(&r);

	*version = copy_text(r, size, MAX_VERSION);
	read_skip(&r, size);
	size = read_uleb(&r);
	*details = copy_text(r, size, MAX_DETAILS);
}

/* Two pointers to strings of Go: address and length. */
static char *read_string_at(const struct image *o, uint64_t addr, uint64_t max)
{
	uint64_t text = go_pointer_at(o, addr);
	struct bytes size = go_data_at(o, addr + 8), b = go_data_at(o, text);
	struct reader r = reader_at(size, 0, 8);
	uint64_t length = read_u64(&r);

	return r.bad || !b.data ? NULL : copy_text(reader_at(b, 0, b.size), length, max);
}

static void read_pointed(
    const struct image *o, struct bytes b, uint64_t addr, char **version, char **details)
{
	if (b.size < TEXTS || !addr)
		return;
	*version = read_string_at(o, go_pointer_at(o, addr + 16), MAX_VERSION);
	*details = read_string_at(o, go_pointer_at(o, addr + 24), MAX_DETAILS);
}

/* What follows "KEY\t" at the start of a line, up to the next tab. */
static char *field(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && line[length] == '\t')
			return strndup(line + length + 1, strcspn(line + length + 1, "\t\n"));
	}
	return NULL;
}

/* Without modules: "example.com/owner/name" of "example.com/owner/name/cmd", "name" of "name/cmd".
 */
static char *module_of_path(char *path)
{
	int parts = strcspn(path, ".") < strcspn(path, "/") ? 3 : 1;
	char *end = path;

	while (parts-- && (end = strchr(end, '/')) && parts)
		end++;
	if (end)
		*end = 0;
	return path;
}

static char *module_of(const char *details)
{
	char *module, *path;

	if (strlen(details) < SENTINEL)
		return NULL;
	/* The sentinel has no zero bytes, and ends where the first line begins. */
	details += SENTINEL;
	module = field(details, "mod");
	path = module ? NULL : field(details, "path");
	return path ? module_of_path(path) : module;
}

static void load_build(struct image *o, struct go_state *go)
{
	struct bytes b = go_find_build(o);
	char *details = NULL;
	uint64_t addr = 0;
	uint8_t flags;

	go->build_loaded = true;
	if (!b.data || b.size <= FLAGS || memcmp(b.data, MAGIC, strlen(MAGIC)))
		return;
	flags = b.data[FLAGS];
	if (flags & FLAG_INLINE)
		read_inline(b, &go->version, &details);
	else if (!(flags & FLAG_BIG) && elf_section_addr(o->main.elf, ".go.buildinfo", &addr))
		read_pointed(o, b, addr, &go->version, &details);
	go->module = details ? module_of(details) : NULL;
	free(details);
}

static struct go_state *built(struct image *o)
{
	struct go_state *go = go_state_of(o);

	if (go && !go->build_loaded)
		load_build(o, go);
	return go;
}

const char *image_go_version(struct image *o)
{
	const struct go_state *go = built(o);

	return go && go->version ? go->version : "";
}

const char *image_go_module(struct image *o)
{
	const struct go_state *go = built(o);

	return go && go->module ? go->module : "";
}

unsigned go_minor(const char *version)
{
	const char *digits = version + 4;
	unsigned long minor;
	char *end;

	if (strncmp(version, "go1.", 4) || *digits < '1' || *digits > '9')
		return 0;
	minor = strtoul(digits, &end, 10);
	/* "go1.23", "go1.23.4", "go1.23rc1", "go1.23.4 X:experiment", "go1.23.4-vendor" */
	return minor < 1000 && (!*end || strchr(". -rb+", *end)) ? (unsigned)minor : 0;
}
