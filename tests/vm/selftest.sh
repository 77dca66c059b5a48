#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Does tests/vm/judge.sh find what is wrong? Results made by hand have one fault each, and have to
# get its words; tables of expectations have to be read as tests/vm/expected says. Needs no machine.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source-path=SCRIPTDIR source=judge.sh
. tests/vm/judge.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
good=0 wrong=0
notice='is installing a program with bpf_probe_write_user helper that may corrupt user memory!'
psi='inconsistent task state!'

is_said() { # WHAT SAID WANTED
	if [ "$2" = "$3" ]; then
		good=$((good + 1))
	else
		wrong=$((wrong + 1))
		printf 'FAIL %s\n     said:   %s\n     wanted: %s\n' "$@"
	fi
}

# fresh: what a script leaves that passes 5 checks and leaves out one. The notice of the helper and
# the kernel's ordinary messages are no warnings.
fresh() {
	rm -rf "$dir/run"
	mkdir "$dir/run"
	printf '%s\n' 'ok   first' '5 passed, 0 failed, 1 skipped' >"$dir/run/out"
	echo 'status 0 booted 2.67 ended 9.25' >"$dir/run/ended"
	cat >"$dir/run/dmesg" <<-END
		<6>[    8.1] speed[12]: segfault at 0 ip 0000000000401136 sp 00007ffc error 4
		<4>[    9.2] cozbpf[345] $notice
		<4>[    9.3] hrtimer: interrupt took 4012934 ns
		<4>[    9.5] workqueue: bpf_prog_free_deferred hogged CPU for >10000us 4 times
		<4>[    9.4] bpf_get_probe_write_proto: 4 callbacks suppressed
		<3>[    9.6] psi: $psi task=263:cozbpf cpu=0 psi_flags=0 clear=1 set=4
	END
}

verdict() { # WHAT WANTED: of the folder, for 5 checks and one left out
	is_said "$1" "$(faults "$dir/run" 5 1)" "$2"
}

fresh
verdict 'all is well' ''
echo '4 passed, 1 failed, 1 skipped' >>"$dir/run/out"
echo 'status 1 booted 2.67 ended 9.25' >"$dir/run/ended"
verdict 'a check that fails' $'status 1\n1 checks failed\n4 checks passed, not 5'
fresh
echo 'status 1 booted 2.67 ended 9.25' >"$dir/run/ended"
verdict 'a status beside good counts' 'status 1'
fresh
echo '4 passed, 0 failed, 1 skipped' >>"$dir/run/out"
verdict 'a check too few' '4 checks passed, not 5'
fresh
echo '6 passed, 0 failed, 1 skipped' >>"$dir/run/out"
verdict 'a check too many' '6 checks passed, not 5'
fresh
echo '5 passed, 0 failed, 2 skipped' >>"$dir/run/out"
verdict 'a check left out' '2 checks skipped, not 1'
fresh
echo '5 passed, 0 failed' >>"$dir/run/out"
verdict 'a check that should be left out' '0 checks skipped, not 1'
fresh
: >"$dir/run/ended"
verdict 'no exit status' 'the script did not end'
rm "$dir/run/ended"
verdict 'no word of the end at all' 'the script did not end'
fresh
echo 'bash: killed' >>"$dir/run/out"
verdict 'no counts in the last line' 'no count of checks at the end'
rm "$dir/run/out"
verdict 'no output' 'no count of checks at the end'
fresh
rm "$dir/run/dmesg"
verdict "no messages of the kernel" 'no messages of the kernel'
for message in "<4>[    9.4] cozbpf[345] $notice Or so" \
	'<4>[    9.4] x' \
	'<4>[    9.4] WARNING: CPU: 1 PID: 12 at kernel/events/core.c:2190 x+0x1/0x2' \
	'<1>[    9.4] BUG: kernel NULL pointer dereference, address: 0000000000000008' \
	'<3>[    9.4] INFO: task speed:12 blocked for more than 120 seconds.' \
	"<3>[    9.4] psi: $psi task=263:cozbpf cpu=0 psi_flags=4 clear=0 set=4" \
	'<4>[    9.4] hrtimer: interrupt took 4012934 ns, and more'; do
	fresh
	echo "$message" >>"$dir/run/dmesg"
	verdict 'the kernel warns' "the kernel warns: ${message#<?>}"
done

# is_emulators WANTED WHAT: whether the emulator's fault is seen in what a run has left.
is_emulators() {
	local said=no
	! emulator_fails "$dir/run" || said=yes
	is_said "the emulator's fault: $2" "$said" "$1"
}
fresh
is_emulators no 'a good run'
echo '[  145.204015] Oops: int3: 0000 [#1] SMP NOPTI' >"$dir/run/console"
is_emulators no 'a script that ended'
: >"$dir/run/ended"
is_emulators yes 'newer kernels'
echo '[    3.093098] int3: 0000 [#1] PREEMPT SMP NOPTI' >"$dir/run/console"
is_emulators yes 'older ones'
echo '[  145.204015] Oops: invalid opcode: 0000 [#1] SMP NOPTI' >"$dir/run/console"
is_emulators no 'another oops'
rm "$dir/run/console"
is_emulators no 'no console'

cat >"$dir/table" <<'END'
# script  kernels  expected

a.sh  6.18+lockdown=integrity  7 1
a.sh  6.13-                    9 0
a.sh  5.15-6.12                8 0
a.sh  *                        skip it needs 5.15
b.sh  -6.1                     3 0
END
while read -r kernel script want; do
	is_said "$script on $kernel" "$(expected "$kernel" "$script" "$dir/table")" "$want"
done <<'END'
6.18 a.sh 9 0
7.0 a.sh 9 0
6.13 a.sh 9 0
6.12 a.sh 8 0
6.2 a.sh 8 0
5.15 a.sh 8 0
5.10 a.sh skip it needs 5.15
6.18+lockdown=integrity a.sh 7 1
6.18+lockdown=confidentiality a.sh 9 0
6.12+lockdown=integrity a.sh 8 0
6.1 b.sh 3 0
6.10 b.sh
6.1 c.sh
END

for kernel in 6.18 6.18+lockdown=integrity; do
	is_said "the table of $kernel" "$(table_of "$kernel")" "tests/vm/expected $kernel"
	for pages in '' -16k; do
		name=arm64-${kernel/6.18/6.18$pages}
		is_said "the table of $name" "$(table_of "$name")" "tests/arm64/expected $kernel"
	done
done

# The table of kernels, from what a run has left.
matrix() {
	BUILD=$dir tests/vm/matrix.sh "$@" | tail -n +3
}
fresh
mkdir -p "$dir/vm/5.10"
mv "$dir/run" "$dir/vm/5.10/refused"
echo '16 passed, 0 failed' >>"$dir/vm/5.10/refused/out"
is_said 'a row of kernels' "$(matrix)" '| 5.10 | - | - | 16 of 16 | 0 | 0 | refused |'
echo '15 passed, 0 failed' >>"$dir/vm/5.10/refused/out"
echo '<4>[    9.4] x' >>"$dir/vm/5.10/refused/dmesg"
is_said 'a row of kernels, not well' "$(matrix 5.10)" \
	'| 5.10 | - | - | 15 of 16 | 0 | 1 | refused; wrong: refused |'
rm -r "$dir/vm/5.10/refused"
is_said 'a row of nothing' "$(matrix)" '| 5.10 | - | - | 0 of 0 | 0 | 0 |  |'

# What the real tables say can be read, and names scripts that are there.
while read -r script kernels what more; do
	[ -f "$script" ] && [[ "$kernels" =~ ^(\*|[0-9.]*-?[0-9.]*)(\+.*)?$ ]] &&
		[[ "$what $more" =~ ^([0-9]+\ [0-9]+|skip\ .+)$ ]]
	is_said "the line of $script, $kernels" "$?" 0
done < <(grep -hvE '^(#|$)' tests/vm/expected tests/arm64/expected)
echo "$good passed, $wrong failed"
[ "$wrong" -eq 0 ]
