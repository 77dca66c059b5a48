// SPDX-License-Identifier: BSD-3-Clause
/* Programs that come while the target runs: what finds no room in the kernel's line table leaves
 * the line map again. The kernel side is a room for lines here. */
#include "check.h"

#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

#include "run/mappings.c"

static size_t room, told;

int session_add_lines(struct session *s, const struct line_map *lines, struct error *e)
{
	if (lines->n_lines > room)
		return error_set(e, EXIT_OTHER, "no room");
	told = lines->n_lines;
	return 0;
}

void session_set_ranges(
    struct session *s, uint32_t first, const struct line_range *ranges, size_t n)
{
}

int session_set_mappings(
    struct session *s, int pid, const struct cozbpf_mapping *mappings, size_t n)
{
	return 0;
}

bool session_is_asleep(const struct session *s)
{
	return false;
}

void console_say(const struct console *c, const char *format, ...)
{
}

bool calls_probe(struct files *f, int pid, const struct map_entry *maps, size_t n)
{
	return false;
}

void spins_probe(struct files *f, int pid, const struct map_entry *maps, size_t n)
{
}

void goroutines_probe(struct files *f, int pid, const struct map_entry *maps, size_t n)
{
}

bool hot_may_look(const struct files *f)
{
	return false;
}

void hot_look(struct files *f)
{
}

size_t jit_mappings(struct files *f, int pid, const struct map_entry *all, size_t n,
    struct cozbpf_mapping *ret, size_t most)
{
	return 0;
}

void unwinder_slice(struct files *f, struct file *file, struct cozbpf_mapping *ret)
{
}

/* This program, seen for the first time. */
static int read_itself(struct files *f, struct file **ret, struct error *e)
{
	static char itself[PATH_MAX];
	int err;

	CHECK(readlink("/proc/self/exe", itself, sizeof(itself) - 1) > 0);
	f->main_path = itself;
	CHECK_EQ(files_init(f, e), 0);
	f->scope.granularity = GRANULARITY_FUNCTION;
	*ret = files_named(f, 0, itself, itself);
	err = mappings_read_program(f, getpid(), *ret, e);
	files_close(f);
	return err;
}

TEST(program_that_joins)
{
	struct run_options o = {0};
	struct files f = {.o = &o, .session = (struct session *)&o};
	struct error e = {0};
	struct file *file;

	room = SIZE_MAX;
	CHECK_EQ(read_itself(&f, &file, &e), 0);
	CHECK_EQ(file->line_object, 0);
	CHECK(f.lines.n_lines > 1);
	CHECK_EQ(told, f.lines.n_lines);
	CHECK(!f.is_full);
	files_deinit(&f);
}

TEST(program_without_room)
{
	struct run_options o = {0};
	struct files f = {.o = &o, .session = (struct session *)&o};
	struct error e = {0};
	struct file *file;

	room = 2;
	CHECK_EQ(read_itself(&f, &file, &e), -1);
	CHECK(strstr(e.cause, "no room for its "));
	CHECK_EQ(file->line_object, -1);
	CHECK_EQ(f.lines.n_objects, 0);
	CHECK(f.lines.n_lines <= room);
	/* It is not read again for the next process that runs it. */
	CHECK_EQ(mappings_read_program(&f, getpid(), file, &e), -1);
	CHECK_STR(e.cause, "the line table is full");
	files_close(&f);
	files_deinit(&f);
}

/* Before the session is there nobody has to be told. */
TEST(program_at_the_start)
{
	struct run_options o = {0};
	struct files f = {.o = &o};
	struct error e = {0};
	struct file *file;

	room = told = 0;
	CHECK_EQ(read_itself(&f, &file, &e), 0);
	CHECK_EQ(file->line_object, 0);
	CHECK_EQ(told, 0);
	files_deinit(&f);
}
