// SPDX-License-Identifier: BSD-3-Clause
/*
 * Finds the separate debug file of a stripped object: by build id, then by .gnu_debuglink. What is
 * not installed may be fetched, by the door's asker. A file that does not belong to the object is
 * never taken.
 *
 * libdwfl's search (dwfl_standard_find_debuginfo) cannot do this for files of a hostile target;
 * each fault was tried. Without build id and link it takes any NAME.debug, and a FIFO of that name
 * blocks it. Where DEBUGINFOD_URLS is set, it asks the network, as root and without a time limit.
 */
#include "symbols/elf/image.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwelf.h>

#define FETCHED_NAME (sizeof(FETCHED_FILE) + 2 * 20)

/* CRC-32 (the polynomial of zlib and of .gnu_debuglink) of the whole file. */
static uint32_t file_crc(Elf *elf)
{
	uint32_t table[256], crc = 0xffffffff;
	size_t size;
	const char *data = elf_rawfile(elf, &size);

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (size_t i = 0; data && i < size; i++)
		crc = table[(crc ^ (uint8_t)data[i]) & 0xff] ^ (crc >> 8);
	return ~crc;
}

/* Whether @elf is the debug file of @o: the build ids decide when both have one, else the link's
 * checksum. */
static bool belongs(const struct image *o, Elf *elf, bool have_crc, uint32_t crc)
{
	uint8_t id[20];
	uint32_t len = elf_build_id(elf, id);

	if (len && o->build_id_len)
		return len == o->build_id_len && !memcmp(id, o->build_id, len);
	return have_crc && file_crc(elf) == crc;
}

/* Opens the file that the format names, if it is there and belongs. True ends the search. */
static bool try_file(struct image *o, bool have_crc, uint32_t crc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool try_file(struct image *o, bool have_crc, uint32_t crc, const char *format, ...)
{
	char path[PATH_MAX], why[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(path) ||
	    elf_file_open(&o->debug, o->root, path, false, why, sizeof(why)))
		return false;
	if (belongs(o, o->debug.elf, have_crc, crc) && (o->debug_path = strdup(path)))
		return true;
	elf_file_close(&o->debug);
	if (!o->debug_note &&
	    asprintf(&o->debug_note, "debug file '%s' is not of this build", path) < 0)
		o->debug_note = NULL;
	return false;
}

bool build_id_file(const struct image *o, char file[BUILD_ID_FILE])
{
	size_t len = 0;

	if (o->build_id_len < 2)
		return false;
	for (uint32_t i = 0; i < o->build_id_len; i++)
		len += (size_t)sprintf(file + len, i == 0 ? "%02x/" : "%02x", o->build_id[i]);
	strcpy(file + len, ".debug");
	return true;
}

static bool try_build_id(struct image *o)
{
	char file[BUILD_ID_FILE];

	if (!build_id_file(o, file))
		return false;
	if (try_file(o, false, 0, "%s%s/%s", o->root, BUILD_ID_DIR, file))
		return true;
	/* The build id proves that the build is the same. So the host's copy serves for a
	 * container's program. */
	return *o->root && try_file(o, false, 0, "%s/%s", BUILD_ID_DIR, file);
}

/* The object's directory as the target sees it, without the root. A reader cannot look where links
 * lead, and is told. */
static void image_directory(const struct image *o, char dir[PATH_MAX])
{
	size_t root_len = strlen(o->root);
	char *slash;

	/* Links below a root are not followed: an absolute link would lead out of the root. */
	if (root_len && !strncmp(o->path, o->root, root_len))
		snprintf(dir, PATH_MAX, "%s", o->path + root_len);
	else
		snprintf(dir, PATH_MAX, "%s", !root_len && o->real_path ? o->real_path : o->path);
	slash = strrchr(dir, '/');
	if (slash)
		*slash = 0;
	else
		strcpy(dir, ".");
}

static bool try_link(struct image *o)
{
	char dir[PATH_MAX];
	GElf_Word crc = 0;
	const char *link = dwelf_elf_gnu_debuglink(o->main.elf, &crc);

	/* A link is a plain file name. A link with a '/' could lead elsewhere. */
	if (!link || !*link || strchr(link, '/'))
		return false;
	image_directory(o, dir);
	return try_file(o, true, crc, "%s%s/%s", o->root, dir, link) ||
	       try_file(o, true, crc, "%s%s/.debug/%s", o->root, dir, link) ||
	       try_file(o, true, crc, "%s/usr/lib/debug%s/%s", o->root, dir, link);
}

/* Name of the file to be fetched for a build id; false: nobody fetches, or it is no build id. */
static bool fetched_name(
    const struct image *o, const uint8_t *id, size_t len, char ret[FETCHED_NAME])
{
	char *end = stpcpy(ret, FETCHED_FILE);

	if (!o->fetches || !len || len > sizeof(o->build_id))
		return false;
	for (size_t i = 0; i < len; i++)
		end += sprintf(end, "%02x", id[i]);
	return true;
}

static bool try_fetched(struct image *o)
{
	char name[FETCHED_NAME];

	return fetched_name(o, o->build_id, o->build_id_len, name) &&
	       try_file(o, false, 0, "%s", name);
}

void debug_file_find(struct image *o)
{
	if (!try_build_id(o) && !try_link(o))
		try_fetched(o);
}

/* Opens dwz's file if it has that build id. */
static bool try_alt(struct image *o, const char *path, const uint8_t *id, size_t id_len)
{
	uint8_t found[20];
	uint32_t len;
	char why[256];

	if (elf_file_open(&o->alt, o->root, path, true, why, sizeof(why)))
		return false;
	len = elf_build_id(o->alt.elf, found);
	if (len && len == id_len && !memcmp(found, id, len) && (o->alt_path = strdup(path)))
		return true;
	elf_file_close(&o->alt);
	return false;
}

/* Where the link of @of leads; false: nowhere, as from a file that was fetched. */
static bool alt_path(const struct image *o, const char *of, const char *link, char ret[PATH_MAX])
{
	const char *root = o->debug_path || !strncmp(of, o->root, strlen(o->root)) ? "" : o->root,
		   *slash = strrchr(of, '/');
	int written;

	if (*link == '/')
		written = snprintf(ret, PATH_MAX, "%s%s", o->root, link);
	else if (!strncmp(of, FETCHED_FILE, strlen(FETCHED_FILE)))
		return false;
	else
		written = snprintf(
		    ret, PATH_MAX, "%s%.*s%s", root, slash ? (int)(slash + 1 - of) : 0, of, link);
	return written >= 0 && written < PATH_MAX;
}

/* Section .gnu_debugaltlink: a path, absolute or from the file's directory, and a build id. */
bool alt_file_find(struct image *o, Elf *elf)
{
	struct bytes section = elf_section(elf, ".gnu_debugaltlink");
	const char *link = string_at(section, 0);
	char path[PATH_MAX], name[FETCHED_NAME];
	const uint8_t *id;
	size_t len;

	if (!link || !*link)
		return false;
	id = section.data + strlen(link) + 1;
	len = section.size - strlen(link) - 1;
	if (alt_path(o, o->debug_path ? o->debug_path : o->path, link, path) &&
	    try_alt(o, path, id, len))
		return true;
	return fetched_name(o, id, len, name) && try_alt(o, name, id, len);
}
