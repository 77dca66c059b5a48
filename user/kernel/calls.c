// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes on synchronising calls (--sync=uprobe); see session.h. All calls of a library in a process
 * are one link of the kernel's uprobe_multi kind. One by one they would take seconds to set, and
 * seconds to remove.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/session_private.h"

#include "cozbpf.skel.h"

/* The links of one process; they end with it. */
struct process_calls {
	int pid, call_fd, return_fd; /* -1: none */
	struct process_calls *next;
};

void calls_prepare(struct cozbpf_bpf *bpf, bool wanted)
{
	bpf_program__set_autoload(bpf->progs.on_call, wanted);
	bpf_program__set_autoload(bpf->progs.on_return, wanted);
	multi_prepare(bpf->progs.on_call);
	multi_prepare(bpf->progs.on_return);
}

static int attach(const struct bpf_program *prog, const struct call_sites *at, bool returns)
{
	const struct multi_sites sites = {.pid = at->pid,
	    .path = at->path,
	    .offsets = at->offsets,
	    .cookies = at->cookies,
	    .n = at->n,
	    .returns = returns};

	return multi_attach(prog, &sites);
}

/* Probes the calls that may block, at their returns. */
static int attach_returns(const struct session *s, const struct call_sites *at)
{
	struct call_sites blocking = *at;
	uint64_t *offsets = calloc(2 * at->n + 1, sizeof(*offsets)), *cookies = offsets + at->n;
	int fd = -ENOMEM;

	blocking.n = 0;
	for (size_t i = 0; offsets && i < at->n; i++) {
		if (!(at->cookies[i] & COZBPF_CALL_BLOCKS))
			continue;
		offsets[blocking.n] = at->offsets[i];
		cookies[blocking.n++] = at->cookies[i];
	}
	blocking.offsets = offsets;
	blocking.cookies = cookies;
	if (offsets)
		fd = attach(s->bpf->progs.on_return, &blocking, true);
	free(offsets);
	return fd;
}

int session_add_calls(struct session *s, const struct call_sites *at, struct error *e)
{
	struct process_calls *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	*p = (struct process_calls){
	    at->pid, attach(s->bpf->progs.on_call, at, false), attach_returns(s, at), s->calls};
	s->calls = p;
	if (p->call_fd >= 0 && p->return_fd >= 0)
		return 0;
	err = -(p->call_fd < 0 ? p->call_fd : p->return_fd);
	error_set(e, EXIT_FORBIDDEN, "the kernel does not take %zu probes in '%s': %s", at->n,
	    at->path, multi_refusal(err));
	return error_hint_files(e, err);
}

void session_drop_calls(struct session *s, int pid)
{
	struct process_calls **at = &s->calls;

	while (*at) {
		struct process_calls *p = *at;

		if (pid && p->pid != pid) {
			at = &p->next;
			continue;
		}
		if (p->call_fd >= 0)
			close(p->call_fd);
		if (p->return_fd >= 0)
			close(p->return_fd);
		*at = p->next;
		free(p);
	}
}
