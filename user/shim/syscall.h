/* SPDX-License-Identifier: BSD-3-Clause */
/* What the shim needs from each architecture: system calls, the handler's entry, the return from a
 * signal. */
#ifndef COZBPF_SYSCALL_H
#define COZBPF_SYSCALL_H

#define SHIM_STRING_(x) #x
#define SHIM_STRING(x) SHIM_STRING_(x)

/* The kernel's struct sigaction, not libc's. */
struct shim_sigaction {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

extern char shim_handler[] __attribute__((visibility("hidden")));
extern char shim_restorer[] __attribute__((visibility("hidden")));

/* Value of an environment variable of the program; @key is its name with the '='. NULL: not set. */
const char *shim_variable(const char *key) __attribute__((visibility("hidden")));

#if defined(__x86_64__)

#define SHIM_SYS_rt_sigaction 13
#define SHIM_SYS_mmap 9
#define SHIM_SYS_munmap 11
#define SHIM_SYS_clock_gettime 228
#define SHIM_SYS_clock_nanosleep 230
#define SHIM_VDSO_CLOCK_GETTIME "__vdso_clock_gettime"

static inline long shim_syscall(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Memory that forks share; NULL: none. */
static inline void *shim_map_shared(unsigned long size)
{
	register long r10 __asm__("r10") = 0x21; /* MAP_SHARED | MAP_ANONYMOUS */
	register long r8 __asm__("r8") = -1;
	register long r9 __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SHIM_SYS_mmap), "D"(0L), "S"(size),
			 "d"(3L /* PROT_READ | PROT_WRITE */), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret < 0 && ret > -4096 ? 0 : (void *)ret;
}

static inline void shim_relax(void)
{
	__builtin_ia32_pause();
}

#elif defined(__aarch64__)

#define SHIM_SYS_rt_sigaction 134
#define SHIM_SYS_mmap 222
#define SHIM_SYS_munmap 215
#define SHIM_SYS_clock_gettime 113
#define SHIM_SYS_clock_nanosleep 115
#define SHIM_VDSO_CLOCK_GETTIME "__kernel_clock_gettime"

static inline long shim_syscall(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

/* Memory that forks share; NULL: none. */
static inline void *shim_map_shared(unsigned long size)
{
	register long x8 __asm__("x8") = SHIM_SYS_mmap;
	register long x0 __asm__("x0") = 0;
	register long x1 __asm__("x1") = (long)size;
	register long x2 __asm__("x2") = 3;    /* PROT_READ | PROT_WRITE */
	register long x3 __asm__("x3") = 0x21; /* MAP_SHARED | MAP_ANONYMOUS */
	register long x4 __asm__("x4") = -1;
	register long x5 __asm__("x5") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0 < 0 && x0 > -4096 ? 0 : (void *)x0;
}

static inline void shim_relax(void)
{
	__asm__ volatile("yield");
}

#else
#error "no shim for this architecture"
#endif

#endif
