/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up a function in the vDSO: for the shim in its own process, and for the injector in ours.
 * Uses no libc. */
#ifndef COZBPF_VDSO_H
#define COZBPF_VDSO_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* One symbol of the vDSO at @base, from its dynamic section, or NULL. The vDSO is our own, so the
 * kernel vouches for it. */
static inline void *vdso_symbol(uintptr_t base, const char *name)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(base + ehdr->e_phoff);
	const Elf64_Sym *symtab = NULL;
	const char *strtab = NULL;
	const uint32_t *hash = NULL;
	uintptr_t bias = base;

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
				hash = (const uint32_t *)(d->d_un.d_ptr + bias);
		}
	}
	if (!symtab || !strtab || !hash)
		return NULL;
	for (uint32_t i = 0; i < hash[1]; i++) {
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
