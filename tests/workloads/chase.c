// SPDX-License-Identifier: BSD-3-Clause
/*
 * A line that memory limits: it follows pointers through 64 MiB in random order. Two threads follow
 * pointers, 20000 (the line) and 12000 steps between barriers. Each slows the other one's memory
 * down, so only measuring tells the truth.
 */
#include "workload.h"

#define SLOTS (1 << 20)
#define STRIDE 64

static long a_steps = 20000, b_steps = 12000;
static pthread_barrier_t meeting;
static struct slot {
	struct slot *next;
	char padding[STRIDE - sizeof(void *)];
} * slots;

/* Follows @steps pointers; a macro as SPIN() is, for the sake of the line. */
#define SPIN_CHASE(at, steps)                          \
	for (uint64_t left_ = (steps); left_; left_--) \
	(at) = __atomic_load_n(&(at)->next, __ATOMIC_RELAXED)

static uint64_t line_steps(void)
{
	return (uint64_t)a_steps * __atomic_load_n(&work.counters->line_share, __ATOMIC_RELAXED) /
	       WORK_WHOLE;
}

static void *run_a(void *argument)
{
	struct slot *at = slots;

	for (;;) {
		uint64_t steps = line_steps();

		SPIN_CHASE(at, steps); /* LINE_A */
		pthread_barrier_wait(&meeting);
		progress();
	}
	return NULL;
}

static void *run_b(void *argument)
{
	struct slot *at = slots + SLOTS / 2;

	for (;;) {
		SPIN_CHASE(at, (uint64_t)b_steps); /* LINE_B */
		pthread_barrier_wait(&meeting);
	}
	return NULL;
}

/* One cycle through all slots, drawn with a fixed seed (Sattolo). */
static void link_slots(void)
{
	uint32_t *order = malloc(SLOTS * sizeof(*order));
	uint64_t seed = 88172645463325252ull;

	slots = aligned_alloc(STRIDE, SLOTS * sizeof(*slots));
	if (!order || !slots)
		work_fail("malloc");
	for (uint32_t i = 0; i < SLOTS; i++)
		order[i] = i;
	for (uint32_t i = SLOTS - 1; i; i--) {
		uint32_t other, kept = order[i];

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		other = (uint32_t)(seed % i);
		order[i] = order[other];
		order[other] = kept;
	}
	for (uint32_t i = 0; i < SLOTS; i++)
		slots[order[i]].next = &slots[order[(i + 1) % SLOTS]];
	free(order);
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-steps", &a_steps}, {"b-steps", &b_steps}, {NULL}};

	work_init(argc, argv, 2, options);
	link_slots();
	pthread_barrier_init(&meeting, NULL, 2);
	work_thread(run_a, NULL);
	work_thread(run_b, NULL);
	work_wait();
}
