#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Inputs to begin with that a compiler makes: programs, files beside programs, tables for unwinding.
# The others are in tests/fuzz/corpus. DIR gets a folder for each fuzzer, and DIR/programs what
# fuzz_beside reads.
# usage: tests/fuzz/seeds.sh DIR   (make fuzz)
set -euo pipefail
include=$(realpath include)
fixtures=$(realpath tests/unit/fixtures)
rm -rf "$1"
mkdir -p "$1"/{object,beside,unwind,programs}
cd "$1"

cat >programs/work.c <<'END'
__attribute__((noinline)) int work(int x)
{
	return x * 2;
}
static inline int more(int x) { return work(x) + 1; }
int _start(void) { return more(3) + work(4); }
END
cat >programs/markers.c <<'END'
#include <coz.h>
__attribute__((noinline)) static int work(int x) { COZ_BEGIN("w"); return x * 2; }
int _start(void) { COZ_PROGRESS; return work(3) + work(4); }
END
# Whole programs, small enough to be mutated often: DWARF of both widths of versions, compressed,
# and with Coz's own markers where they are installed.
gcc -g -O2 -I"$include" -nostdlib -static -o object/markers programs/markers.c
gcc -gdwarf-4 -O2 -nostdlib -static -o object/dwarf4 programs/work.c
gcc -g -gz -O2 -nostdlib -static -o object/compressed programs/work.c
gcc -g -O2 -nostdlib -shared -fPIC -o object/library programs/work.c
gcc -O1 -nostdlib -static -o object/blocks "$fixtures/blocks.S"
gcc -x c - -O2 -nostdlib -static -o object/coz 2>/dev/null <<'END' || true
#include "/usr/include/coz.h"
int _start(void)
{
	for (int i = 0; i < 9; i++) COZ_PROGRESS_NAMED("p");
	COZ_BEGIN("b");
	return 0;
}
END

# A stripped one with its symbols packed. Without a checksum more of what is changed is looked at.
gcc -O2 -nostdlib -static -o programs/symbols programs/work.c
objcopy -S --keep-symbol=work programs/symbols programs/mini
xz --check=none -k programs/mini
strip -o object/minidebug programs/symbols
objcopy --add-section .gnu_debugdata=programs/mini.xz object/minidebug

# The tables of a Go program, in each layout.
for layout in 116 118 120; do
	gcc -nostdlib -static -DLAYOUT=$layout '-DVERSION="go1.23.4"' -DTABLE=.gopclntab \
		-DMODULE=.go.module -DGOFUNC=$((layout == 118 ? 38 : 40)) \
		-DTEXT=.Ltext -o object/go$layout "$fixtures/gotable.S"
	strip object/go$layout
done

# A program and the file beside it, for each way to name that file. fuzz_beside writes the checksum.
cd programs
id=0x0102030405060708090a0b0c0d0e0f1011121314
gcc -g -O2 -nostdlib -static -Wl,--build-id=none -o linked work.c
objcopy --only-keep-debug linked linked.debug
objcopy --strip-debug --add-gnu-debuglink=linked.debug linked
gcc -g -gsplit-dwarf -O2 -nostdlib -static -c -o split.o work.c
gcc -nostdlib -static -o split split.o
gcc -g -O2 -nostdlib -static -Wl,--build-id=$id -o shared.alt work.c
{
	printf 'shared.alt\0'
	for i in {1..20}; do printf %b "\\x$(printf %02x "$i")"; done
} >alt.link
gcc -g -O2 -nostdlib -static -o shared work.c
objcopy --add-section .gnu_debugaltlink=alt.link shared
{ printf '\0' && cat linked.debug; } >../beside/linked
{ printf '\1' && cat split.dwo; } >../beside/split
{ printf '\2' && cat shared.alt; } >../beside/shared

# .eh_frame of code and at addresses as in fuzz_unwind.c.
table() { # NAME SOURCE FLAGS...
	gcc -O2 -nostdlib -static -no-pie -Wl,-Ttext=0x1000,--section-start=.eh_frame=0x4000,-e0 \
		-Wl,--build-id=none "${@:3}" -o table "$2"
	objcopy -O binary --only-section=.eh_frame table "../unwind/$1"
}
[ "$(uname -m)" = x86_64 ] || exit 0
cat >rules.S <<'END'
f:	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_remember_state
	pop %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state
	nop
	.cfi_escape 0x16, 0x06, 0x02, 0x77, 0x08
	nop
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	nop
	.cfi_escape 0x2e, 0x10
	.cfi_undefined %rip
	.zero 300
	.cfi_same_value %rbp
	.cfi_register %rbp, %rax
	ret
	.cfi_endproc
g:	.cfi_startproc
	.cfi_signal_frame
	.cfi_personality 0x1b, f
	.cfi_lsda 0x1b, f
	nop
	.cfi_val_offset %rbp, -16
	ret
	.cfi_endproc
END
table plain work.c
table frames work.c -O0 -fno-omit-frame-pointer
table rules rules.S
