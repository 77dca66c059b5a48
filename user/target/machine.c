// SPDX-License-Identifier: BSD-3-Clause
/* See machine.h. */
#include "target/machine.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define OURS EM_X86_64
#elif defined(__aarch64__)
#define OURS EM_AARCH64
#else
#define OURS EM_NONE
#endif

static const struct {
	uint16_t machine;
	const char *narrow, *wide; /* of 32 and of 64 bits */
} names[] = {
    {EM_386, "i386", "i386"},
    {EM_X86_64, "x32", "x86-64"},
    {EM_ARM, "arm", "arm"},
    {EM_AARCH64, "arm64 of 32 bits", "arm64"},
    {EM_RISCV, "riscv32", "riscv64"},
};

const char *machine_other(const uint8_t header[MACHINE_HEADER])
{
	uint16_t machine = (uint16_t)(header[18] | header[19] << 8);
	uint8_t class = header[EI_CLASS];

	/* Both of ours write the lower byte first. */
	if (memcmp(header, ELFMAG, SELFMAG) || OURS == EM_NONE)
		return NULL;
	if (header[EI_DATA] != ELFDATA2LSB)
		return "a machine of another byte order";
	if (machine == OURS && class == ELFCLASS64)
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].machine == machine)
			return class == ELFCLASS64 ? names[i].wide : names[i].narrow;
	return "another machine";
}
