// SPDX-License-Identifier: BSD-3-Clause
/* Many uprobes as one link of the kernel's uprobe_multi kind (6.6 on), for calls.c and points.c.
 * Debian 12's libbpf and headers do not know it yet. */
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/compat.h"
#include "kernel/session_private.h"

/* From include/uapi/linux/bpf.h */
#define TRACE_UPROBE_MULTI 48
#define UPROBE_MULTI_RETURN 1

struct link_create_uprobe_multi {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

void multi_prepare(struct bpf_program *prog)
{
	bpf_program__set_expected_attach_type(prog, TRACE_UPROBE_MULTI);
}

const char *multi_refusal(int err)
{
	struct btf *btf = err == EINVAL ? btf__load_vmlinux_btf() : NULL;
	bool has = !btf || compat_has_uprobe_multi(btf);

	btf__free(btf);
	return has ? strerror(err) : "it takes them one by one only (Linux 6.6 can do more)";
}

int multi_attach(const struct bpf_program *prog, const struct multi_sites *at)
{
	struct link_create_uprobe_multi a = {.prog_fd = (uint32_t)bpf_program__fd(prog),
	    .attach_type = TRACE_UPROBE_MULTI,
	    .path = (uint64_t)(uintptr_t)at->path,
	    .offsets = (uint64_t)(uintptr_t)at->offsets,
	    .ref_ctr_offsets = (uint64_t)(uintptr_t)at->semaphores,
	    .cookies = (uint64_t)(uintptr_t)at->cookies,
	    .cnt = (uint32_t)at->n,
	    .multi_flags = at->returns ? UPROBE_MULTI_RETURN : 0,
	    .pid = (uint32_t)at->pid};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));

	return fd < 0 ? -errno : (int)fd;
}
