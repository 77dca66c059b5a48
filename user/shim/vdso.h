/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up a function in the vDSO: for the shim in its own process, and for the injector in ours.
 * Uses no libc. */
#ifndef COZBPF_VDSO_H
#define COZBPF_VDSO_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* How many symbols a DT_GNU_HASH leads to: the last one of a chain has the lowest bit set. */
static inline uint32_t vdso_hashed_symbols(const uint32_t *hash)
{
	uint32_t buckets = hash[0], first = hash[1], last = 0;
	const uint32_t *bucket = hash + 4 + hash[2] * (sizeof(uint64_t) / sizeof(uint32_t)),
		       *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (last < first)
		return 0;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

/* One symbol of the vDSO at @base, from its dynamic section, or NULL. The vDSO is our own, so the
 * kernel vouches for it. */
static inline void *vdso_symbol(uintptr_t base, const char *name)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(base + ehdr->e_phoff);
	const Elf64_Sym *symtab = NULL;
	const char *strtab = NULL;
	uintptr_t bias = base;
	uint32_t n = 0;

	for (int i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD)
			bias = base + phdr[i].p_offset - phdr[i].p_vaddr;
	for (int i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (const Elf64_Dyn *d = (const Elf64_Dyn *)(base + phdr[i].p_offset);
		     d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_SYMTAB)
				symtab = (const Elf64_Sym *)(d->d_un.d_ptr + bias);
			else if (d->d_tag == DT_STRTAB)
				strtab = (const char *)(d->d_un.d_ptr + bias);
			else if (d->d_tag == DT_HASH)
				n = ((const uint32_t *)(d->d_un.d_ptr + bias))[1];
			else if (d->d_tag == DT_GNU_HASH) /* some kernels' have no other */
				n = vdso_hashed_symbols((const uint32_t *)(d->d_un.d_ptr + bias));
		}
	}
	if (!symtab || !strtab)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const char *s = strtab + symtab[i].st_name;
		size_t j = 0;

		while (s[j] && s[j] == name[j])
			j++;
		if (s[j] == name[j] && symtab[i].st_value)
			return (void *)(symtab[i].st_value + bias);
	}
	return NULL;
}

#endif
