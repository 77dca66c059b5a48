// SPDX-License-Identifier: BSD-3-Clause
/* Probes in the runtime of Go programs, whose goroutines have accounts; see session.h. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/compat.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

/* The probes of one process; they end with it. */
struct process_go {
	int pid, fd; /* -1: the kernel took none */
	struct process_go *next;
};

int session_takes_goroutines(struct error *e)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool takes = compat_multi_has_processes(btf);

	btf__free(btf);
	return takes
		   ? 0
		   : error_set(e, EXIT_FORBIDDEN,
			 "this kernel cannot probe all threads of one process at once (Linux 6.13 "
			 "can)");
}

void go_prepare(struct cozbpf_bpf *bpf, bool wanted)
{
	bpf_program__set_autoload(bpf->progs.on_go, wanted);
	multi_prepare(bpf->progs.on_go);
	bpf_map__set_max_entries(bpf->maps.goroutines, wanted ? COZBPF_GOROUTINES : 1);
}

bool session_has_goroutines(const struct session *s, int pid)
{
	for (const struct process_go *p = s->go; p; p = p->next)
		if (p->pid == pid)
			return true;
	return false;
}

int session_add_goroutines(struct session *s, const struct go_sites *at, struct error *e)
{
	const struct multi_sites sites = {.pid = at->pid,
	    .path = at->path,
	    .offsets = at->offsets,
	    .cookies = at->cookies,
	    .n = at->n};
	struct process_go *p = calloc(1, sizeof(*p));

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	*p = (struct process_go){at->pid, multi_attach(s->bpf->progs.on_go, &sites), s->go};
	s->go = p;
	if (p->fd < 0) {
		error_set(e, EXIT_FORBIDDEN, "the kernel does not take %zu probes in '%s': %s",
		    at->n, at->path, multi_refusal(-p->fd));
		return error_hint_files(e, -p->fd);
	}
	/* Threads that never run a goroutine have a runtime, too. */
	__atomic_store_n(&s->bpf->bss->control.go_of, (uint32_t)at->pid, __ATOMIC_RELEASE);
	session_visit_tasks(s);
	__atomic_store_n(&s->bpf->bss->control.go_of, 0, __ATOMIC_RELEASE);
	return 0;
}

/* Deletes the accounts of the goroutines of process @pid, which has ended. */
static void forget(const struct session *s, int pid)
{
	int fd = bpf_map__fd(s->bpf->maps.goroutines);
	struct cozbpf_goroutine key, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.tgid == (uint32_t)pid)
			bpf_map_delete_elem(fd, &key);
	}
}

void session_drop_goroutines(struct session *s, int pid)
{
	struct process_go **at = &s->go;

	while (*at) {
		struct process_go *p = *at;

		if (pid && p->pid != pid) {
			at = &p->next;
			continue;
		}
		if (p->fd >= 0) {
			close(p->fd);
			forget(s, p->pid);
		}
		*at = p->next;
		free(p);
	}
}

bool session_go_is_sound(const struct session *s)
{
	return !__atomic_load_n(&s->bpf->bss->control.go_bad, __ATOMIC_RELAXED);
}
