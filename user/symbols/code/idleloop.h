/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/: idle loops. An idle loop waits for what somebody else writes into
 * memory: no other thing can make one of its turns differ from the one before. x86-64 only.
 *
 *   - It reads memory. It writes none, but for one lock that is tried: what is stored there is the
 *     same in each turn.
 *   - No register goes from turn to turn: none is read first and written later. So whoever counts,
 *     searches or follows a list works.
 *   - Its code is straight, up to the branch back. Branches on the way leave it, or begin a turn.
 *   - Each instruction is one of those below. PAUSE is not: it tells by itself of a loop that
 * waits.
 */
#ifndef COZBPF_IDLELOOP_H
#define COZBPF_IDLELOOP_H

#include "symbols/code/decode.h"

/* A loop of 64 bytes is in two pieces of that size at most (user/run/idle.c). */
#define IDLE_LOOP_BYTES 64
#define IDLE_LOOP_INSTRUCTIONS 12

/* Whether @size bytes of @code begin with a branch of two, five or six bytes that the kernel
 * emulates. *@distance is from its end to its target. */
struct near_branch {
	size_t size;
	int32_t distance;
	uint32_t condition; /* COZBPF_BRANCH_*; 0: it is always taken */
};
bool near_branch_at(const uint8_t *code, size_t size, struct near_branch *ret);

/* Whether @code, of which @size bytes from @head on are known, is an idle loop up to and with the
 * near branch to @head that ends at @end. */
bool is_idle_loop(struct decoder *d, const uint8_t *code, size_t size, uint64_t head, uint64_t end);

#endif
