// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Visits to progress points, counted in virtual time (design.md section 5). One program serves all points; the attach cookie is the point's index. */
#include "maps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Hook: uprobe, task context. Reads the thread state, writes the point's counters. No loops beyond delay.h's. */
SEC("uprobe")
int on_visit(struct pt_regs *ctx)
{
	struct cozbpf_thread *t = thread_of(bpf_get_current_task_btf());
	__u32 index = bpf_get_attach_cookie(ctx);
	struct cozbpf_point *point;
	__u64 v, bucket, opened;

	if (!t)
		return 0; /* another process that runs the same file */
	point = bpf_map_lookup_elem(&points, &index);
	if (!point)
		return 0;
	__sync_fetch_and_add(&point->visits, 1);
	if (!DELAY_READ(control.active))
		return 0;
	opened = control.opened_ns;
	v = delay_virtual_time(t, &control, bpf_ktime_get_ns());
	if (v <= opened)
		return 0;
	v -= opened;
	bucket = v >> (control.bucket_shift & 63);
	if (bucket >= COZBPF_BUCKETS)
		return 0;
	__sync_fetch_and_add(&point->buckets[bucket].count, 1);
	__sync_fetch_and_add(&point->buckets[bucket].sum, v);
	return 0;
}
