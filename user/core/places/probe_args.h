/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of probes, as descriptors that the kernel side evaluates (struct cozbpf_arg).
 * user/symbols/ finds the probes. */
#ifndef COZBPF_PROBE_ARGS_H
#define COZBPF_PROBE_ARGS_H

#include <stdbool.h>

#include <cozbpf/abi.h>

#include "core/text/errors.h"

enum probe_arch {
	PROBE_X86_64,
	PROBE_ARM64,
#if defined(__aarch64__)
	PROBE_ARCH_HOST = PROBE_ARM64,
#else
	PROBE_ARCH_HOST = PROBE_X86_64,
#endif
};

/*
 * Reads argument @n (from 0) of a static probe whose note has @args, such as "8@%rdi -4@-20(%rbp)"
 * (x86-64, AT&T) or "8@x0 -4@[sp, 20]" (arm64). Returns 0, or -1 with @e (EXIT_USAGE), whose cause
 * says which of these holds: there are fewer arguments, the text is damaged, or the kernel side
 * cannot read the place (an indexed, absolute or thread-local address, a floating-point register).
 */
int probe_arg_parse(
    enum probe_arch arch, const char *args, unsigned n, struct cozbpf_arg *ret, struct error *e);

/*
 * Integer or pointer argument @n of a function whose first instruction is probed; later
 * instructions may have changed the register. By the C conventions, or @go's (ABIInternal, from Go
 * 1.17). The value is 64 bits without sign: bits above a shorter argument are not defined. -1 with
 * @e (EXIT_USAGE) for an argument that is in no register.
 */
int probe_arg_function(
    enum probe_arch arch, bool go, unsigned n, struct cozbpf_arg *ret, struct error *e);

#endif
