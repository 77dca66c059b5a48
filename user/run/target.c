// SPDX-License-Identifier: BSD-3-Clause
/* What is the same for a command and for processes that run already; see target.h. */
#include "run/target.h"

#include <sched.h>
#include <stdlib.h>

#include "run/options.h"
#include "target/owner.h"
#include "target/procfs.h"

/* how often throttled time is read on: a few files, 20 us each */
#define QUOTA_NS 250000000ULL
/* how often others are answered: the queue of a claim has room for some thousands */
#define ANSWER_NS 1000000000ULL

int target_init(struct target *t, struct error *e)
{
	t->launch = (struct launch){.pidfd = -1, .go_fd = -1, .result_fd = -1};
	t->claim_fd = -1;
	t->ops = t->o->pids.n || t->o->cgroup ? &target_attached : &target_launched;
	return identity_resolve(t->o->user, &t->identity, e) || t->ops->find(t, e) ? -1 : 0;
}

void target_deinit(struct target *t)
{
	claims_deinit(&t->attached);
	free(t->members);
	t->members = NULL;
	quota_deinit(&t->quota);
}

bool target_preloads(const struct target *t)
{
	return *t->shim;
}

int target_fd(const struct target *t)
{
	return t->launch.pidfd;
}

int target_pid_at(const struct target *t, unsigned i)
{
	return i < t->attached.n ? t->attached.items[i].pid : 0;
}

static bool add_cpus(int pid, int tid, void *arg)
{
	cpu_set_t one;

	(void)pid;
	if (!sched_getaffinity(tid, sizeof(one), &one))
		CPU_OR((cpu_set_t *)arg, (cpu_set_t *)arg, &one);
	return true;
}

unsigned target_cpus(const struct target *t)
{
	cpu_set_t all;
	unsigned n;

	CPU_ZERO(&all);
	if (!t->attached.n)
		add_cpus(0, 0, &all); /* a command has ours */
	for (unsigned i = 0; i < t->attached.n; i++)
		procfs_threads(target_pid_at(t, i), add_cpus, &all);
	n = (unsigned)CPU_COUNT(&all);
	return n ? n : (unsigned)sysconf(_SC_NPROCESSORS_ONLN); /* gone, or too many */
}

void target_begin_quotas(struct target *t, uint64_t now)
{
	quota_deinit(&t->quota);
	t->ops->watch_quotas(t);
	t->quota_ns = now + QUOTA_NS;
}

void target_read_quotas(struct target *t, uint64_t now)
{
	if (now < t->quota_ns)
		return;
	quota_update(&t->quota);
	t->quota_ns = now + QUOTA_NS;
}

uint64_t target_end_quotas(struct target *t)
{
	quota_update(&t->quota);
	return quota_throttled_ns(&t->quota);
}

void target_answer(struct target *t, uint64_t now)
{
	if (now < t->answer_ns)
		return;
	t->answer_ns = now + ANSWER_NS;
	if (t->claim_fd >= 0)
		owner_answer(t->claim_fd);
	claims_answer(&t->attached);
}
