// SPDX-License-Identifier: BSD-3-Clause
/*
 * The shim: handler of the pause signal (design.md 4.7), preloaded into the target. Free of libc: nothing here calls into the target's
 * libraries except the constructor, which asks for the auxiliary vector. Position-independent, no thread-local storage, no vector registers.
 */
#include <elf.h>
#include <linux/signal.h>
#include <linux/time.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "shim/syscall.h"

#define SPIN_NS 150000ULL /* a sleep ends this much before the pause does, and the handler spins the rest: covers usual wake-up latency */

typedef int (*clock_gettime_fn)(int clock, struct timespec *t);

static clock_gettime_fn vdso_clock_gettime;

static uint64_t now_ns(void)
{
	struct timespec t = {0, 0};

	if (vdso_clock_gettime)
		vdso_clock_gettime(1 /* CLOCK_MONOTONIC */, &t);
	else
		shim_syscall(SHIM_SYS_clock_gettime, 1, (long)&t, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/*
 * Pauses until the absolute monotonic time that the signal carries in si_value; its lowest bit asks to hold the CPU. The end is at most
 * COZBPF_PAUSE_MAX_NS away when sent; a value further off did not come from cozbpf and is cut. Saved state (errno, registers, masks) is the
 * kernel's affair: no libc call is made here.
 */
void shim_pause(int sig, siginfo_t *info, void *context);
__attribute__((used, visibility("hidden"))) void shim_pause(int sig, siginfo_t *info, void *context)
{
	uint64_t value, end, now = now_ns();

	(void)sig;
	(void)context;
	__builtin_memcpy(&value, (const char *)info + 24, sizeof(value)); /* si_value: see compat_siginfo_value() */
	end = value & ~(uint64_t)COZBPF_HOLD;
	if (end <= now)
		return;
	if (end - now > COZBPF_PAUSE_MAX_NS)
		end = now + COZBPF_PAUSE_MAX_NS;
	if (!(value & COZBPF_HOLD) && end - now > SPIN_NS) {
		uint64_t wake = end - SPIN_NS;
		struct timespec t = {(long)(wake / 1000000000ULL), (long)(wake % 1000000000ULL)};

		/* Absolute: an interrupted sleep is taken up again. */
		while (shim_syscall(SHIM_SYS_clock_nanosleep, 1, 1 /* TIMER_ABSTIME */, (long)&t, 0) == -4 /* EINTR */)
			;
	}
	while (now_ns() < end)
		shim_relax();
}

/* One symbol of the vDSO, from its dynamic section; NULL when it is not there. */
static void *vdso_symbol(uintptr_t base, const char *name)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(base + ehdr->e_phoff);
	const Elf64_Sym *symtab = NULL;
	const char *strtab = NULL;
	const uint32_t *hash = NULL;
	uintptr_t bias = base;

	for (int i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD)
			bias = base + phdr[i].p_offset - phdr[i].p_vaddr;
	for (int i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (const Elf64_Dyn *d = (const Elf64_Dyn *)(base + phdr[i].p_offset); d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_SYMTAB)
				symtab = (const Elf64_Sym *)(d->d_un.d_ptr + bias);
			else if (d->d_tag == DT_STRTAB)
				strtab = (const char *)(d->d_un.d_ptr + bias);
			else if (d->d_tag == DT_HASH)
				hash = (const uint32_t *)(d->d_un.d_ptr + bias);
		}
	}
	if (!symtab || !strtab || !hash)
		return NULL;
	for (uint32_t i = 0; i < hash[1]; i++) {
		const char *s = strtab + symtab[i].st_name;
		size_t j = 0;

		while (s[j] && s[j] == name[j])
			j++;
		if (s[j] == name[j] && symtab[i].st_value)
			return (void *)(symtab[i].st_value + bias);
	}
	return NULL;
}

extern unsigned long getauxval(unsigned long type) __attribute__((weak));
extern char **environ __attribute__((weak));

/* Number of the pause signal: COZBPF_SIGNAL=N from the environment, set by cozbpf. 0: not set, so the shim stays out of the way. */
static int signal_number(void)
{
	static const char key[] = "COZBPF_SIGNAL=";
	int n = 0;

	if (!&environ || !environ)
		return 0;
	for (char **e = environ; *e; e++) {
		size_t i = 0;

		while (key[i] && (*e)[i] == key[i])
			i++;
		if (key[i])
			continue;
		for (const char *c = *e + i; *c >= '0' && *c <= '9' && n < 100; c++)
			n = n * 10 + *c - '0';
		return n >= 34 && n <= 64 ? n : 0;
	}
	return 0;
}

/* Installs the handler, unless something else already uses the signal (an inherited SIG_IGN included): then it is left alone, and the kernel
 * side, which looks before it sends, says so in the report. */
__attribute__((constructor)) static void shim_install(void)
{
	struct shim_sigaction old = {0}, action = {0};
	int sig = signal_number();
	unsigned long vdso;

	if (!sig)
		return;
	vdso = &getauxval ? getauxval(33 /* AT_SYSINFO_EHDR */) : 0;
	if (vdso)
		vdso_clock_gettime = (clock_gettime_fn)vdso_symbol(vdso, SHIM_VDSO_CLOCK_GETTIME);
	if (shim_syscall(SHIM_SYS_rt_sigaction, sig, 0, (long)&old, 8) < 0 || old.handler)
		return;
	action.handler = (void *)shim_handler;
	action.flags = COZBPF_HANDLER_FLAGS;
	action.restorer = (void *)shim_restorer;
	shim_syscall(SHIM_SYS_rt_sigaction, sig, (long)&action, 0, 8);
}
