// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Visits to progress points, counted in virtual time (design.md section 5). The attach cookie says which point (COZBPF_COOKIE() of abi.h). */
#include "latency.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline void visit(void *ctx, __u64 cookie)
{
	struct cozbpf_thread *t = thread_of(bpf_get_current_task_btf());

	if (!t) /* another process that runs the same file, or that the tracepoint is hit by */
		return;
	if (COZBPF_COOKIE_ROLE(cookie) == COZBPF_ROLE_BEGIN)
		begin_latency(ctx, t, cookie);
	else if (COZBPF_COOKIE_ROLE(cookie) == COZBPF_ROLE_END)
		end_latency(ctx, t, cookie);
	else
		count_visit(t, COZBPF_COOKIE_POINT(cookie));
}

/* Hook: uprobe or uretprobe, task context. Reads the thread state, writes the point's counters, begins and latencies. No loops beyond delay.h's. */
SEC("uprobe")
int on_visit(struct pt_regs *ctx)
{
	visit(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

/* Hook: any tracepoint, in whatever context it has: a visit by the current thread. Otherwise the same. */
SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	visit(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}
