// SPDX-License-Identifier: BSD-3-Clause
/* Programs of other machines, by the first bytes of their files. */
#include "check.h"

#include <elf.h>

#include "target/machine.h"

static const char *other(uint8_t class, uint8_t order, uint16_t machine)
{
	uint8_t header[MACHINE_HEADER] = {0x7f, 'E', 'L', 'F', class, order};

	header[18] = (uint8_t)machine;
	header[19] = (uint8_t)(machine >> 8);
	return machine_other(header);
}

TEST(machines)
{
	uint8_t script[MACHINE_HEADER] = "#!/bin/sh";

	CHECK(!machine_other(script));
	CHECK_STR(other(ELFCLASS32, ELFDATA2LSB, EM_386), "i386");
	CHECK_STR(other(ELFCLASS32, ELFDATA2LSB, EM_X86_64), "x32");
	CHECK_STR(other(ELFCLASS32, ELFDATA2LSB, EM_ARM), "arm");
	CHECK_STR(other(ELFCLASS64, ELFDATA2LSB, EM_RISCV), "riscv64");
	CHECK_STR(other(ELFCLASS64, ELFDATA2LSB, EM_ALPHA), "another machine");
	CHECK_STR(other(ELFCLASS64, ELFDATA2MSB, EM_PPC64), "a machine of another byte order");
#if defined(__x86_64__)
	CHECK(!other(ELFCLASS64, ELFDATA2LSB, EM_X86_64));
	CHECK_STR(other(ELFCLASS64, ELFDATA2LSB, EM_AARCH64), "arm64");
#elif defined(__aarch64__)
	CHECK(!other(ELFCLASS64, ELFDATA2LSB, EM_AARCH64));
	CHECK_STR(other(ELFCLASS64, ELFDATA2LSB, EM_X86_64), "x86-64");
#endif
}
