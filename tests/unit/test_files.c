// SPDX-License-Identifier: BSD-3-Clause
/* The registry of mapped files: which records are one file, when a file is opened. */
#include "check.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/files.h"
#include "run/options.h"

static char itself[PATH_MAX];

static void init(struct files *f, struct run_options *o)
{
	ssize_t n = readlink("/proc/self/exe", itself, sizeof(itself) - 1);
	struct error e = {0};

	CHECK(n > 0);
	itself[n > 0 ? n : 0] = 0;
	*o = (struct run_options){0};
	*f = (struct files){.o = o, .main_path = itself};
	CHECK_EQ(files_init(f, &e), 0);
}

static struct map_entry mapping(uint64_t dev, uint64_t ino, const char *path)
{
	struct map_entry m = {.dev = dev, .ino = ino};

	snprintf(m.path, sizeof(m.path), "%s", path);
	snprintf(m.file, sizeof(m.file), "%s", path);
	return m;
}

/* Device, inode and path together are a record's identity; the way to the file is not. */
TEST(records)
{
	struct map_entry a = mapping(1, 2, "/a"), b = mapping(1, 3, "/a"), c = mapping(1, 2, "/c");
	struct run_options o;
	struct files f;
	struct file *file;

	init(&f, &o);
	file = files_mapped(&f, 10, &a);
	snprintf(a.file, sizeof(a.file), "/proc/11/root/a");
	CHECK(files_mapped(&f, 11, &a) == file);
	CHECK_STR(file->file, "/proc/11/root/a");
	CHECK_EQ(file->pid, 11);
	CHECK(files_mapped(&f, 10, &b) != file);
	CHECK(files_mapped(&f, 10, &c) != file);
	CHECK(files_named(&f, 0, "/a", "/a") != file);
	CHECK(files_named(&f, 0, "/a", "/a") == files_named(&f, 0, "/a", "/a"));
	files_deinit(&f);
}

/* A probe goes to a file once, whatever names it has. */
TEST(places)
{
	char other[sizeof(itself) + 8];
	int place, elsewhere;
	struct run_options o;
	struct error e = {0};
	struct files f;
	struct file *named, *linked, *gone;
	struct map_entry m;

	init(&f, &o);
	snprintf(other, sizeof(other), "%s.link", itself);
	unlink(other); /* an earlier run may have been killed */
	CHECK_EQ(symlink(itself, other), 0);
	m = mapping(1, 2, other);
	named = files_named(&f, 0, itself, itself);
	linked = files_mapped(&f, 0, &m);
	CHECK(!files_has_place(&f, linked, &place));
	CHECK_EQ(files_add_place(&f, named, &place, &e), 0);
	CHECK(files_has_place(&f, linked, &place));
	CHECK(!files_has_place(&f, linked, &elsewhere));
	unlink(other);
	m = mapping(1, 4, other);
	gone = files_mapped(&f, 0, &m);
	CHECK(files_has_place(&f, gone, &place));
	CHECK(files_has_place(&f, gone, &elsewhere));
	files_deinit(&f);
}

/* As maps has it. */
static struct map_entry real_mapping(const char *path)
{
	struct map_entry m = mapping(0, 0, path);
	struct stat st;

	CHECK_EQ(stat(path, &st), 0);
	m.dev = st.st_dev;
	m.ino = st.st_ino;
	return m;
}

/* The main object stays open, and serves the mapping of the same file by the same path. */
TEST(opened_once)
{
	struct object *main = NULL, *o = NULL;
	struct run_options options;
	struct error e = {0};
	struct files f;
	struct file *mapped;
	struct map_entry m;

	init(&f, &options);
	CHECK_EQ(files_open(&f, files_named(&f, 0, itself, itself), &main, &e), 0);
	f.main_object = main;
	m = real_mapping(itself);
	mapped = files_mapped(&f, 0, &m);
	CHECK_EQ(files_open(&f, mapped, &o, &e), 0);
	CHECK(o == main);
	m = real_mapping("/proc/self/exe");
	mapped = files_mapped(&f, 0, &m);
	CHECK_EQ(files_open(&f, mapped, &o, &e), 0);
	CHECK(o != main);
	CHECK_STR(object_path(o), "/proc/self/exe");
	files_close(&f);
	CHECK(!mapped->object);
	CHECK(files_main(&f) && files_main(&f)->object == main);
	m = mapping(1, 5, "/nowhere");
	CHECK_EQ(files_open(&f, files_mapped(&f, 0, &m), &o, &e), -1);
	files_deinit(&f);
}

/* A link that leads elsewhere since the file was mapped. */
TEST(swapped)
{
	char link[PATH_MAX + 16];
	struct run_options options;
	struct object *o = NULL;
	struct error e = {0};
	struct map_entry m;
	struct files f;
	struct stat st, opened;
	struct file *file;

	init(&f, &options);
	snprintf(link, sizeof(link), "%s.swapped", itself);
	unlink(link);
	CHECK_EQ(symlink(itself, link), 0);
	m = real_mapping(link);
	file = files_mapped(&f, 0, &m);
	CHECK_EQ(files_open(&f, file, &o, &e), 0);
	unlink(link);
	CHECK_EQ(symlink("/bin/sh", link), 0);
	/* What is probed is the file that was read. */
	CHECK_EQ(stat(object_probe_path(o), &opened), 0);
	CHECK_EQ(stat(itself, &st), 0);
	CHECK_EQ(opened.st_ino, st.st_ino);
	files_close(&f);
	CHECK_EQ(files_open(&f, file, &o, &e), -1);
	CHECK_EQ(e.status, EXIT_FORBIDDEN);
	CHECK(strstr(e.cause, "another file"));
	unlink(link);
	files_deinit(&f);
}
