// SPDX-License-Identifier: BSD-3-Clause
/* Probes of progress points; see session.h. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text/suggest.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#define UNPROBEABLE 524 /* the kernel's ENOTSUPP, for which libc has no name */

static const char *const tracefs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static int fail_probe(const struct point_probe *p, int err, struct error *e)
{
	unsigned long long at = p->offset;

	if (err == UNPROBEABLE) {
		error_set(e, EXIT_USAGE,
		    "the instruction at offset 0x%llx of '%s' cannot be probed: it has a prefix "
		    "such as lock",
		    at, p->file);
		return error_hint(e, "take a line nearby (-P FILE:LINE), another function, or "
				     "SYMBOL+OFFSET of another instruction");
	}
	error_set(e, EXIT_FORBIDDEN,
	    "the kernel does not take a probe at offset 0x%llx of '%s': %s", at, p->file,
	    strerror(err));
	if (err == EACCES || err == EPERM) /* seen on 6.18: CAP_PERFMON is not enough */
		return error_hint(e, "probing may need CAP_SYS_ADMIN here: " ADVICE_PRIVILEGE
				     ", or use --end-to-end");
	error_hint(e, "run `cozbpf doctor` to see whether uprobes work on this machine");
	return error_hint_files(e, err);
}

/* The kernel's list of tracepoints, one CATEGORY:NAME per line. */
static FILE *open_tracepoints(void)
{
	FILE *f = NULL;

	for (size_t i = 0; !f && i < sizeof(tracefs) / sizeof(*tracefs); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/available_events", tracefs[i]);
		f = fopen(path, "re");
	}
	return f;
}

/* Says which holds: there is no such tracepoint, or none may be used. */
static int fail_tracepoint(const struct point_probe *p, int err, struct error *e)
{
	char wanted[256], line[256], same[260] = "", near[512];
	struct suggest names;
	FILE *f = open_tracepoints();

	if (!f) {
		error_set(e, EXIT_FORBIDDEN, "tracepoints cannot be listed: %s", strerror(errno));
		return error_hint(
		    e, "run it as root, and mount tracefs: mount -t tracefs none %s", tracefs[0]);
	}
	snprintf(wanted, sizeof(wanted), "%s:%s", p->category, p->name);
	suggest_init(&names, wanted);
	error_set(e, EXIT_USAGE, "the kernel has no tracepoint '%s'", wanted);
	while (fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		line[strcspn(line, "\n")] = 0;
		suggest_add(&names, line);
		if (colon && !strcmp(colon + 1, p->name))
			snprintf(same, sizeof(same), "'%s'", line);
		if (!strcmp(line, wanted))
			error_set(e, EXIT_FORBIDDEN,
			    "the kernel does not let us use the tracepoint '%s': %s", wanted,
			    strerror(err));
	}
	fclose(f);
	if (e->status == EXIT_FORBIDDEN)
		return error_hint(e, "run it with sudo");
	suggest_list(&names, near, sizeof(near));
	if (*same || *near)
		return error_hint(e, "did you mean %s?", *same ? same : near);
	return error_hint(e, "%s/available_events lists them", tracefs[0]);
}

static int place_one(struct session *s, const struct point_probe *p, struct error *e)
{
	uint64_t cookie = COZBPF_COOKIE(p->index, p->role, p->key);
	LIBBPF_OPTS(bpf_uprobe_opts, uprobe, .bpf_cookie = cookie, .ref_ctr_offset = p->semaphore,
	    .retprobe = p->at_return);
	LIBBPF_OPTS(bpf_tracepoint_opts, tracepoint, .bpf_cookie = cookie);
	struct bpf_link *link;

	if (s->n_links >= MAX_LINKS)
		return error_set(e, EXIT_USAGE, "too many places for progress points");
	s->log[0] = 0;
	if (p->path)
		link = bpf_program__attach_uprobe_opts(
		    s->bpf->progs.on_visit, -1, p->path, p->offset, &uprobe);
	else
		link = bpf_program__attach_tracepoint_opts(
		    s->bpf->progs.on_tracepoint, p->category, p->name, &tracepoint);
	if (!link)
		return p->path ? fail_probe(p, errno, e) : fail_tracepoint(p, errno, e);
	s->links[s->n_links++] = link;
	return 0;
}

/*
 * A place that gets its probe again when the session has slept. Its strings are of our own, and
 * `path` is that of `fd`, for whoever has found the place closes the file.
 */
struct placed_probe {
	struct point_probe probe;
	char *path, *file, *category, *name;
	int fd; /* -1: that of an earlier place */
};

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void placed_deinit(struct placed_probe *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
	free(p->file);
	free(p->category);
	free(p->name);
}

/* The file is held, without being open: nobody notices. False: it is gone, or no memory. */
static bool hold_file(struct placed_probe *ret, const char *path)
{
	ret->fd = open(path, O_PATH | O_CLOEXEC);
	if (ret->fd < 0 || asprintf(&ret->path, "/proc/self/fd/%d", ret->fd) < 0)
		return false;
	ret->probe.path = ret->path;
	return true;
}

/* Keeps @p for session_wake(). @same: the place before, in the same file; NULL: another file. */
static int keep_place(
    struct session *s, const struct point_probe *p, const struct placed_probe *same)
{
	struct placed_probe kept = {.probe = *p,
	    .fd = -1,
	    .file = copy(p->file),
	    .category = copy(p->category),
	    .name = copy(p->name)};
	const char *held = same ? same->probe.path : NULL; /* the places may move */
	struct placed_probe *bigger = reallocarray(s->placed, s->n_placed + 1, sizeof(*bigger));

	if (bigger)
		s->placed = bigger;
	kept.probe.file = kept.file;
	kept.probe.category = kept.category;
	kept.probe.name = kept.name;
	if (same)
		kept.probe.path = held;
	if (!bigger || (p->path && !same && !hold_file(&kept, p->path))) {
		placed_deinit(&kept);
		return -1;
	}
	s->placed[s->n_placed++] = kept;
	return 0;
}

/* Of what has been placed, or would have been if the session did not sleep. */
static int keep_places(struct session *s, const struct point_probe *p, size_t n, struct error *e)
{
	for (size_t i = 0; s->config.sleeps && i < n; i++) {
		bool has_same = i && p[i].path && !strcmp(p[i].path, p[i - 1].path);

		if (keep_place(s, &p[i], has_same ? &s->placed[s->n_placed - 1] : NULL))
			return error_set(e, EXIT_OTHER,
			    "the place of a progress point cannot be kept: %s", strerror(errno));
	}
	return 0;
}

void points_take_out(struct session *s)
{
	for (size_t i = 0; i < s->n_links; i++)
		bpf_link__destroy(s->links[i]);
	s->n_links = 0;
	for (size_t i = 0; i < s->n_multi_links; i++)
		close(s->multi_links[i]);
	s->n_multi_links = 0;
}

void points_forget(struct session *s)
{
	for (size_t i = 0; i < s->n_placed; i++)
		placed_deinit(&s->placed[i]);
	free(s->placed);
	s->placed = NULL;
	s->n_placed = 0;
}

int session_add_probe(struct session *s, const struct point_probe *p, struct error *e)
{
	struct point_probe *bigger;

	if (p->index >= COZBPF_POINT_EXIT)
		return error_set(e, EXIT_USAGE, "more than %d progress points", COZBPF_POINT_EXIT);
	if (!p->path && (place_one(s, p, e) || keep_places(s, p, 1, e)))
		return -1;
	s->points_used |= 1ULL << p->index;
	if (p->role == COZBPF_ROLE_BEGIN)
		s->pairs_used |= 1ULL << p->index;
	if (!p->path)
		return 0;
	bigger = reallocarray(s->waiting, s->n_waiting + 1, sizeof(*bigger));
	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	s->waiting = bigger;
	s->waiting[s->n_waiting++] = *p;
	return 0;
}

static bool is_together(const struct point_probe *p, const struct point_probe *q)
{
	return !strcmp(p->path, q->path) && p->at_return == q->at_return;
}

/* Places @n probes together. False where the kernel refuses: one by one it will say which. */
static bool place_together(struct session *s, const struct point_probe *p, size_t n)
{
	uint64_t *offsets = calloc(3 * n, sizeof(*offsets)), *semaphores = offsets + n,
		 *cookies = semaphores + n;
	const struct multi_sites at = {.path = p->path,
	    .offsets = offsets,
	    .semaphores = semaphores,
	    .cookies = cookies,
	    .n = n,
	    .returns = p->at_return};
	int fd = -1;

	for (size_t i = 0; offsets && i < n; i++) {
		offsets[i] = p[i].offset;
		semaphores[i] = p[i].semaphore;
		cookies[i] = COZBPF_COOKIE(p[i].index, p[i].role, p[i].key);
	}
	if (offsets && s->n_multi_links < MAX_LINKS)
		fd = multi_attach(s->bpf->progs.on_visits, &at);
	free(offsets);
	if (fd >= 0)
		s->multi_links[s->n_multi_links++] = fd;
	return fd >= 0;
}

static int place_all(struct session *s, const struct point_probe *p, size_t n, struct error *e)
{
	int err = 0;

	for (size_t i = 0, end; !err && i < n; i = end) {
		for (end = i + 1;
		     end < n && p[i].path && p[end].path && is_together(&p[i], &p[end]);)
			end++;
		if (end - i > 1 && place_together(s, &p[i], end - i))
			continue;
		for (; !err && i < end; i++)
			err = place_one(s, &p[i], e);
	}
	return err;
}

int session_place_probes(struct session *s, struct error *e)
{
	int err = s->is_asleep ? 0 : place_all(s, s->waiting, s->n_waiting, e);

	if (!err)
		err = keep_places(s, s->waiting, s->n_waiting, e);
	session_forget_probes(s);
	return err;
}

int points_put_in(struct session *s, struct error *e)
{
	struct point_probe *all = calloc(s->n_placed + 1, sizeof(*all));
	int err;

	if (!all)
		return error_set(e, EXIT_OTHER, "out of memory");
	for (size_t i = 0; i < s->n_placed; i++)
		all[i] = s->placed[i].probe;
	err = place_all(s, all, s->n_placed, e);
	free(all);
	return err;
}

void session_forget_probes(struct session *s)
{
	free(s->waiting);
	s->waiting = NULL;
	s->n_waiting = 0;
}

int session_add_sampled(struct session *s, unsigned index, uint32_t line, struct error *e)
{
	if (line >= s->lines_room)
		return error_set(
		    e, EXIT_OTHER, "there is no room for so many lines as are in scope");
	if (s->line_counts[line].point)
		return error_set(e, EXIT_USAGE, "a line can be one progress point, not two");
	s->line_counts[line].point = 1 + index;
	s->bpf->bss->control.sampled = 1;
	s->points_used |= 1ULL << index;
	return 0;
}

int session_add_key(struct session *s, const struct cozbpf_arg *arg, unsigned *ret, struct error *e)
{
	uint32_t index = 0;

	while (index < s->n_keys && memcmp(&s->keys[index], arg, sizeof(*arg)))
		index++;
	*ret = 1 + index;
	if (index < s->n_keys)
		return 0;
	if (index >= COZBPF_ARGS)
		return error_set(e, EXIT_USAGE, "more than %d places with a key", COZBPF_ARGS);
	if (bpf_map_update_elem(bpf_map__fd(s->bpf->maps.args), &index, arg, BPF_ANY))
		return error_set(e, EXIT_OTHER, "cannot set a key: %s", strerror(errno));
	s->keys[s->n_keys++] = *arg;
	return 0;
}

uint64_t session_visits(const struct session *s, unsigned index)
{
	return s->points[index].visits;
}

void session_read_point(const struct session *s, unsigned index, struct point_reading *ret)
{
	const struct cozbpf_point *p = &s->points[index];

	ret->visits = p->visits;
	ret->paced = p->paced;
	ret->fed = p->fed;
	ret->pace_ns = p->pace_ns;
	ret->buckets = p->buckets;
}

const struct cozbpf_latency *session_latency(const struct session *s, unsigned index)
{
	return &s->latencies[index];
}

/* Visits before V0: all except the late ones and those in the buckets. Read again until no visit
 * came in between. */
static int64_t visits_before(const struct session *s, unsigned index)
{
	const struct cozbpf_point *p = &s->points[index];
	const uint64_t *late = (const uint64_t *)&p->late[s->bpf->bss->control.epoch & 1];
	uint64_t seen, visits, in_buckets = 0;

	for (size_t i = 0; i < COZBPF_BUCKETS; i++)
		in_buckets += p->buckets[i].count;
	do {
		seen = __atomic_load_n(late, __ATOMIC_ACQUIRE);
		visits = __atomic_load_n(&p->visits, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(late, __ATOMIC_ACQUIRE) != seen);
	return (int64_t)(visits - seen - in_buckets);
}

int64_t session_in_flight(const struct session *s, unsigned index)
{
	return visits_before(s, index) - visits_before(s, index + 1);
}

void points_reset(struct session *s)
{
	uint32_t next = s->bpf->bss->control.epoch + 1;

	for (unsigned i = 0; i < COZBPF_POINTS; i++) {
		if (!(s->points_used >> i & 1))
			continue;
		memset(s->points[i].buckets, 0, sizeof(s->points[i].buckets));
		s->points[i].late[next & 1] = 0;
	}
	for (unsigned i = 0; i < COZBPF_POINTS; i++) {
		if (!(s->pairs_used >> i & 1))
			continue;
		s->latencies[i].sum = 0;
		memset(s->latencies[i].cells, 0, sizeof(s->latencies[i].cells));
	}
}
