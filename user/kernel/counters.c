// SPDX-License-Identifier: BSD-3-Clause
/* Counters that the target increments itself, for Coz's coz.h; see session.h. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "kernel/session_private.h"

#include "cozbpf.skel.h"

int session_watch_counters(struct session *s, const char *path, uint64_t offset, struct error *e)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts);
	struct bpf_link *link =
	    bpf_program__attach_uprobe_opts(s->bpf->progs.on_counter, -1, path, offset, &opts);

	if (!link)
		return error_set(e, EXIT_FORBIDDEN, "the kernel does not take a probe in '%s': %s",
		    path, strerror(errno));
	if (s->n_hooks >= MAX_HOOKS) {
		bpf_link__destroy(link);
		return error_set(e, EXIT_OTHER, "more than %d probes", MAX_HOOKS);
	}
	/* Without a program: it stays while the session sleeps, for counters are made rarely. */
	s->hooks[s->n_hooks++] = (struct hook){.link = link};
	return 0;
}

/* The index of a free set, or COZBPF_COUNTER_SETS. */
static uint32_t find_free_set(const struct session *s)
{
	int fd = bpf_map__fd(s->bpf->maps.process_counters);
	bool used[COZBPF_COUNTER_SETS] = {false};
	uint32_t key, *last = NULL, index = 0;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &index) && index < COZBPF_COUNTER_SETS)
			used[index] = true;
		last = &key;
	}
	for (index = 0; index < COZBPF_COUNTER_SETS && used[index]; index++)
		;
	return index;
}

/* The set of a process, new if it has none. NULL: no room. */
static struct cozbpf_counter_set *find_set(struct session *s, uint32_t pid)
{
	int fd = bpf_map__fd(s->bpf->maps.process_counters);
	uint32_t index;

	if (!bpf_map_lookup_elem(fd, &pid, &index))
		return index < COZBPF_COUNTER_SETS ? &s->counter_sets[index] : NULL;
	index = find_free_set(s);
	if (index == COZBPF_COUNTER_SETS)
		return NULL;
	memset(&s->counter_sets[index], 0, sizeof(s->counter_sets[index]));
	return bpf_map_update_elem(fd, &pid, &index, BPF_ANY) ? NULL : &s->counter_sets[index];
}

int session_add_counter(
    struct session *s, int pid, uint64_t address, unsigned point, struct error *e)
{
	struct cozbpf_counter_set *set = find_set(s, (uint32_t)pid);

	if (!set || set->n >= COZBPF_COUNTERS)
		return error_set(
		    e, EXIT_OTHER, "there is no room for more counters of Coz's coz.h");
	for (uint64_t i = 0; i < set->n; i++)
		if (set->counters[i].address == address)
			return 0;
	set->counters[set->n] = (struct cozbpf_counter){.address = address, .point = point};
	__atomic_store_n(&set->n, set->n + 1, __ATOMIC_RELEASE);
	s->points_used |= 1ULL << point;
	s->bpf->bss->control.counters = 1;
	return 0;
}

void session_drop_counters(struct session *s, int pid)
{
	uint32_t key = (uint32_t)pid;

	/* the kernel side has done so, unless the counter came later */
	bpf_map_delete_elem(bpf_map__fd(s->bpf->maps.process_counters), &key);
}
