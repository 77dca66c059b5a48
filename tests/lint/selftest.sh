#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Does scripts/lint.sh find what it should? Each planted file of a small tree has one fault and must
# get its message, and no other message.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
lint=$PWD/scripts/lint.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree" "$tree.out"' EXIT
passed=0 failed=0
names=() files=() patterns=()

put() { # FILE: standard input below a clean head
	mkdir -p "$tree/$(dirname "$1")"
	{
		echo '// SPDX-License-Identifier: BSD-3-Clause'
		echo '/* Made by tests/lint/selftest.sh. */'
		cat
	} >"$tree/$1"
}

clean_tree() {
	mkdir -p "$tree"/user/{cmd,core/deep,kernel,report,run,shim,symbols,target} "$tree"/bpf \
		"$tree"/include/cozbpf
	put user/core/a.h <<<$'#ifndef COZBPF_A_H\n#define COZBPF_A_H\n#endif'
	put user/symbols/symbols.h <<<$'#ifndef COZBPF_SYMBOLS_H\n#define COZBPF_SYMBOLS_H\n#endif'
	put user/kernel/k.h <<<$'#ifndef COZBPF_K_H\n#define COZBPF_K_H\n#endif'
	put user/cmd/cmd.h <<<$'#ifndef COZBPF_CMD_H\n#define COZBPF_CMD_H\n#endif'
	put user/shim/shim.h <<<$'#ifndef COZBPF_SHIM_H\n#define COZBPF_SHIM_H\n#endif'
	put user/core/a.c <<-'END'
		#include "core/a.h"
		#include <string.h>
		/* time() and open() in a comment, */ static const char *s = "rand() in a string";
	END
	put user/symbols/s.c \
		<<<$'#include <elfutils/libdw.h>\n#include "symbols/symbols.h"\n#include "core/a.h"'
	put user/kernel/k.c <<<$'#include <bpf/libbpf.h>\n#include "cozbpf.skel.h"\n#include "k.h"'
	put user/target/t.c <<<$'#include "shim/shim.h"\nvoid child(void)\n{\n\t_exit(1);\n}'
	put user/cmd/c.c \
		<<<$'#include "cmd/cmd.h"\n#include "kernel/k.h"\n#include "symbols/symbols.h"'
	put user/main.c <<<$'#include "cmd/cmd.h"\nint main(void)\n{\n\texit(0);\n}'
	put bpf/compat.bpf.h <<-'END'
		#ifndef COZBPF_COMPAT_H
		#define COZBPF_COMPAT_H
		int f(void) { return bpf_core_field_exists(x); }
		#endif
	END
}

expect() { # NAME PATTERN FILE: the only error about FILE will match
	names+=("$1") patterns+=("$2") files+=("$3")
}

plant() { # NAME PATTERN FILE TEXT: @ in FILE becomes a number
	local f=${3/@/planted${#names[@]}}
	put "$f" <<<"$4"
	expect "$1" "$2" "$f"
}

judge() { # RC NAME
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "FAIL $2, got:"
	cat "$tree.out"
}

lines() { # N TEXT
	yes "$2" | head -n "$1"
}

clean_tree
LINT_FAST=1 "$lint" "$tree" >"$tree.out" 2>&1
judge $? 'a clean tree passes'

plant 'core includes cmd' 'user/core must not include user/cmd' user/core/@.c '#include "cmd/cmd.h"'
plant 'core includes run, at any depth' 'user/core must not include user/run' user/core/deep/@.c \
	'#include "run/r.h"'
plant 'run includes cmd' 'user/run must not include user/cmd' user/run/setup.c \
	'#include "cmd/cmd.h"'
plant 'run: no rank' 'give it a rank' user/run/@.c ''
plant 'run: a room includes the loop' 'ranks higher' user/run/files.c '#include "run/loop.h"'
plant 'run: defined elsewhere' "'points_f' is defined elsewhere" user/run/points.h \
	$'#ifndef COZBPF_P_H\n#define COZBPF_P_H\nint points_f(int a);\n#endif'
put user/run/points.c <<<'int points_g(int a);'
put user/run/launched.c <<<'int points_f(int a) { return a; }'
put user/run/target.c <<<'#include "run/processes.h"'
put user/run/processes.c <<<'#include "run/handlers.h"'
put user/run/handlers.h \
	<<<$'#ifndef COZBPF_R_H\n#define COZBPF_R_H\n#include "run/target.h"\n#endif'
expect 'run: a cycle' 'a cycle of includes: [a-z ]*handlers' user/run
plant 'symbols includes kernel' 'user/symbols must not include user/kernel' user/symbols/@.c \
	'#include "kernel/k.h"'
plant 'elf includes dwarf' 'symbols goes one way' user/symbols/elf/@.c \
	'#include "symbols/dwarf/d.h"'
plant 'dwarf includes code' 'symbols goes one way' user/symbols/dwarf/@.c \
	'#include "symbols/code/c.h"'
plant 'code includes coz' 'symbols goes one way' user/symbols/code/@.c \
	'#include "symbols/code/coz/c.h"'
plant 'coz includes dwarf' 'symbols goes one way' user/symbols/code/coz/@.c \
	'#include "symbols/dwarf/d.h"'
plant 'elf includes door' 'symbols goes one way' user/symbols/elf/@.c \
	'#include "symbols/door/d.h"'
plant 'sandbox includes elf' 'symbols goes one way' user/symbols/sandbox/@.c \
	'#include "symbols/elf/e.h"'
plant 'run includes what is private to symbols' 'is private to user/symbols' user/run/excerpt.c \
	'#include "symbols/elf/image.h"'
plant 'kernel includes cmd' 'user/kernel must not include user/cmd' user/kernel/@.c \
	'#include "cmd/cmd.h"'
plant 'include with ..' 'name it from user/' user/cmd/@.c '#include "../core/a.h"'
plant 'skeleton outside kernel' 'skeletons are included only' user/target/@.c \
	'#include "cozbpf.skel.h"'
plant 'libbpf outside kernel' 'libbpf is used only' user/target/@.c '#include <bpf/libbpf.h>'
plant 'our bpf/ from user/' 'does not include bpf/' user/kernel/@.c '#include "bpf/maps.h"'
plant 'a .bpf.h from user/' 'does not include bpf/' user/kernel/@.c '#include "maps.bpf.h"'
plant 'vmlinux from user/' 'does not include vmlinux/' user/kernel/@.c '#include "vmlinux.h"'
plant 'libdw outside symbols' 'libdw and libelf' user/cmd/@.c '#include <elfutils/libdw.h>'
plant 'libelf outside symbols' 'libdw and libelf' user/target/@.c '#  include <gelf.h>'
plant 'capstone outside symbols' 'decoded only' user/kernel/@.c '#include <capstone/capstone.h>'
plant 'protobuf-c outside report' 'protobuf-c and zlib' user/cmd/@.c '#include "profile.pb-c.h"'
plant 'liblzma outside symbols' 'unpacked only' user/cmd/@.c '#include <lzma.h>'
plant 'ncurses outside report' 'ncurses is used only' user/cmd/@.c '#include <ncurses.h>'
plant 'perf outside kernel' 'interfaces are used only' user/cmd/@.c '#include <linux/perf_event.h>'
plant 'the shim includes core' 'the shim includes nothing' user/shim/@.c '#include "core/a.h"'
plant 'report includes the shim' 'know the shim' user/report/@.c '#include "shim/shim.h"'
plant 'bpf includes user' 'must not include user/' bpf/@.bpf.c '#include "core/a.h"'
plant 'include/ includes user' 'must not include user/' include/cozbpf/@.h \
	$'#ifndef COZBPF_B_H\n#define COZBPF_B_H\n#include "core/a.h"\n#endif'
for h in unistd.h sys/syscall.h sys/mman.h fcntl.h linux/futex.h; do
	plant "core includes $h" 'user/core is pure' user/core/@.c "#include <$h>"
done
for f in time clock_gettime rand getenv open fopen printf exit; do
	plant "core calls $f" "\.c:5: user/core is pure: no $f" user/core/@.c \
		$'/* two\n * lines */\nint x = '"$f(0);"
done
plant 'compat elsewhere' 'belong in bpf/compat.bpf.h' bpf/@.bpf.c \
	'int f(void) { return bpf_core_type_exists(struct x); }'
plant 'cmd exits' 'only main exits' user/cmd/@.c $'void f(void)\n{\n\texit(1);\n}'
plant 'long file' '701 lines' user/cmd/@.c "$(lines 699 'int a;')"
plant 'long function' '\.c:3: a function of 101 lines' user/cmd/@.c \
	$'int f(void)\n{\n'"$(lines 101 $'\ta++;')"$'\n}'
plant 'wrong guard' "guard 'B_H'" user/cmd/@.h $'#ifndef B_H\n#define B_H\n#endif'
plant 'guard not defined' 'is not defined' user/cmd/@.h \
	$'#ifndef COZBPF_B_H\n#define COZBPF_C_H\n#endif'
plant 'unfinished' 'finish it' user/cmd/@.c "/* T""ODO: later */"
row="$(printf '// %097d' 0)"
plant 'a wide line' '\.c:4: lines over 100 columns: 2' user/cmd/@.c \
	"$row"$'\n\t'"$row"$'\n'"$row+"
printf '%s\n%s\n' "| ${row}0 |" "${row}0" >"$tree/wide.md"
expect 'a wide line of a document, but a row of a table' 'md:2: lines over 100 columns: 1' wide.md
printf '/* no licence */\n/* head */\n' >"$tree/user/cmd/bare.c"
expect 'no SPDX line' 'no SPDX' user/cmd/bare.c
printf '// SPDX-License-Identifier: BSD-3-Clause\nint a;\n' >"$tree/user/cmd/headless.c"
expect 'no head comment' 'says what lives here' user/cmd/headless.c

LINT_FAST=1 "$lint" "$tree" >"$tree.out" 2>&1 && judge 1 'the lint fails on a tree with faults'
for i in "${!names[@]}"; do
	about=$(grep -E "^lint: error: ${files[i]}:" "$tree.out")
	[ "$(grep -c . <<<"$about")" -eq 1 ] && grep -qE -- "${patterns[i]}" <<<"$about"
	judge $? "'${names[i]}' is one error about ${files[i]} like '${patterns[i]}'"
done

[ -z "${COZBPF_TOTALS:-}" ] || echo "$passed $failed 0" >>"$COZBPF_TOTALS"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
