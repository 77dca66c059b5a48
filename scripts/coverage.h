/* SPDX-License-Identifier: BSD-3-Clause */
/* Included first by `make coverage`: a process that ends by _exit() saves its counters, too, and
 * readers keep the rights that this needs. */
#ifndef COZBPF_COVERAGE_H
#define COZBPF_COVERAGE_H

#include <gcov.h>
#include <unistd.h>

#define SANITIZED 1

static inline void __attribute__((noreturn, unused)) coverage_exit(int status)
{
	__gcov_dump();
	_exit(status);
}
#define _exit coverage_exit

#endif
