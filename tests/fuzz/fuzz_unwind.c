// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any bytes as .eh_frame of a small program, whose code is at CODE and whose table is at
 * TABLE (tests/fuzz/seeds.sh links its programs so). Rows are sorted, lie in the code, and are no
 * more than the bytes can ask for. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/direct.h"
#include "limit.h"

#define CODE 0x1000
#define CODE_SIZE 0x800
#define TABLE 0x4000
#define MAX_ROWS 4096
#define N_SECTIONS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Offsets in the file: this, code, table. */
struct program {
	Elf64_Ehdr header;
	Elf64_Phdr load;
	Elf64_Shdr sections[N_SECTIONS];
	char names[32];
};

static int write_program(const uint8_t *data, size_t size)
{
	static const uint8_t code[CODE_SIZE];
	struct program p = {
	    .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct program, load),
		.e_shoff = offsetof(struct program, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = N_SECTIONS,
		.e_shstrndx = 3},
	    .load = {PT_LOAD, PF_R | PF_X, sizeof(p), CODE, CODE, CODE_SIZE, CODE_SIZE, 1},
	    .names = "\0.text\0.eh_frame\0.shstrtab"};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	p.sections[1] = (Elf64_Shdr){
	    1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, sizeof(p), CODE_SIZE, 0, 0, 1, 0};
	p.sections[2] = (Elf64_Shdr){
	    7, SHT_PROGBITS, SHF_ALLOC, TABLE, sizeof(p) + CODE_SIZE, size, 0, 0, 8, 0};
	p.sections[3] = (Elf64_Shdr){
	    17, SHT_STRTAB, 0, 0, offsetof(struct program, names), sizeof(p.names), 0, 0, 1, 0};
	if (fd < 0 || write(fd, &p, sizeof(p)) != sizeof(p) ||
	    write(fd, code, CODE_SIZE) != CODE_SIZE || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cozbpf_unwind_row *rows;
	struct object *o = NULL;
	struct error e = {0};
	bool stop = false;
	char path[64];
	size_t n;
	int fd;

	limit_begin();
	if (!size)
		return 0;
	fd = write_program(data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (object_open_code(path, "", &o, &e) ||
	    object_unwind_rows(o, MAX_ROWS, &stop, &rows, &n, NULL) || n > 2 * size + 2 ||
	    n > MAX_ROWS)
		abort();
	for (size_t i = 0; i < n; i++)
		if (rows[i].lo < sizeof(struct program) ||
		    rows[i].lo >= sizeof(struct program) + CODE_SIZE ||
		    (i && rows[i].lo <= rows[i - 1].lo) || rows[i].kind > COZBPF_UNWIND_LAST)
			abort();
	free(rows);
	object_close(o);
	close(fd);
	return 0;
}
