/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the delay arithmetic start from: an experiment that has opened, a CPU, threads
 * of known share and debt. */
#ifndef COZBPF_TESTS_DELAY_FIXTURE_H
#define COZBPF_TESTS_DELAY_FIXTURE_H

#include "check.h"

/* Inlined as in BPF, the arithmetic takes ten times as long to compile with sanitizers. */
#define DELAY_INLINE static __attribute__((noinline, unused))
#include <cozbpf/delay.h>

#define US 1000ULL
#define MS 1000000ULL
#define T0 (1000 * MS) /* the opening */
#define LINE 7
#define HALF (COZBPF_SHARE_ONE / 2)

static struct cozbpf_control x;
static struct cozbpf_cpu cpu;

/* Experiment number @epoch opens at @now. */
static void open_at(__u32 epoch, __u32 pct, __u64 now)
{
	memset(&x, 0, sizeof(x));
	memset(&cpu, 0, sizeof(cpu));
	x.opened_ns = now;
	x.line = LINE;
	x.n_lines = 1;
	x.speedup_pct = pct;
	x.epoch = epoch;
	x.active = 1;
	x.expires_ns = ~0ULL;
}

static void open(__u32 pct)
{
	open_at(1, pct, T0);
}

/* A thread of this experiment with L = @paid; @share of its window is in the line. Executes since
 * T0 when @share is not 0. */
static struct cozbpf_thread thread(__u64 paid, __u32 share)
{
	struct cozbpf_thread t = {
	    .account = {.paid = paid, .epoch = x.epoch, .share = share}, .member = 1};

	for (int i = 0; i < COZBPF_RING; i++) {
		t.account.ring[i].weight_ns = MS;
		t.account.ring[i].line =
		    (__u32)i * COZBPF_SHARE_ONE < share * COZBPF_RING ? LINE : 1;
	}
	t.account.ring_used = t.account.ring_next = COZBPF_RING;
	t.account.ring_weight = COZBPF_RING * MS;
	t.account.ring_hits = t.account.ring_weight * share / COZBPF_SHARE_ONE;
	t.account.segment_weight[0] = t.account.ring_weight;
	t.account.segment_hits[0] = t.account.ring_hits;
	t.account.run_since = T0;
	return t;
}

#endif
