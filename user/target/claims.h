/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that are attached to: each is claimed (owner.h), and watched until it ends. */
#ifndef COZBPF_CLAIMS_H
#define COZBPF_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"

struct claim {
	int pid, pidfd, owner_fd;
};

struct refused_claim {
	int pid;
	uint64_t start;    /* the number alone may be a later process's */
	uint64_t again_ns; /* when to ask for it again */
};

/* All zero: none. */
struct claims {
	struct claim *items;
	unsigned n;
	struct refused_claim *refused; /* those that could not be had */
	unsigned n_refused;
};

void claims_deinit(struct claims *c);

/* -1 with @e, and nothing is added: it has ended, or another cozbpf has it. */
int claims_add(struct claims *c, int pid, struct error *e);
bool claims_have(const struct claims *c, int pid);
/* Not to be asked for before @again_ns, CLOCK_MONOTONIC. Whether that is news. */
bool claims_refuse(struct claims *c, int pid, uint64_t again_ns);
bool claims_refused(const struct claims *c, int pid, uint64_t now);

/* As owner_answer(), of each. */
void claims_answer(const struct claims *c);

/* True where there are none, too. */
bool claims_all_ended(const struct claims *c);
/* Closes the descriptors of those that have ended. */
void claims_drop_ended(struct claims *c);

#endif
