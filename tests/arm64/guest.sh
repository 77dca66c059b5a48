# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the scripts of this folder share. Each begins on the host, with the files that it needs, and
# goes on in the emulated machine, in busybox's shell.
passed=0 failed=0

# emulated SCRIPT FILE...: on the host this runs the script in the machine, and does not return.
emulated() {
	[ ! -e /script ] || return 0
	script=$1
	shift
	exec "${script%/*}/emulate.sh" "${COZBPF_ARM64_KERNEL:-6.18}" "$script" \
		tests/arm64/guest.sh "$@"
}

# check WHAT COMMAND...: passed when the command succeeds.
check() {
	what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok   $what"
	else
		failed=$((failed + 1))
		echo "FAIL $what: not: $*"
		[ ! -s /tmp/err ] || tail -n 20 /tmp/err
	fi
}

# is A COMPARISON B: numbers, whole or not
is() {
	awk -v a="$1" -v b="$3" "BEGIN { exit !(a + 0 $2 b + 0) }"
}

# ready FILE: waits for a program's line, which ends in its number, and sets `pid`.
ready() {
	pid='' tries=0
	while [ -z "$pid" ] && [ $tries -lt 100 ]; do
		sleep 0.2
		pid=$(sed -n 's/^ready //p' "$1")
		tries=$((tries + 1))
	done
	check "it is ready" test -n "$pid"
}

# leads LINE: the line that the report in /tmp/err ranks first, three checks. It has 60 % of the
# work, so removing it gains 0.6. An emulator is slow and irregular, hence 0.3 to 0.85: a wrong sign
# or a missing baseline does not pass.
leads() {
	read -r leading slope <<-END
		$(sed -nE 's/^ +1 +([^ ]+) +([-+0-9.]+) .*/\1 \2/p' /tmp/err)
	END
	check "the hot line leads: $leading" test "$leading" = "$1"
	check "its slope, $slope, is near 0.6" is "$slope" '>=' 0.3
	check "and not above" is "$slope" '<=' 0.85
}

# finish CHECKS: so many there had to be.
finish() {
	[ $((passed + failed)) -eq "$1" ] || {
		echo "FAIL $((passed + failed)) checks, not $1"
		failed=$((failed + 1))
	}
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
