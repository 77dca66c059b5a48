/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The kernel facts that cozbpf's BPF programs rely on, by hand: every type lists only the fields in
 * use, and CO-RE relocates them against the running kernel's BTF. To add a field, copy it from
 * `bpftool btf dump file /sys/kernel/btf/vmlinux format c`, which shows the whole.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef int pid_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigaction {
	void *sa_handler;
	unsigned long sa_flags;
	void *sa_restorer;
	sigset_t sa_mask;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct rlimit {
	unsigned long rlim_cur;
};

struct signal_struct {
	atomic_t live;
	struct rlimit rlim[16];
};

struct rq;
struct sock;

struct cfs_rq {
	unsigned int h_nr_runnable;
	struct rq *rq;
};

struct rq {
	unsigned int nr_running;
	struct cfs_rq cfs;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	u64 sum_exec_runtime, prev_sum_exec_runtime;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[];
};

struct thread_info {
	unsigned long syscall_work;
	u32 status; /* x86 */
};

enum syscall_work_bit {
	SYSCALL_WORK_BIT_SYSCALL_USER_DISPATCH = 5,
};

struct seccomp_filter;

struct seccomp {
	int mode;
	struct seccomp_filter *filter;
};

#if defined(__TARGET_ARCH_arm64)
struct thread_uw {
	unsigned long tp_value;
};
struct thread_struct {
	struct thread_uw uw;
};
#else
struct thread_struct {
	unsigned long fsbase;
};
#endif

struct super_block {
	unsigned int s_dev;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_rdev;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};

struct timens_offsets {
	struct timespec64 monotonic;
};

struct time_namespace {
	struct timens_offsets offsets;
};

struct nsproxy {
	struct time_namespace *time_ns;
};

struct task_struct {
	struct thread_info thread_info;
	struct thread_struct thread;
	struct sched_entity se;
	unsigned int __state;
	unsigned int flags;
	pid_t pid, tgid;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	sigset_t blocked;
	unsigned long sas_ss_sp;
	unsigned long sas_ss_size;
	struct seccomp seccomp;
	unsigned in_iowait : 1;
	unsigned long jobctl;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	char comm[16];
};

typedef s64 ktime_t;

struct hrtimer {
	ktime_t _softexpires;
	u8 is_soft;
};

struct rb_node {
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	struct rb_node vm_rb;
};

struct maple_tree {
	void *ma_root;
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
};

struct mm_struct {
	struct rb_root mm_rb;
	struct maple_tree mm_mt;
};

struct ksignal {
	struct k_sigaction ka;
	int sig;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct kernel_siginfo;
struct linux_binprm;

#pragma clang attribute pop

enum pid_type { PIDTYPE_PID, PIDTYPE_TGID };

/* User registers as the kernel saves them; the layout is user ABI
 * (arch/x86/include/asm/ptrace.h, arch/arm64/include/uapi/asm/ptrace.h). */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			__u64 regs[31], sp, pc, pstate;
		};
	};
	__s32 syscallno;
};
#else
#error "no register layout for this architecture"
#endif

struct hw_perf_event {
	struct hrtimer hrtimer;
};

struct perf_event {
	struct hw_perf_event hw;
};

struct bpf_perf_event_data_kern {
	struct pt_regs *regs;
	void *data;
	struct perf_event *event;
};

struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

#endif
