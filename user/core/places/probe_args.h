/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of probes, as descriptors that the kernel side evaluates (struct cozbpf_arg). Where
 * probes are: user/symbols/. */
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
 * Argument @n (from 0) of a static probe whose note has @args, such as "8@%rdi -4@-20(%rbp)"
 * (x86-64, AT&T) or "8@x0 -4@[sp, 20]" (arm64). 0, or -1 with @e (EXIT_USAGE): there are fewer, the
 * text is damaged, or the argument stands where the kernel side cannot read it (an indexed,
 * absolute or thread-local address, a floating-point register); the cause says which.
 */
int probe_arg_parse(
    enum probe_arch arch, const char *args, unsigned n, struct cozbpf_arg *ret, struct error *e);

/*
 * Integer or pointer argument @n of a function whose first instruction is probed; elsewhere in the
 * function the register may hold something else. By the C conventions, or @go's (ABIInternal, from
 * Go 1.17). As 64 bits without sign: what stands above a shorter argument is not defined. -1 with
 * @e (EXIT_USAGE) for an argument that is in no register.
 */
int probe_arg_function(
    enum probe_arch arch, bool go, unsigned n, struct cozbpf_arg *ret, struct error *e);

#endif
