#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Processes that cannot be attached to: each is refused at once, and by its name.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
refused() { # PID
	run 2 "$tool" -P tracepoint:syscalls:sys_exit_write -o "$dir/p.coz" -p "$1"
	check "no profile" [ ! -e "$dir/p.coz" ]
}

echo "-- a thread of the kernel"
refused 2
says 'process 2 \(kthreadd\) is a thread of the kernel'

echo "-- itself"
# shellcheck disable=SC2016 # for that shell
run 2 sh -c 'exec "$0" -P x -o "$1/p.coz" -p $$' "$tool" "$dir"
says 'process [0-9]+ is cozbpf itself'

echo "-- a zombie"
sh -c 'true & exec sleep 60' &
parent=$!
started+=("$parent")
# shellcheck disable=SC2317 # called by wait_for
has_zombie() {
	zombie=$(pgrep -P "$parent") && is_state "$zombie" Z
}
wait_for 20 has_zombie || bad "there is a zombie"
refused "$zombie"
says "process $zombie \(.*\) has ended: it is a zombie" \
	"hint: its parent, process $parent, has not waited for it yet"

echo "-- a program for another machine"
cat >"$dir/narrow.s" <<'END'
.globl _start
_start:	mov $29, %eax
	int $0x80
	jmp _start
END
if [ "$(uname -m)" = x86_64 ] && as --32 -o "$dir/narrow.o" "$dir/narrow.s" &&
	ld -m elf_i386 -z noexecstack -o "$dir/narrow" "$dir/narrow.o"; then
	"$dir/narrow" &
	narrow=$!
	started+=("$narrow")
	# shellcheck disable=SC2317 # called by wait_for
	is_narrow() {
		[ "$(readlink "/proc/$narrow/exe")" = "$dir/narrow" ]
	}
	if wait_for 5 is_narrow; then
		refused "$narrow"
		says "process $narrow \(narrow\) is a program for another machine: i386" 'hint: '
		run 2 "$tool" doctor -p "$narrow"
		says 'for another machine: i386'
	else
		echo "this kernel runs no program of 32 bits"
	fi
fi
kill -KILL "$parent" ${narrow:+"$narrow"}
wait 2>/dev/null
finish
