// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Visits to progress points, counted in virtual time (design.md section 5). One program serves all points; the attach cookie is the point's index. */
#include "maps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Hook: uprobe, task context. Reads the thread state, writes the point's counters. No loops beyond delay.h's. */
SEC("uprobe")
int on_visit(struct pt_regs *ctx)
{
	struct cozbpf_thread *t = thread_of(bpf_get_current_task_btf());

	if (t) /* else another process that runs the same file */
		count_visit(t, bpf_get_attach_cookie(ctx));
	return 0;
}
