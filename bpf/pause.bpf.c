// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The pause's signal reaches its thread, and carries no value. There are two other ways in which
 * the handler is told how long its pause lasts (docs/design.md, Pausing a thread); one way is
 * loaded.
 */
#include "begin.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The end goes into the siginfo that the handler is about to get. Where that fails the handler
 * returns at once. */
static __always_inline int write_end(int failed, const struct ksignal *ksig)
{
	struct cozbpf_proc_stats *stats;
	struct cozbpf_thread *t;
	__u64 end, at;

	if (failed)
		return 0;
	t = paused_thread(BPF_CORE_READ(ksig, sig), &stats);
	/* For a handler without siginfo arm64 leaves a register of the program's there. */
	if (!t || t->pause != COZBPF_PAUSE_ASKED ||
	    BPF_CORE_READ(ksig, ka.sa.sa_flags) != COZBPF_HANDLER_FLAGS)
		return 0;
	end = end_there(t) | t->pause_hold;
	at = compat_handler_info(bpf_get_current_task_btf()) + COMPAT_SI_VALUE;
	if (!bpf_probe_write_user((void *)at, &end, sizeof(end))) {
		begin(t, stats);
		return 0;
	}
	t->pause = COZBPF_PAUSE_NONE;
	__sync_fetch_and_add(&stats->not_sent, 1);
	return 0;
}

/* Hook: the frame of a signal is on the current thread's stack, task context. Mode `write`. Writes
 * to the target's memory. */
SEC("fentry/signal_setup_done")
int BPF_PROG(on_setup, int failed, struct ksignal *ksig)
{
	return write_end(failed, ksig);
}

/* The same where functions cannot be traced so (arm64 before 6.4). */
SEC("kprobe/signal_setup_done")
int BPF_KPROBE(on_setup_probe, int failed, struct ksignal *ksig)
{
	return write_end(failed, ksig);
}

/*
 * Hook: a signal is about to be delivered to the current thread, task context, interrupts off. Mode
 * `quanta`: the handler holds the CPU for a quantum, whoever has sent the signal, and while more is
 * owed the next signal is sent. That one waits for the handler's end.
 */
SEC("tp_btf/signal_deliver")
int BPF_PROG(on_quantum, int sig, struct kernel_siginfo *info)
{
	struct cozbpf_proc_stats *stats;
	struct cozbpf_thread *t = paused_thread(sig, &stats);
	__u64 now, end, since;
	bool more, begins;

	if (!t || compat_siginfo_value(info) || !shim_installed(bpf_get_current_task_btf()))
		return 0;
	if (t->pause == COZBPF_PAUSE_ASKED)
		__sync_fetch_and_add(&stats->begun, 1);
	now = bpf_ktime_get_ns();
	end = now + config.quantum_ns;
	more = delay_owes_quantum(t, config.quantum_ns, end);
	if (more && bpf_send_signal_thread(config.signal)) {
		more = false;
		__sync_fetch_and_add(&stats->not_sent, 1);
	}
	begins = t->pause != COZBPF_PAUSE_BEGUN;
	since = t->pause == COZBPF_PAUSE_NONE ? now : delay_account(t)->run_since;
	delay_on_quantum(t, &control, more, end, now);
	count_perturbed(t, since, begins);
	spin_show(t);
	return 0;
}
