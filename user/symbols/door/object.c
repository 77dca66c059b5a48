// SPDX-License-Identifier: BSD-3-Clause
/* Opens an object's files, keeps them open, and asks readers about them; see object.h. We never
 * look into a file ourselves. */
#include "symbols/door/object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf/openfile.h"

#define PATH_SIZE (2 * PATH_MAX)
/* Candidates for debug file and dwz's file: elf/debugfile.c names eight at most. */
#define MAX_CANDIDATES 16

static bool (*stop_wanted)(void);
static debug_file_fetch *fetch_file;
static void *fetch_ctx;

void debug_files_from(debug_file_fetch *fetch, void *ctx)
{
	fetch_file = fetch;
	fetch_ctx = ctx;
}

void reading_stops_when(bool (*wanted)(void))
{
	stop_wanted = wanted;
}

bool reading_is_to_stop(void)
{
	return stop_wanted && stop_wanted();
}

bool reading_is_filtered(void)
{
	return !sandbox_is_unfiltered();
}

static void release(struct held_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = (struct held_file){.fd = -1};
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
}

/* A reading, on our side. */
struct asking {
	const struct object *o;
	const struct question *q;
	/* While the object is opened: what the reader asked for, and NULL afterwards. */
	struct held_file *candidates;
	size_t n_candidates;
	unsigned n_fetched;
};

static void keep_candidate(struct asking *a, int fd, const char *path)
{
	struct held_file f = {fcntl(fd, F_DUPFD_CLOEXEC, 0), size_of(fd), strdup(path)};

	if (a->n_candidates == MAX_CANDIDATES || f.fd < 0 || !f.path)
		release(&f);
	else
		a->candidates[a->n_candidates++] = f;
}

static bool is_build_id(const char *text)
{
	size_t n = strlen(text);

	return n && n % 2 == 0 && n <= 2 * 20 && strspn(text, "0123456789abcdef") == n;
}

/* Only while the object is opened: its debug file, and dwz's. */
static int fetch_for_reader(struct asking *a, const char *id, char *why, size_t size)
{
	bool may = fetch_file && a->o->fetches && a->candidates && a->n_fetched < 2;
	int fd = -1;

	snprintf(why, size, "nobody has it");
	if (may && is_build_id(id)) {
		a->n_fetched++;
		fd = fetch_file(fetch_ctx, id, a->o->path);
	}
	if (fd >= 0 && file_check(fd, why, size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A reader may have been taken over: it gets no file that it has no use for. */
static int open_for_reader(void *ctx, const char *path, char *why, size_t size)
{
	const size_t prefix = strlen(FETCHED_FILE);
	struct asking *a = ctx;
	int fd = strncmp(path, FETCHED_FILE, prefix)
		     ? file_open(a->o->root, path, why, size)
		     : fetch_for_reader(a, path + prefix, why, size);
	char magic[4];

	if (fd >= 0 && (pread(fd, magic, 4, 0) != 4 || memcmp(magic, "\177ELF", 4))) {
		snprintf(why, size, "it is not an ELF file");
		close(fd);
		fd = -1;
	}
	if (fd >= 0 && a->q->opens)
		*a->q->opens = true;
	if (fd >= 0 && a->candidates)
		keep_candidate(a, fd, path);
	return fd;
}

static bool is_to_stop(void *ctx)
{
	const struct asking *a = ctx;

	if (a->q->stop)
		return __atomic_load_n(a->q->stop, __ATOMIC_RELAXED);
	return reading_is_to_stop();
}

/* In the reader. */
static int work(void *arg, struct out *out, struct error *e)
{
	const struct asking *a = arg;
	const struct object *o = a->o;
	const struct image_parts parts = {
	    .place = {o->file, o->path, o->root, o->fetches && fetch_file},
	    .real_path = o->real_path,
	    .without_debug = !a->q->needs_debug,
	    .main = o->main.fd,
	    .is_searched = !a->candidates,
	    .debug = o->debug.fd,
	    .alt = o->alt.fd,
	    .debug_path = o->debug.path,
	    .debug_note = o->debug_note,
	};
	struct image *image;

	image_files_by(sandbox_open);
	return image_open_parts(&parts, &image, e) ? -1 : a->q->work(image, a->q->arg, out, e);
}

static bool has_shrunk(const struct held_file *f)
{
	return f->fd >= 0 && size_of(f->fd) < f->size;
}

/* Readers see the files as they are now. */
static int check_whole(const struct object *o, struct error *e)
{
	bool debug = has_shrunk(&o->debug) || has_shrunk(&o->alt);

	if (!debug && !has_shrunk(&o->main))
		return 0;
	error_set(e, EXIT_OTHER, "'%s' changed while it was read",
	    debug && o->debug.path ? o->debug.path : o->path);
	return error_hint(e, "try again once nobody writes to it any more");
}

static int ask(struct asking *a, struct in *ret, struct error *e)
{
	const struct object *o = a->o;
	const int files[] = {o->main.fd, o->debug.fd, o->alt.fd};
	const struct sandbox s = {
	    .what = o->path,
	    .files = files,
	    .n_files = sizeof(files) / sizeof(*files),
	    .bytes = o->main.size + o->debug.size + o->alt.size,
	    .open = open_for_reader,
	    .stop = a->q->stop || stop_wanted ? is_to_stop : NULL,
	    .ctx = a,
	};

	return check_whole(o, e) ? -1 : sandbox_run(&s, work, a, ret, e);
}

int object_ask(const struct object *o, const struct question *q, struct in *ret, struct error *e)
{
	struct asking a = {.o = o, .q = q};

	return ask(&a, ret, e);
}

int object_answered(const struct object *o, struct in *in, struct error *e)
{
	bool good = in_is_whole(in);

	in_free(in);
	return good ? 0 : sandbox_distrust(o->path, e);
}

/* What is known once a file is open, in the reader. */
static int tell_facts(struct image *image, void *arg, struct out *out, struct error *e)
{
	uint8_t id[20] = {0};
	uint32_t len = image_build_id(image, id);

	put_u32(out, image_is_static(image));
	put_u32(out, image_is_go(image));
	put_u32(out, image_has_debug_info(image));
	put_u32(out, len);
	put_bytes(out, id, sizeof(id));
	put_string(out, image_debug_path(image));
	put_string(out, image_alt_path(image));
	put_string(out, image_debug_note(image));
	return 0;
}

/* Keeps the file that the reader has found good among those that it was given. */
static void choose(struct asking *a, const char *path, struct held_file *ret)
{
	for (size_t i = a->n_candidates; *path && i-- > 0;) {
		if (!a->candidates[i].path || strcmp(a->candidates[i].path, path))
			continue;
		*ret = a->candidates[i];
		a->candidates[i] = (struct held_file){.fd = -1};
		return;
	}
}

static void note_facts(struct object *o, struct asking *a, struct in *in)
{
	const void *id;
	const char *note;

	o->is_static = get_u32(in) != 0;
	o->is_go = get_u32(in) != 0;
	o->has_debug_info = get_u32(in) != 0;
	o->build_id_len = get_u32(in);
	in->bad |= o->build_id_len > sizeof(o->build_id);
	id = get_bytes(in, sizeof(o->build_id));
	if (id)
		memcpy(o->build_id, id, sizeof(o->build_id));
	choose(a, get_string(in, PATH_SIZE), &o->debug);
	choose(a, get_string(in, PATH_SIZE), &o->alt);
	note = get_string(in, 2 * PATH_SIZE);
	o->debug_note = *note ? strdup(note) : NULL;
}

static int read_facts(struct object *o, struct error *e)
{
	static const struct question facts = {.work = tell_facts, .needs_debug = true};
	struct held_file candidates[MAX_CANDIDATES];
	struct asking a = {.o = o, .q = &facts, .candidates = candidates};
	struct in in = {0};
	int err = ask(&a, &in, e);

	if (!err) {
		note_facts(o, &a, &in);
		err = object_answered(o, &in, e);
	}
	while (a.n_candidates)
		release(&candidates[--a.n_candidates]);
	return err;
}

static int open_main(struct object *o, struct error *e)
{
	struct stat st;
	char why[256];

	o->main.fd = file_open(o->root, o->file, why, sizeof(why));
	if (o->main.fd < 0)
		return error_set(e, EXIT_USAGE, "cannot read '%s': %s", o->path, why);
	snprintf(o->probe_path, sizeof(o->probe_path), "/proc/self/fd/%d", o->main.fd);
	if (!fstat(o->main.fd, &st)) {
		o->dev = st.st_dev;
		o->ino = st.st_ino;
		o->main.size = (uint64_t)st.st_size;
	}
	o->mapped = o->main.size ? mmap(NULL, o->main.size, PROT_READ, MAP_PRIVATE, o->main.fd, 0)
				 : MAP_FAILED;
	if (o->mapped != MAP_FAILED)
		madvise(o->mapped, o->main.size, MADV_DONTFORK);
	return 0;
}

/* Without facts. */
static int open_file(const struct object_place *place, struct object **ret, struct error *e)
{
	struct object *o = calloc(1, sizeof(*o));
	int err = -1;

	if (!o)
		return error_set(e, EXIT_OTHER, "out of memory");
	o->main.fd = o->debug.fd = o->alt.fd = -1;
	o->fetches = place->fetches;
	o->mapped = MAP_FAILED;
	o->file = strdup(place->file);
	o->path = strdup(place->path);
	o->root = strdup(place->root ? place->root : "");
	if (!o->file || !o->path || !o->root)
		error_set(e, EXIT_OTHER, "out of memory");
	else
		err = open_main(o, e);
	if (err)
		object_close(o);
	else
		*ret = o;
	return err;
}

int object_open_code(const char *path, const char *root, struct object **ret, struct error *e)
{
	const struct object_place place = {path, path, root, false};

	return open_file(&place, ret, e);
}

int object_open(const char *path, const char *root, struct object **ret, struct error *e)
{
	const struct object_place place = {path, path, root, false};

	return object_open_at(&place, ret, e);
}

int object_open_at(const struct object_place *place, struct object **ret, struct error *e)
{
	struct object *o;

	if (open_file(place, &o, e))
		return -1;
	o->real_path = *o->root ? NULL : realpath(o->path, NULL);
	if (read_facts(o, e)) {
		object_close(o);
		return -1;
	}
	*ret = o;
	return 0;
}

void object_close(struct object *o)
{
	if (!o)
		return;
	if (o->mapped != MAP_FAILED)
		munmap(o->mapped, o->main.size);
	release(&o->alt);
	release(&o->debug);
	release(&o->main);
	free(o->debug_note);
	free(o->real_path);
	free(o->file);
	free(o->path);
	free(o->root);
	free(o);
}

const char *object_path(const struct object *o)
{
	return o->path;
}

const char *object_probe_path(const struct object *o)
{
	return o->probe_path;
}

bool object_has_debug_info(const struct object *o)
{
	return o->has_debug_info;
}

bool object_is_static(const struct object *o)
{
	return o->is_static;
}

bool object_is_go(const struct object *o)
{
	return o->is_go;
}

struct line_object object_identity(const struct object *o)
{
	struct line_object ret = {
	    .path = o->path, .build_id_len = o->build_id_len, .dev = o->dev, .ino = o->ino};

	memcpy(ret.build_id, o->build_id, sizeof(ret.build_id));
	return ret;
}

uint32_t object_build_id(const struct object *o, uint8_t id[20])
{
	memcpy(id, o->build_id, 20);
	return o->build_id_len;
}
