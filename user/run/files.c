// SPDX-License-Identifier: BSD-3-Clause
/* The registry of files; see files.h. What is made of a file is in mappings.c, unwinder.c, calls.c
 * and places.c. */
#include "run/files.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/text/paths.h"
#include "run/options.h"
#include "symbols/elf/openfile.h"

int files_init(struct files *f, struct error *e)
{
	f->scope = (struct scope){f->o->sources.items, f->o->sources.n, f->o->binaries.items,
	    f->o->binaries.n, f->o->granularity};
	if (line_map_init(&f->lines))
		return error_set(e, EXIT_OTHER, "out of memory");
	f->lines.inclusive = f->o->inclusive;
	return 0;
}

static struct file *add(struct files *f, const struct file *what)
{
	struct file **end = &f->all, *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	*file = *what;
	file->line_object = -1;
	file->path = strdup(what->path);
	file->file = strdup(what->file);
	if (!file->path || !file->file) {
		free(file->path);
		free(file->file);
		free(file);
		return NULL;
	}
	file->number = 1;
	for (; *end; end = &(*end)->next)
		file->number = (*end)->number + 1;
	return *end = file;
}

struct file *files_numbered(const struct files *f, uint32_t number)
{
	struct file *file = f->all;

	while (file && file->number != number)
		file = file->next;
	return file;
}

static struct file *find(const struct files *f, uint64_t dev, uint64_t ino, const char *path)
{
	struct file *file = f->all;

	while (file && (file->dev != dev || file->ino != ino || strcmp(file->path, path)))
		file = file->next;
	return file;
}

/* A process may have ended, and its way to the file with it. */
static void set_way(struct file *file, int pid, const char *way)
{
	char *copy;

	if (file->pid == pid && !strcmp(file->file, way))
		return;
	copy = strdup(way);
	if (!copy)
		return;
	free(file->file);
	file->file = copy;
	file->pid = pid;
}

struct file *files_mapped(struct files *f, int pid, const struct map_entry *m)
{
	struct file *file = find(f, m->dev, m->ino, m->path);
	struct file what = {.dev = m->dev,
	    .ino = m->ino,
	    .path = (char *)m->path,
	    .file = (char *)m->file,
	    .pid = pid};

	if (!file)
		return add(f, &what);
	set_way(file, pid, m->file);
	return file;
}

struct file *files_named(struct files *f, int pid, const char *path, const char *way)
{
	struct file *file = find(f, 0, 0, path);
	struct file what = {.path = (char *)path, .file = (char *)way, .pid = pid};

	if (!file)
		return add(f, &what);
	set_way(file, pid, way);
	return file;
}

int files_set_program(struct files *f, struct file *file, const char *name, struct error *e)
{
	file->is_program = true;
	if (file->name)
		return 0;
	file->name = strdup(name);
	if (!file->name || line_map_rename(&f->lines, path_base(file->path), name))
		return error_set(e, EXIT_OTHER, "out of memory");
	return 0;
}

const char *files_name(const struct file *file)
{
	return file->name ? file->name : path_base(file->path);
}

void files_root(const struct file *file, char *ret, size_t size)
{
	*ret = 0;
	if (file->pid)
		maps_root(file->pid, ret, size);
}

static bool identify(const struct file *file, struct file_id *ret)
{
	struct statfs fs;
	struct stat st;
	char root[64];
	bool found;
	int fd;

	files_root(file, root, sizeof(root));
	fd = file_find(root, file->file);
	found = fd >= 0 && !fstat(fd, &st);
	if (found)
		*ret = (struct file_id){st.st_dev, st.st_ino,
		    !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC, st.st_size,
		    st.st_ctim};
	if (fd >= 0)
		close(fd);
	return found;
}

static bool is_same(const struct file_id *a, const struct file_id *b)
{
	if (a->ino != b->ino)
		return false;
	return a->dev == b->dev || (a->is_overlay && b->is_overlay && a->size == b->size &&
				       a->changed.tv_sec == b->changed.tv_sec &&
				       a->changed.tv_nsec == b->changed.tv_nsec);
}

/* NULL: stat() does not find it. */
static struct file *first_of(struct files *f, struct file *file)
{
	if (file->first || !identify(file, &file->id))
		return file->first;
	file->first = file;
	for (struct file *other = f->all; other; other = other->next) {
		if (other->first == other && other != file && is_same(&other->id, &file->id)) {
			file->first = other;
			break;
		}
	}
	return file->first;
}

/* What another record of the same file has open will do, if it goes by the same path: messages and
 * scopes have the path. */
static struct object *find_open(struct files *f, struct file *file)
{
	struct file *first = first_of(f, file);

	for (struct file *other = first ? f->all : NULL; other; other = other->next)
		if (other->object && other->first == first && other->id.dev == file->id.dev &&
		    !strcmp(other->path, file->path))
			return other->object;
	return NULL;
}

/* A path may lead elsewhere by the time that the file is opened. Some file systems (overlay, btrfs)
 * show other device numbers to stat() than in maps; those have no major number. */
static int check_same(const struct file *file, const struct object *o, struct error *e)
{
	struct line_object id = object_identity(o);

	if (!file->ino ||
	    (file->ino == id.ino && (file->dev == id.dev || (!major(file->dev) && !major(id.dev)))))
		return 0;
	error_set(e, EXIT_FORBIDDEN, "'%s' is another file than process %d has mapped", file->path,
	    file->pid);
	return error_hint(e, "restart the process");
}

/* Names are fetched for what is in scope. */
static int open_object(
    const struct files *f, const struct file *file, struct object **ret, struct error *e)
{
	char root[64];
	bool is_main = file->is_program || !strcmp(file->path, f->main_path);
	struct object_place place = {
	    file->file, file->path, root, scope_has_binary(&f->scope, file->path, is_main)};

	files_root(file, root, sizeof(root));
	return object_open_at(&place, ret, e);
}

int files_open(struct files *f, struct file *file, struct object **ret, struct error *e)
{
	struct object *open = file->object ? file->object : find_open(f, file), *o = open;

	if (!o && open_object(f, file, &o, e))
		return -1;
	if (check_same(file, o, e)) {
		if (!open)
			object_close(o);
		return -1;
	}
	if (!open)
		file->object = o;
	*ret = o;
	return 0;
}

struct file *files_main(const struct files *f)
{
	struct file *file = f->main_object ? f->all : NULL;

	while (file && file->object != f->main_object)
		file = file->next;
	return file;
}

void files_close(struct files *f)
{
	for (struct file *file = f->all; file; file = file->next) {
		if (file->object == f->main_object)
			continue;
		object_close(file->object);
		file->object = NULL;
	}
}

bool files_has_place(struct files *f, struct file *file, const void *place)
{
	const struct file *first = first_of(f, file);

	for (size_t i = 0; first && i < first->n_places; i++)
		if (first->places[i] == place)
			return true;
	return !first;
}

int files_add_place(struct files *f, struct file *file, const void *place, struct error *e)
{
	struct file *first = first_of(f, file);
	const void **bigger;

	if (!first || files_has_place(f, first, place))
		return 0;
	bigger = realloc(first->places, (first->n_places + 1) * sizeof(*bigger));
	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	first->places = bigger;
	bigger[first->n_places++] = place;
	return 0;
}

int files_fail_no_lines(const struct files *f, struct error *e)
{
	struct source_file *files = NULL;
	char names[600] = "";
	size_t n = 0;

	if (object_source_files(f->main_object, &f->scope, &files, &n, e))
		return -1;
	for (size_t i = 0; i < n && i < 4; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s'%.120s'",
		    i ? ", " : "", files[i].path);
	error_set(e, EXIT_NO_RESULT, "no line of '%s' is in scope", f->main_path);
	if (n)
		error_hint(e,
		    "its %zu source files are %s%s; choose with -s PATTERN (%% is the wildcard), "
		    "see `cozbpf lines %s`",
		    n, names, n > 4 ? " and others" : "", f->main_path);
	else
		error_hint(e, "build it with -g, or give --granularity function");
	source_files_free(files, n);
	return -1;
}

void files_deinit(struct files *f)
{
	while (f->all) {
		struct file *next = f->all->next;

		object_close(f->all->object);
		free(f->all->path);
		free(f->all->name);
		free(f->all->file);
		free(f->all->places);
		free(f->all);
		f->all = next;
	}
	f->main_object = NULL;
	line_map_deinit(&f->lines);
}
