/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What each CPU shows of its thread (include/cozbpf/delay_spin.h), and looks at the others'. All of
 * it is skipped until a thread was seen to spin. */
#ifndef COZBPF_SPIN_BPF_H
#define COZBPF_SPIN_BPF_H

#include "maps.bpf.h"

static __always_inline struct cozbpf_earner *earner_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&earners, &cpu);
}

struct spin_look {
	struct cozbpf_thread *t;
	struct cozbpf_earner *own;
	__u64 now, most;
	__u32 leader; /* number of its CPU; 0: none */
	__u32 begins; /* the thread did not spin before: others may have done so for it */
};

/* 1: there is no such CPU. @t and @own are those of @look. */
static __always_inline int look_at_earner(
    __u32 i, struct spin_look *look, struct cozbpf_thread *t, struct cozbpf_earner *own)
{
	struct cozbpf_earner *e = earner_of(i);
	__u64 shown;

	if (!e || e == own)
		return !e;
	if (look->begins)
		delay_released(t, &control, own, e, look->now);
	shown = delay_shown(e, &control, look->now);
	if (shown > look->most) {
		look->most = shown;
		look->leader = i + 1;
	}
	return 0;
}

static long look_at_cpu(__u32 i, void *arg)
{
	struct spin_look *look = arg;

	return look_at_earner(i, look, look->t, look->own);
}

/* The functions below are not inlined, for the verifier's sake, and look up for themselves. */

__attribute__((noinline, weak)) int look_at_cpu_once(
    __u32 i, struct spin_look *look, struct cozbpf_thread *t, struct cozbpf_earner *own)
{
	return look && t && own ? look_at_earner(i, look, t, own) : 1;
}

#define LOOK_AT_CPUS(look, t, own) \
	COMPAT_LOOP(COZBPF_CPUS, look_at_cpu, look, COZBPF_CPUS_OLD, look_at_cpu_once, look, t, own)

/* Spinners on other CPUs that the current thread @t has let go on are known from here on. */
__attribute__((noinline, weak)) int spin_released(struct cozbpf_thread *t, __u64 now)
{
	struct cozbpf_earner *own = earner_of(bpf_get_smp_processor_id());
	struct spin_look look = {.t = t, .own = own, .now = now, .begins = 1};

	if (t && own)
		LOOK_AT_CPUS(&look, t, own);
	return 0;
}

/* A sample has met the current thread @t. 1: it spins, which is all there is to know. */
__attribute__((noinline, weak)) int spin_sample(struct cozbpf_thread *t, __u64 now)
{
	struct cozbpf_earner *own = earner_of(bpf_get_smp_processor_id());
	struct cozbpf_cpu *cpu = this_cpu();

	if (!DELAY_READ(control.spins) || !t || !own || !cpu)
		return 0;
	if (delay_on_spinning_sample(t, &control, cpu, own, now))
		return 1;
	return spin_released(t, now);
}

/* This CPU's thread @t, NULL for none, goes on as its account says. */
__attribute__((noinline, weak)) int spin_show(struct cozbpf_thread *t)
{
	struct cozbpf_earner *own = earner_of(bpf_get_smp_processor_id());

	if (own && DELAY_READ(control.spins))
		delay_show(own, t ? delay_account(t) : NULL);
	return 0;
}

#endif
