// SPDX-License-Identifier: BSD-3-Clause
/* Reads logs of blocks; see blockread.h. The text may be cut off or damaged anywhere, or come from
 * somebody else. */
#include "core/blocks/blockread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/blocks/blockformat.h"
#include "core/blocks/private.h"

#define END_BYTES 25          /* "end\tsum=", 16 digits, a newline */
#define MOST_BLOCKS (1 << 24) /* in a session; more is damage */
#define MOST_FIGURE 1e18      /* executions in a run, or ns */
#define NO_PLACE UINT32_MAX

/* A session's index of a place, once found. */
struct known_place {
	uint32_t session, place;
};

struct reader {
	struct block_logs *l;
	const char *text, *end;
	struct block_line line;
	struct known_place *map;
	size_t n_map;
	uint32_t session; /* generation of the map */
	uint64_t session_id;
	uint64_t number; /* of the run */
	bool in_damage, no_memory;
	size_t damaged_at; /* offset of the first damage + 1 */
	size_t n_damaged, summed;
};

void block_logs_init(struct block_logs *l)
{
	memset(l, 0, sizeof(*l));
}

void block_logs_deinit(struct block_logs *l)
{
	names_deinit(&l->texts);
	names_deinit(&l->keys);
	names_deinit(&l->locals);
	names_deinit(&l->twins);
	free(l->logs);
	free(l->places);
	free(l->places_of);
	free(l->runs);
	free(l->entries);
	free(l->cells);
	block_logs_init(l);
}

static bool out_of_memory(struct reader *r)
{
	r->no_memory = true;
	return false;
}

/* The logs' own copy; records take it for one that they own. */
static char *copy(struct reader *r, const char *text)
{
	uint32_t id;

	if (!names_copy(&r->l->texts, text ? text : "", &id))
		return (char *)r->l->texts.items[id];
	out_of_memory(r);
	return NULL;
}

/* A stretch of damage begins at @at, unless one goes on. */
static void damaged(struct reader *r, const char *at)
{
	if (!r->in_damage) {
		r->n_damaged++;
		if (!r->damaged_at)
			r->damaged_at = (size_t)(at - r->text) + 1;
	}
	r->in_damage = true;
}

/* Places */

static bool take_build_id(const char *text, char ret[41])
{
	if (!text || strlen(text) > 40)
		return false;
	strcpy(ret, text);
	return true;
}

static bool take_place(struct reader *r, struct block_place *ret)
{
	const struct block_line *l = &r->line;
	uint64_t calls;

	if (!block_line_text(l, "object") || !block_line_text(l, "function") ||
	    !block_line_u64(l, "start", &ret->start) || !block_line_u64(l, "end", &ret->end) ||
	    !block_line_u64(l, "offset", &ret->offset) || !block_line_u64(l, "calls", &calls) ||
	    !take_build_id(block_line_text(l, "build-id"), ret->build_id))
		return false;
	ret->calls = calls;
	ret->object = copy(r, block_line_text(l, "object"));
	ret->function = copy(r, block_line_text(l, "function"));
	ret->lines = copy(r, block_line_text(l, "lines"));
	return !r->no_memory;
}

/* Index of the place in all logs, which may have it already. */
static bool add_place(struct reader *r, const struct block_place *p, uint32_t *ret)
{
	struct block_logs *l = r->l;
	struct block_place *all;
	char *key;
	int n = l->mix_builds
		    ? asprintf(&key, "%s\037%s\037%" PRIx64, p->object, p->function, p->offset)
		    : asprintf(&key, "%s\037%s\037%" PRIx64, p->object, p->build_id, p->start);

	if (n < 0 || names_copy(&l->keys, key, ret)) {
		if (n >= 0)
			free(key);
		return out_of_memory(r);
	}
	free(key);
	if (*ret < l->n_places)
		return true;
	all = block_grow(l->places, &l->room_places, l->n_places, sizeof(*all));
	if (!all)
		return out_of_memory(r);
	l->places = all;
	all[l->n_places++] = *p;
	return true;
}

static void local_key(char key[48], uint64_t session, uint64_t index)
{
	snprintf(key, 48, "%" PRIx64 ":%" PRIu64, session, index);
}

/* A line that says what a session's index stands for. False: it is damaged, or memory is short. */
static bool read_place(struct reader *r, const char *line, size_t n)
{
	struct block_logs *l = r->l;
	struct block_place place = {0};
	uint64_t session, index;
	uint32_t id, global;
	uint32_t *all;
	char key[48];

	if (!block_line_is_sound(line, n))
		return false;
	if (block_line_split(&r->line, line, n))
		return out_of_memory(r);
	if (!block_line_hex(&r->line, "session", &session) ||
	    !block_line_u64(&r->line, "index", &index) || index >= MOST_BLOCKS ||
	    !take_place(r, &place) || !add_place(r, &place, &global))
		return false;
	local_key(key, session, index);
	if (names_copy(&l->locals, key, &id))
		return out_of_memory(r);
	all = block_grow(l->places_of, &l->room_of, id, sizeof(*all));
	if (!all)
		return out_of_memory(r);
	l->places_of = all;
	all[id] = global;
	return true;
}

/* The place of an index of the run's session; NO_PLACE: its line is lost. */
static uint32_t find_place(struct reader *r, uint64_t index)
{
	uint32_t id;
	char key[48];

	if (index < r->n_map && r->map[index].session == r->session)
		return r->map[index].place;
	local_key(key, r->session_id, index);
	id = names_find(&r->l->locals, key);
	if (id == UINT32_MAX)
		return NO_PLACE;
	if (index >= r->n_map) {
		size_t n = r->n_map ? r->n_map : 64;
		struct known_place *larger;

		while (n <= index)
			n *= 2;
		larger = realloc(r->map, n * sizeof(*larger));
		if (!larger)
			return out_of_memory(r), NO_PLACE;
		memset(larger + r->n_map, 0, (n - r->n_map) * sizeof(*larger));
		r->map = larger;
		r->n_map = n;
	}
	r->map[index] = (struct known_place){r->session, r->l->places_of[id]};
	return r->map[index].place;
}

/* Runs */

static bool read_cells(struct reader *r, const char **p, struct block_entry *entry)
{
	struct block_logs *l = r->l;

	for (char before = '\t'; **p == before; before = ',') {
		struct block_cell *all;
		uint64_t index, count;

		++*p;
		if (!block_take_u64(p, &index) || index >= BLOCK_CELLS || *(*p)++ != ':' ||
		    !block_take_u64(p, &count) || count > UINT32_MAX)
			return false;
		all = block_grow(l->cells, &l->room_cells, l->n_cells, sizeof(*all));
		if (!all)
			return out_of_memory(r);
		l->cells = all;
		all[l->n_cells++] = (struct block_cell){(uint32_t)index, (uint32_t)count};
		entry->n_cells++;
	}
	return true;
}

/* No figure is as large as MOST_FIGURE, and products of two stay finite. */
static bool read_tabbed(const char **p, double *ret)
{
	return *(*p)++ == '\t' && block_take_number(p, ret) && *ret < MOST_FIGURE;
}

/* A line of figures, up to its newline. */
static bool read_entry(struct reader *r, const char **p)
{
	struct block_logs *l = r->l;
	struct block_entry entry = {.first_cell = l->n_cells}, *all;
	uint64_t index;

	if (!block_take_u64(p, &index) || index >= MOST_BLOCKS ||
	    !read_tabbed(p, &entry.frequency) || !read_tabbed(p, &entry.frequency_se) ||
	    !read_tabbed(p, &entry.share) || *(*p)++ != '\t' || !block_take_u64(p, &entry.timed) ||
	    !read_tabbed(p, &entry.min_ns) || !read_tabbed(p, &entry.max_ns) ||
	    !read_tabbed(p, &entry.avg_ns) || !read_tabbed(p, &entry.wall_avg_ns) ||
	    !read_cells(r, p, &entry) || **p != '\n')
		return false;
	++*p;
	entry.share = entry.share > 1 ? 1 : entry.share;
	entry.place = find_place(r, index);
	if (entry.place == NO_PLACE) {
		l->n_nameless++;
		l->n_cells = entry.first_cell;
		return !r->no_memory;
	}
	all = block_grow(l->entries, &l->room_entries, l->n_entries, sizeof(*all));
	if (!all)
		return out_of_memory(r);
	l->entries = all;
	all[l->n_entries++] = entry;
	return true;
}

/* What is between a run's line and its end line, and is as it was written. */
static bool read_body(struct reader *r, const char *p, const char *end)
{
	while (p < end) {
		if (*p == 'p') {
			const char *newline = memchr(p, '\n', (size_t)(end - p));

			if (!newline || !read_place(r, p, (size_t)(newline - p)))
				return false;
			p = newline + 1;
		} else if (!read_entry(r, &p)) {
			return false;
		}
	}
	return true;
}

static bool take_numbers(const struct block_line *l, struct block_run *run)
{
	const struct {
		const char *key;
		uint64_t *at;
	} numbers[] = {{"started", &run->started_ns}, {"wall", &run->wall_ns},
	    {"cpu", &run->cpu_ns}, {"probed", &run->probed_ns}, {"paused", &run->paused_ns},
	    {"blocked", &run->blocked_ns}, {"runnable", &run->runnable_ns},
	    {"switches", &run->switches}, {"preemptions", &run->preemptions},
	    {"migrations", &run->migrations}, {"minor-faults", &run->minor_faults},
	    {"major-faults", &run->major_faults}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!block_line_u64(l, numbers[i].key, numbers[i].at))
			return false;
	return true;
}

/* Of the run's line, which has been taken apart. */
static bool take_run(struct reader *r, struct block_read_run *ret)
{
	const struct block_line *l = &r->line;
	const char *status = block_line_text(l, "status");
	bool is_below = status && *status == '-';
	uint64_t number, ended, perturb;

	if (is_below)
		status++;
	if (!status || !block_take_u64(&status, &number) || *status || number > 1 << 16 ||
	    !block_line_u64(l, "ended", &ended) || !block_line_u64(l, "perturb", &perturb) ||
	    !block_line_u64(l, "seed", &ret->session.seed) || !take_numbers(l, &ret->run) ||
	    !take_build_id(block_line_text(l, "build-id"), ret->session.build_id))
		return false;
	ret->run.status = is_below ? -(int)number : (int)number;
	ret->run.ended = ended;
	ret->run.number = r->number;
	ret->session.perturb_pct = (unsigned)perturb;
	ret->session.program = copy(r, block_line_text(l, "program"));
	ret->run.command = copy(r, block_line_text(l, "command"));
	return !r->no_memory;
}

static bool is_twin(struct reader *r, const char *sum)
{
	size_t n = r->l->twins.n;
	char key[17];
	uint32_t id;

	memcpy(key, sum, 16);
	key[16] = 0;
	if (names_copy(&r->l->twins, key, &id))
		return out_of_memory(r);
	return id < n;
}

/* The bytes after the line of a run that ends at @newline, up to its end line; NULL: these are not
 * what was written. */
static const char *end_of_run(struct reader *r, const char *line, const char *newline)
{
	const char *body = newline + 1, *end;
	uint64_t bytes;
	char sum[32];

	if (!block_line_u64(&r->line, "bytes", &bytes) || bytes > (uint64_t)(r->end - body) ||
	    r->end - body - (ptrdiff_t)bytes < END_BYTES)
		return NULL;
	end = body + bytes;
	/* Each byte is summed once, unless somebody has made the log to be slow to read. */
	if (end[-1] != '\n' || memcmp(end, "end\tsum=", 8) != 0 || end[END_BYTES - 1] != '\n' ||
	    r->summed > 4 * (size_t)(r->end - r->text))
		return NULL;
	r->summed += (size_t)(end - line);
	snprintf(sum, sizeof(sum), "%016" PRIx64, block_format_sum(line, (size_t)(end - line)));
	return memcmp(sum, end + 8, 16) ? NULL : end;
}

static void begin_session(struct reader *r, uint64_t id)
{
	if (r->session && r->session_id == id)
		return;
	r->session++;
	r->session_id = id;
}

static bool keep_run(struct reader *r, const struct block_read_run *run)
{
	struct block_logs *l = r->l;
	struct block_read_run *all = block_grow(l->runs, &l->room_runs, l->n_runs, sizeof(*all));

	if (!all)
		return out_of_memory(r);
	l->runs = all;
	all[l->n_runs++] = *run;
	return true;
}

/* The run whose line ends at @newline. Returns where its text ends; NULL: it is damaged. */
static const char *read_run(struct reader *r, const char *line, const char *newline)
{
	struct block_logs *l = r->l;
	struct block_read_run run = {.first = l->n_entries, .log = (uint32_t)(l->n_logs - 1)};
	size_t cells = l->n_cells, nameless = l->n_nameless;
	uint64_t session;
	const char *end;

	r->number++;
	if (block_line_split(&r->line, line, (size_t)(newline - line)))
		return out_of_memory(r), NULL;
	end = end_of_run(r, line, newline);
	if (!end || !block_line_hex(&r->line, "session", &session) || !take_run(r, &run))
		return NULL;
	if (is_twin(r, end + 8)) {
		l->n_twins++;
		return end + END_BYTES;
	}
	begin_session(r, session);
	if (read_body(r, newline + 1, end)) {
		run.n = l->n_entries - run.first;
		if (keep_run(r, &run))
			return end + END_BYTES;
	}
	l->n_entries = run.first;
	l->n_cells = cells;
	l->n_nameless = nameless;
	return NULL;
}

/* A line that begins no whole run. */
static void read_other(struct reader *r, const char *line, size_t n)
{
	if (n && !(n > 6 && !memcmp(line, "place\t", 6) && read_place(r, line, n)))
		damaged(r, line);
}

/* Reads what begins at @at, a line or what is left of it. Returns where to go on; NULL: no whole
 * run begins here. */
static const char *read_some(struct reader *r, const char *at, const char *newline)
{
	const char *next;

	if (!newline || newline - at <= 4 || memcmp(at, "run\t", 4) != 0) {
		read_other(r, at, (size_t)((newline ? newline : r->end) - at));
		return NULL;
	}
	r->in_damage = false;
	next = read_run(r, at, newline);
	if (!next)
		damaged(r, at);
	r->in_damage = !next;
	return next;
}

static void read_all(struct reader *r, const char *at)
{
	while (at < r->end && !r->no_memory) {
		const char *newline = memchr(at, '\n', (size_t)(r->end - at));
		const char *line_end = newline ? newline : r->end, *glued,
			   *next = read_some(r, at, newline);

		/* A newline that was damaged has glued a run to what was before it. */
		glued = !next && at < line_end
			    ? memmem(at + 1, (size_t)(line_end - at - 1), "run\tsession=", 12)
			    : NULL;
		if (glued && newline)
			next = read_some(r, glued, newline);
		at = next ? next : newline ? newline + 1 : r->end;
	}
}

static size_t line_at(const char *text, size_t at)
{
	size_t ret = 1;

	for (const char *p = text; (p = memchr(p, '\n', at - (size_t)(p - text))); p++)
		ret++;
	return ret;
}

static int foreign(const char *name, const char *text, size_t n, size_t at, struct error *e)
{
	const char *line = text + at, *newline = memchr(line, '\n', n - at);
	size_t length = newline ? (size_t)(newline - line) : n - at;

	error_set(e, EXIT_OTHER, "'%s' is no log of blocks: line %zu is '%.*s%s'", name,
	    line_at(text, at), (int)(length > 40 ? 40 : length), line, length > 40 ? "..." : "");
	return error_hint(e, "'cozbpf blocks -o LOG -- cmd' writes one");
}

/* The first line says that this is a log, and of which version. Returns its bytes; 0: it is damaged
 * or not there; -1 with @e: we cannot read such a log. */
static long read_version(const char *text, size_t n, const char *name, struct error *e)
{
	const char *newline = memchr(text, '\n', n);
	size_t length = newline ? (size_t)(newline - text) : n, type = strlen(BLOCK_LOG_TYPE);
	const char *version = text + type + 1;
	uint64_t number;

	if (length <= type || memcmp(text, BLOCK_LOG_TYPE "\t", type + 1) != 0 ||
	    !block_line_is_sound(text, length) || !block_take_u64(&version, &number))
		return 0;
	if (number == BLOCK_LOG_VERSION)
		return newline ? (long)length + 1 : (long)length;
	error_set(e, EXIT_OTHER, "'%s' line 1: its format has version %" PRIu64 ", not %d", name,
	    number, BLOCK_LOG_VERSION);
	return error_hint(e, "read it with the cozbpf that wrote it, or with a newer one");
}

static int add_log(struct block_logs *l, const char *name)
{
	const char **logs = realloc(l->logs, (l->n_logs + 1) * sizeof(*logs));

	if (!logs)
		return -ENOMEM;
	l->logs = logs;
	logs[l->n_logs++] = name;
	return 0;
}

static void keep_damage(struct reader *r, const char *name)
{
	struct block_logs *l = r->l;

	if (r->n_damaged && !l->n_damaged) {
		l->damaged_line = line_at(r->text, r->damaged_at - 1);
		l->damaged_log = name;
	}
	l->n_damaged += r->n_damaged;
}

int block_logs_read(
    struct block_logs *l, const char *text, size_t n, const char *name, struct error *e)
{
	struct reader r = {.l = l, .text = text, .end = text + n};
	size_t before = l->n_runs, twins = l->n_twins;
	long version = n ? read_version(text, n, name, e) : 0;

	if (version < 0)
		return -1;
	if (!n) {
		error_set(e, EXIT_NO_RESULT, "the log '%s' is empty", name);
		return error_hint(e, "'cozbpf blocks -o LOG -- cmd' writes one");
	}
	if (add_log(l, name))
		return error_set(e, EXIT_OTHER, "out of memory");
	read_all(&r, text + version);
	free(r.map);
	block_line_deinit(&r.line);
	if (r.no_memory)
		return error_set(e, EXIT_OTHER, "out of memory while reading '%s'", name);
	/* What is cut off within its first line was a log. */
	if (!version && !block_format_is_log(text, n) && l->n_runs == before && l->n_twins == twins)
		return foreign(name, text, n, r.damaged_at ? r.damaged_at - 1 : 0, e);
	keep_damage(&r, name);
	return 0;
}

static bool differ(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b) != 0;
}

bool block_logs_other_build(const struct block_logs *l, size_t *ret_a, size_t *ret_b,
    const struct block_place **ret_place, const struct block_place **ret_other)
{
	struct names objects = {0};
	const struct block_place **first = calloc(l->n_places + 1, sizeof(*first));
	bool ret = false;

	*ret_place = *ret_other = NULL;
	for (size_t i = 1; i < l->n_runs; i++) {
		const struct block_session *a = &l->runs[0].session, *b = &l->runs[i].session;

		*ret_a = 0;
		*ret_b = i;
		if (differ(a->build_id, b->build_id) ||
		    (!(*a->build_id && *b->build_id) && differ(a->program, b->program))) {
			free(first);
			return true;
		}
	}
	/* The same path with another build id, in whatever run. */
	for (size_t i = 0; first && i < l->n_places && !ret; i++) {
		const struct block_place *p = &l->places[i];
		uint32_t id;

		if (!*p->build_id || names_id(&objects, p->object, &id))
			continue;
		first[id] = first[id] ? first[id] : p;
		ret = differ(first[id]->build_id, p->build_id);
		if (ret) {
			*ret_place = first[id];
			*ret_other = p;
		}
	}
	names_deinit(&objects);
	free(first);
	return ret;
}
