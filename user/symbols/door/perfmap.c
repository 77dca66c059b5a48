// SPDX-License-Identifier: BSD-3-Clause
/* Asks a reader for the functions of a perf map. */
#include <stdlib.h>
#include <unistd.h>

#include "core/places/perfmap.h"
#include "symbols/door/object.h"

/* Bytes: of a longer map the last ones. */
#define MAX_TEXT (16 << 20)
#define MAX_MEMORY (1 << 30)
#define MAX_CPU_S 10

struct asked {
	int fd;
	uint64_t size; /* of the whole file */
};

static size_t read_end(const struct asked *a, char *text, size_t size)
{
	off_t from = a->size > size ? (off_t)(a->size - size) : 0;
	size_t used = 0;
	ssize_t n;

	while (used < size && (n = pread(a->fd, text + used, size - used, from + (off_t)used)) > 0)
		used += (size_t)n;
	return used;
}

/* In the reader. What the beginning of the text may be cut off of is no line, or a shorter one. */
static int work(void *arg, struct out *out, struct error *e)
{
	const struct asked *a = arg;
	size_t size = a->size < MAX_TEXT ? (size_t)a->size : MAX_TEXT, skip = 0;
	char *text = malloc(size + 1);
	struct line_map map;
	int err = -1;

	if (!text || line_map_init(&map)) {
		free(text);
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	size = read_end(a, text, size);
	while (a->size > MAX_TEXT && skip < size && text[skip++] != '\n')
		;
	if (perf_map_parse(text + skip, size - skip, &map))
		error_set(e, EXIT_OTHER, "out of memory");
	else
		err = put_units(out, &map, map.n_lines - 1, e);
	line_map_deinit(&map);
	free(text);
	return err;
}

static bool is_to_stop(void *ctx)
{
	(void)ctx;
	return reading_is_to_stop();
}

int perf_map_read(int fd, uint64_t size, const char *path, struct line_map *ret, struct error *e)
{
	const struct line_object object = {.path = (char *)PERF_MAP_MODULE};
	struct asked a = {fd, size};
	const struct sandbox s = {.what = path,
	    .files = &fd,
	    .n_files = 1,
	    .bytes = MAX_TEXT,
	    .stop = is_to_stop,
	    .cpu_s = MAX_CPU_S,
	    .memory = MAX_MEMORY};
	struct line_range *ranges;
	struct in in;
	size_t n, n_units;
	bool good;
	int err = -1;

	if (sandbox_run(&s, work, &a, &in, e))
		return -1;
	ranges = get_units(&in, UNITS_FUNCTIONS, ret, &n, &n_units);
	good = in_is_whole(&in);
	in_free(&in);
	if (!good)
		sandbox_distrust(path, e);
	else if (line_map_add_object(ret, &object, ranges, n))
		error_set(e, EXIT_OTHER, "out of memory");
	else
		err = 0;
	free(ranges);
	return err;
}
