// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters for programs that were compiled with Coz's own coz.h. Each of its places asks once, by
 * name, for the counter to increment at each visit. A visit calls nobody: at each sample the kernel
 * side looks by how much the counters have grown (bpf/sample.bpf.c). Without a counter a place
 * never asks again and counts nothing. That is so when the loader does not look at counters.
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
	uint64_t hash;                  /* of the whole name */
	char name[COZBPF_COUNTER_NAME]; /* the end of a longer name: COZ_PROGRESS has FILE:LINE */
};

/* Shared with forks, so one number tells what all of them have counted. Made when the first place
 * asks. */
static struct named_counter *table;

#define TABLE_SIZE (COZBPF_COUNTERS * sizeof(struct named_counter))

/* Asked once and kept, since the program may clear its environment. */
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

/* FNV-1a */
static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return hash;
}

static void copy_name(char *to, const char *name)
{
	unsigned length = 0;

	while (name[length])
		length++;
	if (length > COZBPF_COUNTER_NAME - 1)
		name += length - (COZBPF_COUNTER_NAME - 1);
	while ((*to++ = *name++))
		;
}

/* The loader's probe is here: a counter has been made, or (NULL) there was no room for one. */
void _cozbpf_counter(int type, const char *name, struct coz_counter *counter);
__attribute__((noinline, visibility("default"))) void _cozbpf_counter(
    int type, const char *name, struct coz_counter *counter)
{
	__asm__ volatile("" : : "r"(type), "r"(name), "r"(counter) : "memory");
}

/* Without a lock, since a signal handler may ask. If two ask for a name at the same time, each may
 * get a counter, and the loader adds them up. */
struct coz_counter *_coz_get_counter(int type, const char *name);
__attribute__((visibility("default"))) struct coz_counter *_coz_get_counter(
    int type, const char *name)
{
	struct named_counter *all = is_wanted() && name ? find_table() : 0;
	char end[COZBPF_COUNTER_NAME];
	uint64_t hash;

	if (!all)
		return 0;
	hash = hash_name(name);
	for (unsigned i = 0; i < COZBPF_COUNTERS; i++) {
		struct named_counter *c = &all[i];
		int free = FREE;

		if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == NAMED && c->type == type &&
		    c->hash == hash)
			return &c->counter;
		if (!__atomic_compare_exchange_n(
			&c->state, &free, BEING_NAMED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		copy_name(c->name, name);
		c->type = type;
		c->hash = hash;
		__atomic_store_n(&c->state, NAMED, __ATOMIC_RELEASE);
		_cozbpf_counter(type, c->name, &c->counter);
		return &c->counter;
	}
	copy_name(end, name);
	_cozbpf_counter(type, end, 0);
	return 0;
}
