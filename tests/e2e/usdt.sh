#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Static probes of programs (USDT) as progress points: our own by <sys/sdt.h>, and those of Debian's
# libstdc++ and Python. Each unit of work passes a probe and a function, whose counts have to agree
# in each experiment (same_visits of lib.sh). A semaphore is raised for as long as we look.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
line=$(line_of usdt WORK)
lab=(-v --no-tui --experiment-length 100ms --fixed-speedup "0,50")
points=(-P fn=progress)
for name in plain twice guarded; do
	points+=(-P "$name=usdt:$dir/usdt:fixture:$name")
done

counted() {
	local name
	for name in plain twice guarded; do
		check "'$name' counts as the function's entry does" same_visits fn "$name"
	done
	check "two places of one name" \
		[ "$(grep -c "progress point 'twice' at 0x" "$dir/err")" -eq 2 ]
}
semaphore() { # FILE: its values, in one line
	sed -n 's/^semaphore //p' "$1" | tr '\n' ' '
}
# shellcheck disable=SC2317 # wait_for calls it
semaphore_was() { # VALUES: in the target, one after the other
	[ "$(semaphore "$dir/target")" = "$1" ]
}

kinds=(-pie -static)
! brief || kinds=(-static)
for how in "${kinds[@]}"; do
	fixture usdt "$how" tests/e2e/fixtures/usdt_guarded.c
	echo "-- launched, ${how#-}"
	rm -f "$dir/p.coz"
	run 0 "$tool" "${lab[@]}" --fixed-line "$line" -o "$dir/p.coz" "${points[@]}" \
		-- "$dir/usdt" 2600
	counted
	check "the semaphore was raised from the first unit on" [ "$(semaphore "$dir/out")" = "1 " ]
	for name in plain twice guarded; do
		check "every unit was counted by '$name'" has "$dir/out" \
			"^end units $(total "$name") guarded $(total "$name")$"
	done

	echo "-- attached, ${how#-}"
	: >"$dir/target"
	"$dir/usdt" >"$dir/target" &
	target=$!
	started+=("$target")
	wait_for 20 has "$dir/target" '^semaphore 0' || bad "the target starts"
	rm -f "$dir/p.coz"
	run 0 "$tool" "${lab[@]}" --fixed-line "$line" -o "$dir/p.coz" "${points[@]}" -d 3s \
		-p "$target"
	counted
	check "the semaphore was raised and is down again" wait_for 20 semaphore_was "0 1 0 "
	kill -TERM "$target"
	wait "$target"
	check "the target ends well" has "$dir/target" "^end units [0-9]+ guarded [0-9]+$"
	passed_probe=$(sed -n 's/^end .* guarded //p' "$dir/target")
	counted=$(total guarded)
	check "it passed the guarded probe $passed_probe times, of which $counted were counted" \
		is "$counted" '<=' "$passed_probe"
done

echo "-- killed while it looks: the kernel takes the semaphore down"
: >"$dir/target"
"$dir/usdt" >"$dir/target" &
target=$!
started+=("$target")
wait_for 20 has "$dir/target" '^semaphore 0' || bad "the target starts"
start "$tool" "${lab[@]}" --fixed-line "$line" -o "$dir/p.coz" "${points[@]}" -d 60s -p "$target"
wait_for 20 has "$dir/target" '^semaphore 1' || bad "it is raised"
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null
check "it is down" wait_for 20 semaphore_was "0 1 0 "
kill -TERM "$target"
wait "$target"

echo "-- no such probe"
missing() { # STATUS SPEC PATTERN...
	local status=$1 spec=$2
	shift 2
	run "$status" "$tool" -q -o "$dir/n.coz" -P "$spec" -- "$dir/usdt" 100
	says "$@"
}
missing 2 "usdt:$dir/usdt:fixture:plian" "error: no static probe 'fixture:plian' in '$dir/usdt'" \
	"hint: did you mean 'fixture:plain'"
missing 2 "usdt:$dir/usdt:fixtures:twice" "error: no static probe 'fixtures:twice'" \
	"hint: did you mean 'fixture:twice'"
missing 2 "usdt:$dir/usdt:postgresql:transaction__commit" \
	"hint: .*lists those it has, such as 'fixture:[a-z]+'.* or 'fixture:"
missing 2 "usdt:/bin/true:fixture:plain" "error: no static probe 'fixture:plain' in '.*/true'" \
	'hint: it has none at all; name a function or a line'
missing 2 "usdt:/nonexistent:a:b" \
	"cannot open '/nonexistent' of progress point 'usdt:/nonexistent:a:b'"
objcopy --dump-section .note.stapsdt="$dir/note" "$dir/usdt"
head -c 24 /dev/urandom >"$dir/rubbish"
objcopy --update-section .note.stapsdt="$dir/rubbish" "$dir/usdt" "$dir/damaged" 2>"$dir/err"
missing 4 "usdt:$dir/damaged:fixture:plain" \
	"error: the notes of static probes in '$dir/damaged' are damaged" "hint: 'readelf -n"

echo "-- libstdc++, a library that comes with the program"
g++ -O1 -g -fno-omit-frame-pointer -Wall -Wextra -o "$dir/thrower" tests/e2e/fixtures/thrower.cc \
	-lpthread || bad "it builds"
library=$(ldd "$dir/thrower" | sed -n 's/.*libstdc++.so.6 => \([^ ]*\).*/\1/p')
rm -f "$dir/p.coz"
run 0 "$tool" "${lab[@]}" -o "$dir/p.coz" -P fn=progress -P "throw=usdt:$library:libstdcxx:throw" \
	-P late=usdt:libstdc++.so.6:libstdcxx:catch -- "$dir/thrower" 2600
says "progress point 'late' is awaited" "progress point 'late' is in '.*/libstdc"
check "the library's probe counts as the function does" same_visits fn throw
check "so does the one that was awaited" same_visits fn late late

python_attached() {
	"$python" "$dir/work.py" "$dir/libwork.so" $((30 * slowness)) >"$dir/target" &
	started+=("$!")
	wait_for 20 has "$dir/target" '^ready' || bad "it starts"
	rm -f "$dir/p.coz"
	run 0 "$tool" "${lab[@]}" "${python_points[@]}" -o "$dir/p.coz" \
		-d $((3 * slowness))s -p "${started[-1]}"
	check "attached, too" same_visits collected fn
	# ranked, or named as not known well enough: other programs spoil half of the experiments
	says '^ +(1  )?work\.c:[0-9]+[ :]'
	run 4 "$tool" "${lab[@]}" --granularity line -P "usdt:$python:python:gc__done" \
		-p "${started[-1]}"
	says "'$python' has no debug information"
	kill "${started[-1]}"
}

echo "-- Python, whose probes have semaphores, and which has no debug information of its own"
python=$(readlink -f /usr/bin/python3)
if readelf -n "$python" 2>/dev/null | grep -q 'Name: gc__done'; then
	cat >"$dir/work.c" <<-'END'
		void progress(void);
		void progress(void) { __asm__ volatile(""); }
		void work(void);
		void work(void)
		{
			for (unsigned long n = 1000000; n; n--)
				__asm__ volatile("" : "+r"(n)); /* WORK */
		}
	END
	gcc -O1 -g -shared -fPIC -o "$dir/libwork.so" "$dir/work.c"
	cat >"$dir/work.py" <<-'END'
		import ctypes, gc, os, sys, time
		library = ctypes.CDLL(sys.argv[1])
		gc.disable()
		print("ready", flush=True)
		while time.process_time() < float(sys.argv[2]):
		    library.work()
		    gc.collect(0)
		    library.progress()
		os._exit(0) # without the collections that end an interpreter
	END
	rm -f "$dir/p.coz"
	python_points=(-b '%/libwork.so' -P "collected=usdt:$python:python:gc__done" \
		-P "fn=$dir/libwork.so:progress")
	run 0 "$tool" "${lab[@]}" "${python_points[@]}" -o "$dir/p.coz" \
		-- "$python" "$dir/work.py" "$dir/libwork.so" $((3 * slowness))
	check "launched: Python's probe counts as the library's function does" same_visits \
		collected fn
	brief || python_attached
else
	echo "     '$python' has no static probes"
fi
finish
