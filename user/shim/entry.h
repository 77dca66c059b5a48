/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the handler is entered and how a signal is returned from, for each architecture. Only
 * pause.c includes it: this is the first code of the blob, in a section that blob.lds puts first.
 * The kernel side expects the restorer COZBPF_HANDLER_DISTANCE from the entry.
 */
#ifndef COZBPF_ENTRY_H
#define COZBPF_ENTRY_H

#if defined(__x86_64__)

/* The bytes of the restorer are those of libc's: unwinders know a signal frame by them, and they
 * look one byte before it, too. */
__asm__(".pushsection .text.shim_entry, \"ax\"\n"
	".balign 64\n"
	".hidden shim_handler\n"
	".globl shim_handler\n"
	"shim_handler:\n"
	"	jmp shim_pause\n"
	".hidden shim_restorer\n"
	".globl shim_restorer\n"
	".org shim_handler + " SHIM_STRING(COZBPF_HANDLER_DISTANCE) " - 1, 0x90\n"
								    "	nop\n"
								    "shim_restorer:\n"
								    "	movq $15, %rax\n"
								    "	syscall\n"
								    ".popsection\n");

#elif defined(__aarch64__)

__asm__(".pushsection .text.shim_entry, \"ax\"\n"
	".balign 64\n"
	".hidden shim_handler\n"
	".globl shim_handler\n"
	"shim_handler:\n"
	"	b shim_pause\n"
	".hidden shim_restorer\n"
	".globl shim_restorer\n"
	".org shim_handler + " SHIM_STRING(COZBPF_HANDLER_DISTANCE) "\n"
								    "shim_restorer:\n"
								    "	mov x8, #139\n"
								    "	svc #0\n"
								    ".popsection\n");

#endif

#endif
