# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Judges what a kernel under test has left in a folder (tests/vm/boot.sh) by tests/vm/expected;
# sourced, not run. tests/vm/selftest.sh tries it on folders made by hand.

# What the kernel may say at the level of a warning, or above.
allowed_messages=(
	# The verifier, of each program that writes into a target as debuggers do.
	'is installing a program with bpf_probe_write_user helper that may corrupt user memory!$'
	# The same, too often in a short time.
	'bpf_get_probe_write_proto: [0-9]+ callbacks suppressed$'
	# An emulated CPU is slow, and may be taken away within an interrupt.
	'hrtimer: interrupt took [0-9]+ ns$'
	# The same, for taking a program out.
	'workqueue: bpf_prog_free_deferred hogged CPU for >10000us [0-9]+ times'
	# The scheduler's own account of pressure, which no program of ours can write: a wait for
	# I/O ends whose begin the account has missed. Linux 7.3 says so in one run of many.
	'psi: inconsistent task state! task=[0-9]+:.* psi_flags=0 clear=1 set=4$'
)

# emulator_fails FOLDER: the kernel has died of a breakpoint of its own that it had taken out again.
# With several processors qemu executes such a one in one run of hundreds, with any program: see
# "qemu-x86_64 booting with 8.0.0 stil see int3", linux-kernel mailing list, July 2023.
emulator_fails() {
	[ ! -s "$1/ended" ] && grep -qE '\<int3: 0000 \[#1\]' "$1/console" 2>/dev/null
}

number() { # VERSION: 6.12 and 6.12-rt as 6012
	local version=${1%-rt}
	echo $((${version%%.*} * 1000 + ${version#*.}))
}

# fits KERNEL PATTERN: 6.12+lockdown=integrity fits itself, 6.12, 6.1-, -6.18, 5.15-6.12 and *.
# Words of the command line which the pattern has are the kernel's own, in the same order.
fits() {
	local version=${1%%+*} words='' range=${2%%+*} from to
	[[ "$1" != *+* ]] || words=${1#*+}
	[[ "$2" != *+* ]] || [ "$words" = "${2#*+}" ] || return 1
	[ "$range" != '*' ] || return 0
	from=${range%%-*} to=${range#*-}
	[ -z "$from" ] || [ "$(number "$version")" -ge "$(number "$from")" ] || return 1
	[ -z "$to" ] || [ "$(number "$version")" -le "$(number "$to")" ]
}

# table_of KERNEL: the table that holds for it, and the kernel as the table names it. Kernels for
# arm64 have one of their own, in which the size of pages makes no difference.
table_of() {
	case $1 in
	arm64-*) echo "tests/arm64/expected $(sed -e 's/^arm64-//' -e 's/-16k//' <<<"$1")" ;;
	*) echo "tests/vm/expected $1" ;;
	esac
}

# expected KERNEL SCRIPT [TABLE]: what the first line of the table that fits says: "PASSED SKIPPED"
# or "skip REASON"; nothing where there is none.
expected() {
	local script kernels what
	while read -r script kernels what; do
		if [ "$script" = "$2" ] && fits "$1" "$kernels"; then
			echo "$what"
			return
		fi
	done < <(grep -vE '^(#|$)' "${3:-tests/vm/expected}")
}

# The kernel's messages at the level of a warning or above that are not allowed, without levels.
kernel_warnings() { # DMESG
	grep -E '^<[0-4]>' "$1" | sed -E 's/^<[0-9]>//' |
		grep -vE -f <(printf '%s\n' "${allowed_messages[@]}")
}

# counts FOLDER: "PASSED FAILED SKIPPED" that the script has told of at its end; nothing otherwise.
counts() {
	tail -n 1 "$1/out" 2>/dev/null |
		sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 0\4/p'
}

# faults FOLDER PASSED SKIPPED: each reason why this run of a script is no success, in a line.
faults() {
	local passed failed skipped status warnings
	status=$(sed -nE 's/^status ([0-9]+) booted [0-9.]+ ended [0-9.]+$/\1/p' \
		"$1/ended" 2>/dev/null)
	if [ -z "$status" ]; then
		echo "the script did not end"
	elif [ "$status" -ne 0 ]; then
		echo "status $status"
	fi
	read -r passed failed skipped < <(counts "$1") || true
	if [ -z "$passed" ]; then
		echo "no count of checks at the end"
	else
		[ "$failed" -eq 0 ] || echo "$failed checks failed"
		[ "$passed" -eq "$2" ] || echo "$passed checks passed, not $2"
		[ "$((10#$skipped))" -eq "$3" ] || echo "$((10#$skipped)) checks skipped, not $3"
	fi
	if [ ! -f "$1/dmesg" ]; then
		echo "no messages of the kernel"
	else
		warnings=$(kernel_warnings "$1/dmesg")
		[ -z "$warnings" ] || echo "the kernel warns: $(head -n 1 <<<"$warnings")"
	fi
}
