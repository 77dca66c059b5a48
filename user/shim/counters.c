// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters for programs that were compiled with Coz's own coz.h: each of its places asks once, by name, for the counter that it is to raise at each
 * visit. Nobody is called at a visit; the kernel side looks at samples by how much the counters have grown (bpf/sample.bpf.c). Without a counter a place
 * asks no more and counts nothing: so it is when the loader does not look at counters.
 */
#include <stdint.h>

#include <cozbpf/abi.h>
#include "shim/syscall.h"

/* Coz's coz_counter_t */
struct coz_counter {
	uint64_t count, backoff;
};

enum { FREE, BEING_NAMED, NAMED };

struct named_counter {
	struct coz_counter counter;
	int state, type;
	char name[COZBPF_COUNTER_NAME];
};

/* Shared with forks, so that one number tells what all of them have counted. Made when the first place asks. */
static struct named_counter *table;

#define TABLE_SIZE (COZBPF_COUNTERS * sizeof(struct named_counter))

/* Asked once and kept: the program may clear its environment. */
static int is_wanted(void)
{
	static int known; /* 1: no, 2: yes */

	if (!__atomic_load_n(&known, __ATOMIC_RELAXED))
		__atomic_store_n(&known, 1 + !!shim_variable("COZBPF_COUNTERS="), __ATOMIC_RELAXED);
	return known == 2;
}

static struct named_counter *find_table(void)
{
	struct named_counter *made, *old = __atomic_load_n(&table, __ATOMIC_ACQUIRE);

	if (old)
		return old;
	made = shim_map_shared(TABLE_SIZE);
	if (!made)
		return 0;
	if (__atomic_compare_exchange_n(&table, &old, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	shim_syscall(SHIM_SYS_munmap, (long)made, TABLE_SIZE, 0, 0);
	return old;
}

static int is_named(const struct named_counter *c, int type, const char *name)
{
	unsigned i = 0;

	if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != NAMED || c->type != type)
		return 0;
	while (i < sizeof(c->name) - 1 && name[i] && c->name[i] == name[i])
		i++;
	return c->name[i] == (i < sizeof(c->name) - 1 ? name[i] : 0);
}

/* Where the loader has its probe: a counter has been made. */
void _cozbpf_counter(int type, const char *name, struct coz_counter *counter);
__attribute__((noinline, visibility("default"))) void _cozbpf_counter(int type, const char *name, struct coz_counter *counter)
{
	__asm__ volatile("" : : "r"(type), "r"(name), "r"(counter) : "memory");
}

/* Without a lock, for it may be asked in a signal handler. Two that ask for a name at the same time may get a counter each: the loader adds them up. */
struct coz_counter *_coz_get_counter(int type, const char *name);
__attribute__((visibility("default"))) struct coz_counter *_coz_get_counter(int type, const char *name)
{
	struct named_counter *all = is_wanted() ? find_table() : 0;

	for (unsigned i = 0; all && name && i < COZBPF_COUNTERS; i++) {
		struct named_counter *c = &all[i];
		int free = FREE;

		if (is_named(c, type, name))
			return &c->counter;
		if (!__atomic_compare_exchange_n(&c->state, &free, BEING_NAMED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		for (unsigned n = 0; n < sizeof(c->name) - 1 && name[n]; n++)
			c->name[n] = name[n];
		c->type = type;
		__atomic_store_n(&c->state, NAMED, __ATOMIC_RELEASE);
		_cozbpf_counter(type, name, &c->counter);
		return &c->counter;
	}
	return 0;
}
