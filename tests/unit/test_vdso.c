/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a vDSO are found by either kind of hash table. */
#include "check.h"

#include <string.h>
#include <sys/auxv.h>

#include "shim/syscall.h"
#include "shim/vdso.h"

/* An image in which addresses are offsets, as in a vDSO. */
struct image {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdrs[2];
	Elf64_Dyn dynamic[4];
	Elf64_Sym symbols[4];
	char strings[16];
	uint32_t hash[16];
};

#define AT(field) offsetof(struct image, field)

static const struct image plain = {
    .ehdr = {.e_phoff = AT(phdrs), .e_phnum = 2},
    .phdrs = {{.p_type = PT_LOAD}, {.p_type = PT_DYNAMIC, .p_offset = AT(dynamic)}},
    .dynamic = {{DT_SYMTAB, {AT(symbols)}}, {DT_STRTAB, {AT(strings)}}},
    .symbols = {{0}, {.st_name = 1}, {.st_name = 5, .st_value = 0x70},
	{.st_name = 9, .st_value = 0x80}},
    .strings = "\0non\0one\0two",
};

static void check_symbols(const struct image *i)
{
	uintptr_t base = (uintptr_t)i;

	CHECK_EQ((uintptr_t)vdso_symbol(base, "one"), base + 0x70);
	CHECK_EQ((uintptr_t)vdso_symbol(base, "two"), base + 0x80);
	CHECK(!vdso_symbol(base, "tw") && !vdso_symbol(base, "twos"));
	CHECK(!vdso_symbol(base, "non")); /* it is not defined there */
}

TEST(hash_of_system_v)
{
	struct image i = plain;

	i.dynamic[2] = (Elf64_Dyn){DT_HASH, {AT(hash)}};
	i.hash[1] = 4;
	check_symbols(&i);
}

TEST(hash_of_gnu)
{
	/* Two buckets from symbol 2 on, and one word of 64 bits before them. */
	const uint32_t hash[] = {2, 2, 1, 0, 0, 0, 2, 3, 0x11, 0x21},
		       longer[] = {2, 2, 1, 0, 0, 0, 2, 0, 0x10, 0x21},
		       none[] = {1, 4, 1, 0, 0, 0, 0};
	struct image i = plain;

	i.dynamic[2] = (Elf64_Dyn){DT_GNU_HASH, {AT(hash)}};
	memcpy(i.hash, hash, sizeof(hash));
	check_symbols(&i);
	memcpy(i.hash, longer, sizeof(longer));
	check_symbols(&i);
	memset(i.hash, 0, sizeof(i.hash));
	memcpy(i.hash, none, sizeof(none));
	CHECK(!vdso_symbol((uintptr_t)&i, "one"));
}

TEST(none)
{
	CHECK(!vdso_symbol((uintptr_t)&plain, "one"));
}

TEST(of_this_kernel)
{
	uintptr_t base = getauxval(AT_SYSINFO_EHDR);

	CHECK(!base || vdso_symbol(base, SHIM_VDSO_CLOCK_GETTIME));
}
