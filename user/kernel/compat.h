/* SPDX-License-Identifier: BSD-3-Clause */
/* Every difference between kernels that the loader must know; those that the programs must know are
 * in bpf/compat.bpf.h. What can be tried is tried, else the kernel's types are asked. */
#ifndef COZBPF_KERNEL_COMPAT_H
#define COZBPF_KERNEL_COMPAT_H

#include <stdbool.h>

#include "kernel/pause_mode.h"

struct bpf_program;
struct btf;
struct cozbpf_bpf;

/* Loads and attaches the mode's program for a moment. 0 or -errno. A pause_try_fn. */
int compat_try_pause(const struct pause_mode *m, void *unused);

/* Before loading: the programs of that mode and no other, and maps as the kernel takes them. 0 or
 * -errno. */
int compat_prepare(const struct cozbpf_bpf *bpf, const struct pause_mode *m);
/* The program of samples, and the one that sees pauses begin. */
struct bpf_program *compat_sample_program(const struct cozbpf_bpf *bpf, const struct pause_mode *m);
struct bpf_program *compat_pause_program(const struct cozbpf_bpf *bpf, const struct pause_mode *m);

/* Whether it is a kernel with PREEMPT_RT. @btf: its types, or NULL. */
bool compat_is_realtime(const struct btf *btf);
/* There mode `quanta` would stop the thread for ever; where others do not work, none does. */
#define COMPAT_REALTIME_CAUSE \
	"a kernel with PREEMPT_RT takes pauses of mode 'value' or 'write' only, and neither works"
#define COMPAT_REALTIME_HINT "boot without lockdown (lockdown=none), or use Linux 6.13 or later"

/* The first thing that cozbpf cannot do without and this kernel lacks, and the kernel that has it:
 * "task storage in samples' programs (Linux 5.13)". NULL: nothing is missing. */
const char *compat_missing(void);

/* Many uprobes can be one link (uprobe_multi). @btf: the kernel's types, or NULL. */
bool compat_has_uprobe_multi(const struct btf *btf);
/* Whether those of a process are in all of its threads, not in the first one only. */
bool compat_multi_has_processes(const struct btf *btf);
/* Whether tracepoints tell of data that TCP is given, and hands over. */
bool compat_has_tcp_tracepoints(const struct btf *btf);

#endif
