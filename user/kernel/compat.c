// SPDX-License-Identifier: BSD-3-Clause
/* See compat.h. Each difference names the release in which it came, and its commit where the
 * release is not in the manual of BPF helpers. */
#include "kernel/compat.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cozbpf/abi.h>

#include "cozbpf.skel.h"

#define INSN(c, d, s, o, i)                                                         \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}
#define ST_DW(reg, o, i) INSN(BPF_ST | BPF_MEM | BPF_DW, reg, 0, o, i)
#define MOV_X(to, from) INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define MOV_K(to, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, i)
#define ADD_K(to, i) INSN(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, i)
#define CALL(helper) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define EXIT() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define LD_MAP(to, fd) \
	INSN(BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

static bool loads(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n)
{
	int fd = bpf_prog_load(type, "cozbpf_try", "GPL", insns, n, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct bpf_program *compat_sample_program(const struct cozbpf_bpf *bpf, const struct pause_mode *m)
{
	return m->by == COZBPF_BY_VALUE ? bpf->progs.on_sample : bpf->progs.on_sample_plain;
}

static struct bpf_program *program_of(const struct cozbpf_bpf *bpf, enum pause_program which)
{
	switch (which) {
	case PAUSE_SETUP:
		return bpf->progs.on_setup;
	case PAUSE_SETUP_PROBE:
		return bpf->progs.on_setup_probe;
	case PAUSE_QUANTUM:
		return bpf->progs.on_quantum;
	default:
		return bpf->progs.on_deliver;
	}
}

struct bpf_program *compat_pause_program(const struct cozbpf_bpf *bpf, const struct pause_mode *m)
{
	return program_of(bpf, m->program);
}

/* The kernel's number of bpf_send_signal_task(); 0: it has none. */
static int send_signal_number(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int ret = btf ? btf__find_by_name_kind(btf, "bpf_send_signal_task", BTF_KIND_FUNC) : 0;

	btf__free(btf);
	return ret > 0 ? ret : 0;
}

/*
 * Calls of the kernel's functions go by number. libbpf would fill it in, but looks for a function
 * that is missing in all modules, which 1.1 gives up without CAP_SYS_ADMIN. 0 or -errno.
 */
static int number_calls(struct bpf_program *prog, int number)
{
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = malloc(n * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	for (size_t i = 0; i < n; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg &&
		    insns[i].imm == COZBPF_SEND_SIGNAL_TASK) {
			insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
			insns[i].imm = number;
		}
	err = bpf_program__set_insns(prog, insns, n);
	free(insns);
	return err;
}

/* Those programs that send values, which others cannot load. 0 or -errno. */
static int prepare_values(const struct cozbpf_bpf *bpf, const struct pause_mode *m)
{
	static int number;
	int err;

	if (m->by != COZBPF_BY_VALUE)
		return 0;
	if (!number)
		number = send_signal_number();
	if (!number)
		return -ENOENT;
	err = number_calls(compat_sample_program(bpf, m), number);
	return err ? err : number_calls(compat_pause_program(bpf, m), number);
}

bool compat_is_realtime(const struct btf *btf)
{
	int id = btf ? btf__find_by_name_kind(btf, "rw_semaphore", BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), "rwbase"))
			return true;
	return false;
}

/*
 * Mode `quanta` sends a signal as one is delivered. The kernel has a lock then that the sending
 * needs. With interrupts off, or (87c544108b61, 6.14) preemption, the sending is put off. With
 * PREEMPT_RT neither need be off, and the thread would wait for itself for ever.
 */
static bool quanta_deadlock(const struct pause_mode *m)
{
	struct btf *btf;
	bool ret;

	if (m->by != COZBPF_BY_QUANTA)
		return false;
	btf = btf__load_vmlinux_btf();
	ret = compat_is_realtime(btf);
	btf__free(btf);
	return ret;
}

int compat_try_pause(const struct pause_mode *m, void *unused)
{
	struct cozbpf_bpf *bpf = cozbpf_bpf__open();
	struct bpf_program *prog;
	struct bpf_link *link;
	int err;

	(void)unused;
	if (!bpf)
		return -errno;
	bpf_object__for_each_program(prog, bpf->obj)
	    bpf_program__set_autoload(prog, prog == compat_pause_program(bpf, m));
	err = prepare_values(bpf, m);
	if (!err)
		err = cozbpf_bpf__load(bpf);
	if (!err) {
		link = bpf_program__attach(compat_pause_program(bpf, m));
		err = link ? 0 : -errno;
		bpf_link__destroy(link);
	}
	cozbpf_bpf__destroy(bpf);
	return !err && quanta_deadlock(m) ? -EDEADLK : err;
}

/* Hash maps that take memory as they grow, in the program of a sample: since 6.1 (34dd3bad1a6f). */
static bool takes_growing_maps(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "cozbpf_try", 4, 4, 1, &opts);
	const struct bpf_insn look_up[] = {ST_DW(BPF_REG_10, -8, 0), LD_MAP(BPF_REG_1, map),
	    MOV_X(BPF_REG_2, BPF_REG_10), ADD_K(BPF_REG_2, -8), CALL(BPF_FUNC_map_lookup_elem),
	    MOV_K(BPF_REG_0, 0), EXIT()};
	bool ret;

	if (map < 0)
		return false;
	ret = loads(BPF_PROG_TYPE_PERF_EVENT, look_up, sizeof(look_up) / sizeof(look_up[0]));
	close(map);
	return ret;
}

int compat_prepare(const struct cozbpf_bpf *bpf, const struct pause_mode *m)
{
	int err = prepare_values(bpf, m);

	if (err)
		return err;
	for (size_t i = 0; i < n_pause_modes; i++) {
		bpf_program__set_autoload(compat_sample_program(bpf, &pause_modes[i]), false);
		bpf_program__set_autoload(compat_pause_program(bpf, &pause_modes[i]), false);
	}
	bpf_program__set_autoload(compat_sample_program(bpf, m), true);
	bpf_program__set_autoload(compat_pause_program(bpf, m), true);
	if (takes_growing_maps())
		return 0;
	bpf_map__set_map_flags(bpf->maps.procs, 0);
	bpf_map__set_map_flags(bpf->maps.process_counters, 0);
	bpf_map__set_map_flags(bpf->maps.goroutines, 0);
	return 0;
}

/* Atomics that return what was there: since 5.12 (5ca419f2864a). */
static bool has_fetch_atomics(void)
{
	static const struct bpf_insn fetch[] = {ST_DW(BPF_REG_10, -8, 0), MOV_K(BPF_REG_0, 1),
	    INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_10, BPF_REG_0, -8, BPF_ADD | BPF_FETCH),
	    MOV_K(BPF_REG_0, 0), EXIT()};

	return loads(BPF_PROG_TYPE_PERF_EVENT, fetch, sizeof(fetch) / sizeof(fetch[0]));
}

static bool has_helper(enum bpf_prog_type type, enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(type, helper, NULL) == 1;
}

const char *compat_missing(void)
{
	if (!has_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_storage_get)) /* a10787e6d58c */
		return "task storage in samples' programs (Linux 5.13)";
	if (!has_fetch_atomics())
		return "BPF atomics that return a value (Linux 5.12)";
	if (!has_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs))
		return "a task's registers in BPF programs (Linux 5.15)";
	if (!has_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie))
		return "cookies of probes (Linux 5.15)";
	return NULL;
}

static bool has_attach_type(const struct btf *btf, const char *name)
{
	int id = btf ? btf__find_by_name_kind(btf, "bpf_attach_type", BTF_KIND_ENUM) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
			return true;
	return false;
}

static bool has_tracepoint(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

/* Since 6.3 (40e0b0908142), and 6.16 (merged by 8127837aae8f). */
bool compat_has_tcp_tracepoints(const struct btf *btf)
{
	return has_tracepoint(btf, "btf_trace_sk_data_ready") &&
	       has_tracepoint(btf, "btf_trace_tcp_sendmsg_locked");
}

/* Since 6.6 (89ae89f53d20). */
bool compat_has_uprobe_multi(const struct btf *btf)
{
	return has_attach_type(btf, "BPF_TRACE_UPROBE_MULTI");
}

/* Since 6.10 (46ba0e49b642), which cannot be told. What can is 6.13's probes of another kind. */
bool compat_multi_has_processes(const struct btf *btf)
{
	return has_attach_type(btf, "BPF_TRACE_UPROBE_SESSION");
}
