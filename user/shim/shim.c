// SPDX-License-Identifier: BSD-3-Clause
/* The preloaded library: installs the handler of pause.c when the program starts. The constructor
 * asks for the auxiliary vector; nothing else here calls the target's libraries. */
#include <linux/signal.h>
#include <linux/time.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "shim/syscall.h"
#include "shim/vdso.h"

extern volatile struct cozbpf_handler_words shim_words __attribute__((visibility("hidden")));

extern unsigned long getauxval(unsigned long type) __attribute__((weak));
extern char **environ __attribute__((weak));

const char *shim_variable(const char *key)
{
	if (!&environ || !environ)
		return 0;
	for (char **e = environ; *e; e++) {
		unsigned i = 0;

		while (key[i] && (*e)[i] == key[i])
			i++;
		if (!key[i])
			return *e + i;
	}
	return 0;
}

/* A variable that cozbpf sets, @most or less; 0: not set. */
static unsigned number(const char *key, unsigned most)
{
	unsigned n = 0;

	for (const char *c = shim_variable(key); c && *c >= '0' && *c <= '9' && n <= most; c++)
		n = n * 10 + (unsigned)(*c - '0');
	return n <= most ? n : 0;
}

/* Installs the handler, unless something else uses the signal already, including an inherited
 * SIG_IGN. Then the signal is left alone: the kernel side looks before it sends, and the report
 * says so. */
__attribute__((constructor)) static void shim_install(void)
{
	struct shim_sigaction old = {0}, action = {0};
	unsigned sig = number("COZBPF_SIGNAL=", 64);
	unsigned long vdso;

	if (sig < 34)
		return;
	shim_words.quantum_ns = number("COZBPF_QUANTUM=", COZBPF_PAUSE_MAX_NS);
	vdso = &getauxval ? getauxval(33 /* AT_SYSINFO_EHDR */) : 0;
	if (vdso)
		shim_words.clock_gettime = (uint64_t)vdso_symbol(vdso, SHIM_VDSO_CLOCK_GETTIME);
	if (shim_syscall(SHIM_SYS_rt_sigaction, sig, 0, (long)&old, 8) < 0 || old.handler)
		return;
	action.handler = (void *)shim_handler;
	action.flags = COZBPF_HANDLER_FLAGS;
	action.restorer = (void *)shim_restorer;
	shim_syscall(SHIM_SYS_rt_sigaction, sig, (long)&action, 0, 8);
}
