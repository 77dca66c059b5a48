/* SPDX-License-Identifier: BSD-3-Clause */
/* For which machine a program is built. */
#ifndef COZBPF_MACHINE_H
#define COZBPF_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of an ELF file that tell. */
#define MACHINE_HEADER 20

/* NULL: for ours, or that cannot be told. Else what it is for, such as "i386". */
const char *machine_other(const uint8_t header[MACHINE_HEADER]);

#endif
