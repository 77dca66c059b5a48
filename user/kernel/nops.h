/* SPDX-License-Identifier: BSD-3-Clause */
/* How the kernel executes the nops of a marker of coz.h under a probe: tried on nops of ours. */
#ifndef COZBPF_NOPS_H
#define COZBPF_NOPS_H

#include <stdbool.h>
#include <stdint.h>

enum nop_sort {
	NOP_FIRST, /* where the marker's note points */
	NOP_LONG,  /* the five bytes behind it: x86-64 only */
};

struct nop_visit {
	bool is_stepped; /* executed singly, in a copy; false: emulated, or better */
	/* Linux 6.18 makes a call of it, which writes below the stack pointer. There the code
	 * around it may have data (the red zone). */
	bool clobbers;
	uint64_t ns; /* a visit, without a BPF program */
};

/* Takes some 100 ms, for the probe to be removed. 0, or -errno: without the right to probe, or on
 * machines without such a nop. */
int nop_try(enum nop_sort sort, struct nop_visit *ret);

/* Whether visits to the long nop cost no more than to the first one, and do no harm. Tried once. */
bool nop_long_is_best(void);

/* Whether a visit to the long nop overwrites what is below the stack pointer, or may do so for all
 * that can be tried. Tried once. */
bool nop_long_clobbers(void);

/* The offset of our own code in our executable; 0: none. */
uint64_t own_code_offset(void (*code)(void));

#endif
