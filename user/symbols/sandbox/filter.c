// SPDX-License-Identifier: BSD-3-Clause
/* The seccomp filter of readers; see filter.h. A reader has its files open, maps memory that is no
 * code, and answers: it opens, executes and signals nothing. */
#include "symbols/sandbox/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/* x32 calls have this bit, and are no numbers of our table. */
#define X32_BIT 0x40000000

static const int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_pread64,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_madvise,
    SYS_futex,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_restart_syscall,
    SYS_clock_gettime,
    SYS_getpid,
    SYS_gettid,
    /* malloc() and qsort() of some C libraries */
    SYS_sysinfo,
    SYS_sched_getaffinity,
    SYS_getrandom,
};

/* libdw asks where its file is (realpath()), and goes on without an answer. Nothing is looked up.
 */
static const int refused[] = {
#ifdef SYS_readlink
    SYS_readlink,
#endif
#ifdef SYS_lstat
    SYS_lstat,
#endif
    SYS_readlinkat,
    SYS_newfstatat,
    SYS_statx,
    SYS_getcwd,
};

#define N_ALLOWED (sizeof(allowed) / sizeof(*allowed))
#define N_REFUSED (sizeof(refused) / sizeof(*refused))

struct program {
	struct sock_filter code[2 * (N_ALLOWED + N_REFUSED) + 32];
	unsigned short n;
};

static void add(struct program *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
	p->code[p->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct program *p, size_t offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void end(struct program *p, uint32_t action)
{
	add(p, BPF_RET | BPF_K, 0, 0, action);
}

/* The accumulator holds the number, before and after. */
static void unless_number(struct program *p, int number, uint8_t skip)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, skip, (uint32_t)number);
}

static void load_argument(struct program *p, int index)
{
	/* The lower half: both machines are little endian. */
	load(p, offsetof(struct seccomp_data, args) + (size_t)index * 8);
}

static void allow_without_code(struct program *p, int number)
{
	unless_number(p, number, 4);
	load_argument(p, 2);
	add(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, PROT_EXEC);
	end(p, SECCOMP_RET_KILL_PROCESS);
	end(p, SECCOMP_RET_ALLOW);
}

/* abort() signals the process itself, so that its end has the right name. */
static void allow_own_signals(struct program *p)
{
	unless_number(p, SYS_tgkill, 4);
	load_argument(p, 0);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)getpid());
	end(p, SECCOMP_RET_KILL_PROCESS);
	end(p, SECCOMP_RET_ALLOW);
}

static void make(struct program *p, uint32_t arch)
{
	load(p, offsetof(struct seccomp_data, arch));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, arch);
	end(p, SECCOMP_RET_KILL_PROCESS);
	load(p, offsetof(struct seccomp_data, nr));
	add(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, X32_BIT);
	end(p, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < N_ALLOWED; i++) {
		unless_number(p, allowed[i], 1);
		end(p, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < N_REFUSED; i++) {
		unless_number(p, refused[i], 1);
		end(p, SECCOMP_RET_ERRNO | EACCES);
	}
	allow_without_code(p, SYS_mmap);
	allow_without_code(p, SYS_mprotect);
	allow_own_signals(p);
	end(p, SECCOMP_RET_KILL_PROCESS);
}

int filter_system_calls(void)
{
	struct program p = {.n = 0};
	struct sock_fprog fprog = {.filter = p.code};

	if (!ARCH)
		return -ENOSYS;
	make(&p, ARCH);
	fprog.len = p.n;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog) ? -errno : 0;
}

bool can_filter(void)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;

	return ARCH && !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}
