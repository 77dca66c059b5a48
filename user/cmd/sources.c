// SPDX-License-Identifier: BSD-3-Clause
/* Reads the source files that a profile names; see sources.h. user/report/html_sources.c chooses
 * what is shown. */
#include "cmd/sources.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/paths.h"
#include "symbols/elf/openfile.h"

#define SOURCE_MAX (4UL << 20) /* bytes of a file; the largest generated sources have some 3 MB */
#define TOTAL_MAX (64UL << 20) /* bytes of all files */
#define FILES_MAX 2000

static bool is_source_name(const char *file)
{
	static const char *const suffixes[] = {"c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx",
	    "c++", "h++", "C", "H", "inc", "inl", "ipp", "tcc", "def", "s", "S", "asm", "rs", "go",
	    "zig", "d", "f", "f90", "f95", "f03", "for", "F", "F90", "adb", "ads", "pas", "swift",
	    "nim", "cr", "v", "odin", "jl", "hs", "ml", "mli", "m", "mm", "cu", "cuh", "y", "yy",
	    "l", "ll", "re", "pyx", "java", "kt", "scala", "cs", "js", "ts", "py", "rb", "php",
	    "lua", "vala"};
	const char *dot = strrchr(path_base(file), '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (!strcmp(dot + 1, suffixes[i]))
			return true;
	}
	return false;
}

/* When the profile's last run began; 0: unknown. */
static time_t started(const struct profile *p)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].startup_time_ns > ret)
			ret = p->runs[i].startup_time_ns;
	}
	return (time_t)(ret / 1000000000);
}

/* NULL where the file may not or cannot be read. */
static char *read_text(const char *path, size_t *ret_size, time_t *ret_changed)
{
	char why[256];
	int fd = file_open("", path, why, sizeof(why));
	struct stat st;
	size_t size = 0;
	ssize_t got = 0;
	char *ret = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (uint64_t)st.st_size <= SOURCE_MAX)
		ret = malloc((size_t)st.st_size);
	while (ret && size < (size_t)st.st_size &&
	       (got = read(fd, ret + size, (size_t)st.st_size - size)) > 0)
		size += (size_t)got;
	close(fd);
	if (ret && (got < 0 || !size || memchr(ret, 0, size))) {
		free(ret);
		return NULL;
	}
	if (ret) {
		*ret_size = size;
		*ret_changed = st.st_mtime;
	}
	return ret;
}

static char *find_text(const char *file, const char *profile, size_t *ret_size, time_t *ret_changed)
{
	size_t directory = (size_t)(path_base(profile) - profile);
	char path[PATH_MAX];
	char *ret = read_text(file, ret_size, ret_changed);

	if (ret || file[0] == '/' || !directory || directory + strlen(file) >= sizeof(path))
		return ret;
	snprintf(path, sizeof(path), "%.*s%s", (int)directory, profile, file);
	return read_text(path, ret_size, ret_changed);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The different readable files of the lines of @e. The caller frees the array and its strings.
 * Returns 0 or -ENOMEM. */
static int find_files(const struct estimate *e, char ***ret, size_t *ret_n)
{
	size_t n = e->n_lines < HTML_MAX_SERIES ? e->n_lines : HTML_MAX_SERIES, all = 0, kept = 0;
	char **files = calloc(n + 1, sizeof(*files));
	int err = files ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		size_t number, length = path_of_line(e->lines[i].line, &number);

		if (!length)
			continue;
		files[all] = strndup(e->lines[i].line, length);
		if (!files[all])
			err = -ENOMEM;
		else
			all++;
	}
	if (all)
		qsort(files, all, sizeof(*files), compare_strings);
	for (size_t i = 0; i < all; i++) {
		if (kept < FILES_MAX && is_source_name(files[i]) &&
		    (!kept || strcmp(files[i], files[kept - 1])))
			files[kept++] = files[i];
		else
			free(files[i]);
	}
	*ret = files;
	*ret_n = kept;
	return err;
}

int sources_read(
    struct sources *s, const struct estimate *e, const struct profile *p, const char *profile)
{
	size_t n = 0, total = 0;
	char **files = NULL;
	int ret = find_files(e, &files, &n);
	time_t start = started(p);

	s->n = 0;
	s->items = ret ? NULL : calloc(n + 1, sizeof(*s->items));
	if (!s->items)
		ret = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t size;
		time_t changed;
		char *text = ret || total >= TOTAL_MAX
				 ? NULL
				 : find_text(files[i], profile, &size, &changed);

		if (!text) {
			free(files[i]);
			continue;
		}
		total += size;
		s->items[s->n++] =
		    (struct html_source){files[i], text, size, start && changed > start};
	}
	free(files);
	return ret;
}

void sources_deinit(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free((char *)s->items[i].file);
		free((char *)s->items[i].text);
	}
	free(s->items);
}
