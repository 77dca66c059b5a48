/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a seccomp filter as the kernel would: the classic BPF that seccomp allows. */
#ifndef COZBPF_CBPF_H
#define COZBPF_CBPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* What the filter @code of @n instructions answers to the call @data: SECCOMP_RET_*, with its data.
 * SECCOMP_RET_KILL_PROCESS for a program that the kernel would not have taken. */
uint32_t cbpf_run(const struct sock_filter *code, size_t n, const struct seccomp_data *data);

#endif
