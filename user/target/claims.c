// SPDX-License-Identifier: BSD-3-Clause
/* See claims.h. */
#include "target/claims.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/owner.h"
#include "target/procfs.h"

static void close_claim(const struct claim *c)
{
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->owner_fd >= 0)
		close(c->owner_fd);
}

void claims_deinit(struct claims *c)
{
	for (unsigned i = 0; i < c->n; i++)
		close_claim(&c->items[i]);
	free(c->items);
	free(c->refused);
	*c = (struct claims){0};
}

static int open_claim(int pid, struct claim *ret, struct error *e)
{
	int err;

	*ret = (struct claim){pid, (int)syscall(SYS_pidfd_open, pid, 0), -1};
	if (ret->pidfd >= 0) {
		ret->owner_fd = owner_claim(pid, e);
		return ret->owner_fd < 0 ? -1 : 0;
	}
	err = errno;
	if (err == ESRCH)
		return error_set(e, EXIT_OTHER, "process %d has ended", pid);
	error_set(e, EXIT_OTHER, "process %d cannot be watched: %s", pid, strerror(err));
	return error_hint_files(e, err);
}

int claims_add(struct claims *c, int pid, struct error *e)
{
	struct claim *bigger = realloc(c->items, (c->n + 1) * sizeof(*bigger)), one;

	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	c->items = bigger;
	if (open_claim(pid, &one, e)) {
		close_claim(&one);
		return -1;
	}
	c->items[c->n++] = one;
	return 0;
}

bool claims_have(const struct claims *c, int pid)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->items[i].pid == pid)
			return true;
	return false;
}

static struct refused_claim *find_refused(const struct claims *c, int pid)
{
	for (unsigned i = 0; i < c->n_refused; i++)
		if (c->refused[i].pid == pid)
			return &c->refused[i];
	return NULL;
}

bool claims_refuse(struct claims *c, int pid, uint64_t again_ns)
{
	struct refused_claim *at = find_refused(c, pid), *bigger;
	uint64_t start = procfs_start(pid);
	bool is_news = !at || at->start != start;

	if (!at) {
		bigger = realloc(c->refused, (c->n_refused + 1) * sizeof(*bigger));
		if (!bigger)
			return true;
		c->refused = bigger;
		at = &bigger[c->n_refused++];
	}
	*at = (struct refused_claim){pid, start, again_ns};
	return is_news;
}

bool claims_refused(const struct claims *c, int pid, uint64_t now)
{
	const struct refused_claim *at = find_refused(c, pid);

	return at && now < at->again_ns && at->start == procfs_start(pid);
}

void claims_answer(const struct claims *c)
{
	for (unsigned i = 0; i < c->n; i++)
		owner_answer(c->items[i].owner_fd);
}

static bool has_ended(const struct claim *c)
{
	struct pollfd fd = {.fd = c->pidfd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

bool claims_all_ended(const struct claims *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (!has_ended(&c->items[i]))
			return false;
	return true;
}

void claims_drop_ended(struct claims *c)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->n; i++) {
		if (has_ended(&c->items[i]))
			close_claim(&c->items[i]);
		else
			c->items[kept++] = c->items[i];
	}
	c->n = kept;
}
