// SPDX-License-Identifier: BSD-3-Clause
/* See input_files.h. */
#include "cmd/input_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int add(struct input_files *f, const char *name, bool found, size_t size)
{
	struct input_file *v =
	    f->n & (f->n - 1) ? f->v : reallocarray(f->v, f->n ? 2 * f->n : 1, sizeof(*f->v));
	char *copy = strdup(name);

	if (v)
		f->v = v;
	if (!v || !copy) {
		free(copy);
		return -ENOMEM;
	}
	f->v[f->n].name = copy;
	f->v[f->n].found = found;
	f->v[f->n++].size = size;
	return 0;
}

/* What outfile.c leaves where it is killed. */
static bool is_part(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && !strcmp(name + n - 5, ".part");
}

static int add_found(struct input_files *f, const char *directory, const char *name)
{
	struct stat s;
	char *path;
	int err = 0;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return -ENOMEM;
	if (name[0] != '.' && !is_part(name) && !stat(path, &s) && S_ISREG(s.st_mode))
		err = add(f, path, true, (size_t)s.st_size);
	free(path);
	return err;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_directory(struct input_files *f, const char *name, struct error *e)
{
	struct dirent **entries = NULL;
	size_t before = f->n;
	int n = scandir(name, &entries, NULL, by_name), err = 0;

	if (n < 0)
		return error_set(e, EXIT_OTHER, "cannot read '%s': %s", name, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!err)
			err = add_found(f, name, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (err)
		return error_set(e, EXIT_OTHER, "out of memory");
	return f->n > before
		   ? 0
		   : error_set(e, EXIT_NO_RESULT, "no file is in the directory '%s'", name);
}

static int by_size(const void *a, const void *b)
{
	const struct input_file *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

int input_files_init(struct input_files *f, char **names, size_t n, size_t many, struct error *e)
{
	size_t all = 0;
	struct stat s;

	*f = (struct input_files){0};
	for (size_t i = 0; i < n; i++) {
		bool known = strcmp(names[i], "-") != 0 && !stat(names[i], &s);

		if (known && S_ISDIR(s.st_mode)) {
			if (add_directory(f, names[i], e))
				return -1;
		} else if (add(f, names[i], false,
			       known && S_ISREG(s.st_mode) ? (size_t)s.st_size : 0)) {
			return error_set(e, EXIT_OTHER, "out of memory");
		}
	}
	for (size_t i = 0; i < f->n; i++)
		all += f->v[i].size;
	if (all > many)
		qsort(f->v, f->n, sizeof(*f->v), by_size);
	return 0;
}

void input_files_deinit(struct input_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].name);
	free(f->v);
	*f = (struct input_files){0};
}

int input_check(FILE *in, const char *name, struct error *e)
{
	struct stat st, none;

	if (fstat(fileno(in), &st) || !S_ISCHR(st.st_mode) || isatty(fileno(in)))
		return 0;
	if (!stat("/dev/null", &none) && st.st_rdev == none.st_rdev)
		return 0;
	error_set(e, EXIT_OTHER, "cannot read '%s': it is a device", name);
	return error_hint(e, "name a file or a pipe");
}
