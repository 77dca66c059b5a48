#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The command starts as if cozbpf were not there: arguments, environment, directory, limits,
# descriptors, streams, exit status. Each case runs with and without cozbpf and is compared byte for
# byte. Nothing depends on time, except that 300 ms hold an experiment of 20 ms.
# At 100 % hardly any virtual time passes in such programs: an experiment may not end in their time.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture mirror
mirror=$dir/mirror
# -q: standard error is the command's alone. An experiment is done in each run, so the exit status
# is the command's.
cozbpf=("$tool" run -q -o "$dir/profile.coz" -P progress --fixed-line "$(line_of mirror HOT)" \
	--fixed-speedup 50 --experiment-length 20ms --)

# same_given WHAT COMMAND...: runs it without and with cozbpf, in a clean environment. All is equal
# except for the shim's own two variables.
same_given() {
	local what=$1
	shift
	local plain=(env -i PATH="$PATH" MIRROR_MS=300 MIRROR_SHOW=1 "${extra[@]}" "$@")
	local profiled=(env -i PATH="$PATH" MIRROR_MS=300 MIRROR_SHOW=1 "${extra[@]}" \
		"${cozbpf[@]}" "$@")
	"${plain[@]}" >"$dir/plain.all" 2>"$dir/plain.err" </dev/null
	local want=$?
	"${profiled[@]}" >"$dir/out" 2>"$dir/err" </dev/null
	check "$what: status $want" [ $? -eq $want ]
	check "$what: standard error" same "$dir/plain.err" "$dir/err"
	# The handler of the pause signal 44 is bit 43 of the caught signals. What is pending is
	# that of all programs of the user, other tests among them.
	local pending='s|^(SigQ:.)[0-9]+|\1|'
	sed -E "$pending" "$dir/plain.all" >"$dir/plain.out"
	grep -vE '^env (LD_PRELOAD|COZBPF_SIGNAL|COZBPF_QUANTUM)=' "$dir/out" |
		sed -E -e "$pending" -e 's/^(SigCgt:.)([0-9a-f]{5})8/\1\20/' \
			>"$dir/profiled.out"
	if diff "$dir/plain.out" "$dir/profiled.out" \
		>"$dir/diff"; then ok "$what: all that is given"; else
		cp "$dir/diff" "$dir/out"
		bad "$what: all that is given"
	fi
}

extra=()
same_given "plain arguments" "$mirror" one two
same_given "blanks, empty strings, quotes, newlines" "$mirror" "a b" "" "  " \
	"'\"\$x\`" $'two\nlines' -- -P --help ''
extra=(EMPTY= "B L=x y" $'NL=1\n2' LANG=C.UTF-8 COZBPF_X=1)
same_given "environment of all kinds" "$mirror"
(cd "$dir" && mkdir sub && cd sub && env -i MIRROR_SHOW=1 MIRROR_MS=300 "${cozbpf[@]}" ../mirror \
	>"$dir/out" 2>"$dir/err" </dev/null)
prints "^cwd $dir/sub\$" '^argv0 \.\./mirror$'

echo "-- the shim's variables"
run 0 env -i -C "${tool%/*}" COZBPF_SHIM=libcozbpf-shim.so MIRROR_MS=300 MIRROR_SHOW=1 \
	"${cozbpf[@]}" "$mirror"
prints '^env COZBPF_SIGNAL=44$' '^env LD_PRELOAD=/.*/libcozbpf-shim.so$'
run 0 env MIRROR_MS=300 MIRROR_SHOW=1 LD_PRELOAD=libm.so.6 "${cozbpf[@]}" "$mirror"
prints '^env LD_PRELOAD=libm.so.6:/.*/libcozbpf-shim.so$'
mkdir "$dir/a b"
cp "${tool%/*}/libcozbpf-shim.so" "$dir/a b"
run 0 env -i COZBPF_SHIM="$dir/a b/libcozbpf-shim.so" MIRROR_MS=300 MIRROR_SHOW=1 "${cozbpf[@]}" \
	"$mirror"
check "a path with a blank is not preloaded" [ "$(grep -c '^env LD_PRELOAD' "$dir/out")" -eq 0 ]
check "no loader complains" [ ! -s "$dir/err" ]
ln -s "a b/libcozbpf-shim.so" "$dir/link.so"
run 0 env -i COZBPF_SHIM="$dir/link.so" MIRROR_MS=300 MIRROR_SHOW=1 "${cozbpf[@]}" "$mirror"
prints "^env LD_PRELOAD=$dir/link.so\$" # the way around the blank
for path in /bin: ''; do
	run 0 env -i -C "$dir" PATH="$path" MIRROR_MS=300 MIRROR_SHOW=1 "${cozbpf[@]}" mirror
done

# Standard error has no buffer: each of its bytes is a call, which takes an emulated machine 50 us.
# A pipe holds 64 kB.
echo "-- streams"
bytes=$((1000000 / slowness))
head -c $bytes /dev/urandom >"$dir/in"
MIRROR_MS=300 MIRROR_BYTES=$bytes "$mirror" <"$dir/in" 2>"$dir/plain.err" |
	sha256sum >"$dir/plain.out"
MIRROR_MS=300 MIRROR_BYTES=$bytes "${cozbpf[@]}" "$mirror" <"$dir/in" 2>"$dir/profiled.err" |
	sha256sum >"$dir/profiled.out"
: >"$dir/out"
: >"$dir/err"
check "$bytes bytes through, as many more out: the same" same "$dir/plain.out" "$dir/profiled.out"
check "as many of standard error: the same" same "$dir/plain.err" "$dir/profiled.err"
check "they are so many" [ "$(stat -c %s "$dir/profiled.err")" -eq $bytes ]
copied=$(printf 'a\nb\n' | (MIRROR_MS=300 "${cozbpf[@]}" "$mirror"))
check "standard input is not touched by cozbpf" [ "$copied" = $'a\nb' ]

echo "-- a terminal"
for how in plain profiled; do
	front=("${cozbpf[@]}")
	[ $how = profiled ] || front=()
	env -i PATH="$PATH" TERM=dumb MIRROR_SHOW=1 MIRROR_MS=300 \
		script -qec "$(printf '%q ' "${front[@]}" "$mirror" 'x y')" \
		/dev/null </dev/null 2>&1 |
		grep -E '^(tty|arg|argv0)' >"$dir/$how.out"
done
check "isatty, session and group are the same on a terminal" same "$dir/plain.out" \
	"$dir/profiled.out"
check "it is a terminal" has "$dir/profiled.out" '^tty 1 1 1 session 1 group 1'

echo "-- how it ends"
statuses=(0 3 255) signals=(TERM KILL SEGV)
! brief || statuses=(3) signals=(SEGV)
for status in "${statuses[@]}"; do
	run "$status" env MIRROR_MS=300 MIRROR_END="$status" "${cozbpf[@]}" "$mirror"
done
for signal in "${signals[@]}"; do
	number=$(kill -l "$signal")
	(ulimit -c 0 && exec env MIRROR_MS=300 MIRROR_END=-"$number" "${cozbpf[@]}" "$mirror") \
		>"$dir/out" 2>"$dir/err" </dev/null
	check "death by SIG$signal gives 128 + $number" [ $? -eq $((128 + number)) ]
done

echo "-- SIGCHLD is ignored: statuses come all the same, and the command ignores it as well"
run 3 env --ignore-signal=CHLD MIRROR_MS=300 MIRROR_SHOW=1 MIRROR_END=3 "${cozbpf[@]}" "$mirror"
prints '^SigIgn:.[0-9a-f]{11}[13579bdf][0-9a-f]{4}$'

echo "-- a script sees the name that it is called by"
printf '#!/bin/sh\necho "name $0"\n' >"$dir/named"
chmod +x "$dir/named"
ln -s named "$dir/renamed"
(cd "$dir" && "$tool" -q -o "$dir/script.coz" -P "$dir/mirror:progress" -b '%/mirror' -- ./renamed \
	>"$dir/out" 2>"$dir/err" </dev/null)
prints '^name \./renamed$'

echo "-- what cannot be run"
run 2 "$tool" -o "$dir/none.coz" -P progress -- no-such-command-here
says "error: there is no command 'no-such-command-here' in PATH" '^cozbpf: hint: '
run 2 "$tool" -o "$dir/none.coz" -P progress -- /no/such/file
says "error: cannot run '/no/such/file': No such file or directory"
: >"$dir/plainfile"
run 2 "$tool" -o "$dir/none.coz" -P progress -- "$dir/plainfile"
says "error: cannot run '$dir/plainfile': it is not an executable file"
run 2 "$tool" -o "$dir/none.coz" -P progress -- "$dir"
says "error: cannot run '$dir': it is not an executable file"
printf '#!/bin/sh\nexit 0\n' >"$dir/a script"
chmod +x "$dir/a script"
run 2 "$tool" -o "$dir/none.coz" -P progress -- "$dir/a script"
says "error: '$dir/a script' is a script" 'hint: .*-b '
run 2 "$tool" -o "$dir/none.coz" -P progress --
says 'error: no command given'
check "no profile is left by what did not run" [ ! -e "$dir/none.coz" ]

echo "-- the end of the options"
run 5 env MIRROR_MS=300 MIRROR_END=5 "$tool" -q -o "$dir/profile.coz" -P progress \
	--fixed-line "$(line_of mirror HOT)" --fixed-speedup 50 \
	--experiment-length 20ms --- "$mirror"
run 6 env MIRROR_MS=300 MIRROR_END=6 "$tool" -q -o "$dir/profile.coz" -P progress \
	--fixed-line "$(line_of mirror HOT)" --fixed-speedup 50 \
	--experiment-length 20ms "$mirror" --- -q
finish
