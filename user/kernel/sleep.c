// SPDX-License-Identifier: BSD-3-Clause
/* What a session has attached for good, and how it is taken out between experiments; see session.h.
 * Probes of progress points are points.c's. */
#include <errno.h>
#include <string.h>

#include "kernel/sampling.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

int session_hook(struct session *s, struct bpf_program *prog)
{
	struct hook *h = &s->hooks[s->n_hooks];

	if (s->n_hooks == MAX_HOOKS) {
		errno = ENOSPC;
		return -1;
	}
	/* One that is wanted while the session sleeps is attached when that wakes. */
	*h = (struct hook){.prog = prog, .link = s->is_asleep ? NULL : bpf_program__attach(prog)};
	if (!h->link && !s->is_asleep)
		return -1;
	s->n_hooks++;
	return 0;
}

/* It costs next to nothing, and what it tells could not be found out later. */
static bool is_kept(const struct session *s, const struct bpf_program *prog)
{
	return !prog || prog == s->bpf->progs.on_fork || prog == s->bpf->progs.on_exec ||
	       prog == s->bpf->progs.on_exit;
}

void session_unhook(struct session *s, bool all)
{
	for (size_t i = 0; i < s->n_hooks; i++) {
		if (!all && is_kept(s, s->hooks[i].prog))
			continue;
		bpf_link__destroy(s->hooks[i].link);
		s->hooks[i].link = NULL;
	}
	if (all)
		s->n_hooks = 0;
}

void session_sleep(struct session *s)
{
	sampling_rest(s->sampling);
	session_unhook(s, false);
	points_take_out(s);
	session_drop_calls(s, 0);
	session_drop_spins(s, 0);
	session_drop_goroutines(s, 0);
	s->is_asleep = true;
}

bool session_is_asleep(const struct session *s)
{
	return s->is_asleep;
}

/* Threads are made known as they are now, before a hook can look at what they were. */
static int see_threads(struct session *s, struct error *e)
{
	int err;

	s->bpf->bss->control.seen_again = 1;
	err = session_visit_tasks(s);
	s->bpf->bss->control.seen_again = 0;
	return err ? error_set(e, EXIT_FORBIDDEN, "the threads of the target cannot be listed: %s",
			 strerror(-err))
		   : 0;
}

int session_wake(struct session *s, struct error *e)
{
	s->is_asleep = false;
	if (see_threads(s, e))
		return -1;
	for (size_t i = 0; i < s->n_hooks; i++) {
		struct hook *h = &s->hooks[i];

		if (h->link)
			continue;
		h->link = bpf_program__attach(h->prog);
		if (!h->link)
			return session_fail(s, errno, e);
	}
	if (points_put_in(s, e))
		return -1;
	sampling_go_on(s->sampling);
	return 0;
}
