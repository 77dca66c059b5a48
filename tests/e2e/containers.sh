#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Attaching from outside to a process in namespaces of its own, with its own root file system:
# files, numbers, debug information, control groups.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture running
fixture running -static
line=running.c:$(grep -n 'LINE_A \*/' "$root/tests/e2e/fixtures/running.c" | head -n 1 |
	cut -d: -f1)
brief=(-v --no-tui -P progress --fixed-line "$line" --fixed-speedup 100 --experiment-length 50ms \
	-d 1s)

# A root of its own: a static, stripped program with its debug information elsewhere.
mkdir -p "$dir/root/bin" "$dir/root/proc" "$dir/root/tmp"
objcopy --only-keep-debug "$dir/running" "$dir/running.debug"
objcopy --strip-all "$dir/running" "$dir/root/bin/app"
id=$(readelf -n "$dir/running" | sed -n 's/.*Build ID: *//p')
debug=/usr/lib/debug/.build-id/${id:0:2}

inner=
# begin_inside COMMAND...: in new mount, PID, network and IPC namespaces, on that root; $inner is
# the process as the host numbers it.
begin_inside() {
	begin unshare --mount --pid --net --ipc --uts --fork --kill-child "$@"
	inner=$(pgrep -P "$target_pid" | head -n 1)
}
end_inside() {
	kill -TERM "$inner"
	wait_for 20 gone "$inner" || bad "the target ends"
	wait "$target_pid"
	check "it says so" has "$dir/target" '^end '
}
attach() { # STATUS OPTIONS...
	rm -f "$dir/profile.coz"
	run "$1" "${tool_in_front[@]}" "${@:2}" -o "$dir/profile.coz"
}

echo "-- a container without debug information"
begin_inside chroot "$dir/root" /bin/app apart
check "it has a number of its own" grep -q '^ready 1$' "$dir/target"
attach 4 "${brief[@]}" --granularity line -p "$inner"
says 'has no debug information' "hint: .*/proc/$inner/root/usr/lib/debug/.build-id/"
run 0 "${tool_in_front[@]}" doctor -p "$inner"
prints "^warning +debug information .*has none" 'functions'
attach 2 --no-tui -P progress -p "$inner"
says "'.*/bin/app' has no debug information: functions are made faster, not lines" \
	"no symbol 'progress'" 'hint: the file is stripped'
echo "-- found on the host, by build id"
mkdir -p "$debug"
cp "$dir/running.debug" "$debug/${id:2}.debug"
run 0 "${tool_in_front[@]}" doctor -p "$inner"
prints '^ok +held by others ' '^ok +kind of process ' '^ok +threads ' '^ok +debug information '
run 0 "${tool_in_front[@]}" lines -p "$inner"
prints 'running\.c'
attach 0 "${brief[@]}" -P again=/bin/app:progress -p "$inner"
paused "$inner \(.*\)"
says 'pause handler taken out;' "progress point 'again': [1-9][0-9]* visits"
check "the line is ranked" has "$dir/profile.coz" "^experiment.selected=.*$line"
rm -f "$debug/${id:2}.debug"
rmdir "$debug" 2>/dev/null
end_inside

echo "-- debug information in the container, the binary deleted since"
mkdir -p "$dir/root/usr/lib/debug/.build-id/${id:0:2}"
cp "$dir/running.debug" "$dir/root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
begin_inside chroot "$dir/root" /bin/app apart
mv "$dir/root/bin/app" "$dir/app"
cp /bin/true "$dir/root/bin/app"
attach 0 "${brief[@]}" -p "$inner"
paused "$inner \(.*\)"
mv "$dir/app" "$dir/root/bin/app"
echo "-- a link in the container's root that leads out of it is not followed"
ln -sf /etc/passwd "$dir/root/bin/link"
attach 2 "${brief[@]}" -P out=/bin/link:progress -p "$inner"
says "'/bin/link'|sees no file '/bin/link'"
end_inside

echo "-- three containers with one path and one inode number: two programs, and a copy of the first"
# mounted SOURCE NAME: runs that program as /twin/app in a mount namespace of its own, where it is
# the first file of a tmpfs.
mounted() {
	# shellcheck disable=SC2016 # expanded by that shell
	begin unshare --mount --fork --kill-child sh -c \
		'mount -t tmpfs none "$1" && cp "$2" "$1/app" && exec "$1/app" plain 1' \
		- "$dir/twin" "$1"
	inner=$(pgrep -P "$target_pid" | head -n 1)
	twins+=("$inner")
}
twins=() flags=()
mkdir -p "$dir/twin" "$dir/one" "$dir/two"
sed 's/^#include "fixture.h"/#include "fixture.h"\n/' tests/e2e/fixtures/running.c \
	>"$dir/two/second.c"
cp tests/e2e/fixtures/running.c "$dir/one/first.c"
for id in none sha1; do
	gcc -O1 -g -fno-omit-frame-pointer -Wl,--build-id=$id -Itests/e2e/fixtures \
		-o "$dir/one/app" "$dir/one/first.c" -lpthread
	gcc -O1 -g -fno-omit-frame-pointer -Wl,--build-id=$id -Itests/e2e/fixtures \
		-o "$dir/two/app" "$dir/two/second.c" -lpthread
	twins=() flags=()
	mounted "$dir/one/app"
	mounted "$dir/two/app"
	mounted "$dir/one/app"
	for pid in "${twins[@]}"; do
		stat -L -c %i "/proc/$pid/exe"
	done | sort -u >"$dir/inodes"
	for pid in "${twins[@]}"; do flags+=(-p "$pid"); done
	check "build id '$id': the same inode number in all" is "$(wc -l <"$dir/inodes")" '==' 1
	attach 0 "${brief[@]/#"$line"/first.c:${line#*:}}" "${flags[@]}"
	for source in first second; do
		n=$(sed -nE "s|^samples.*/$source.c:[0-9]+\tcount=([0-9]+).*|\1|p" \
			"$dir/profile.coz" | awk '{ n += $1 } END { print n + 0 }')
		check "samples in $source.c: $n" is "$n" '>=' 50
	done
	says "process ${twins[1]} runs another build of '$dir/twin/app'"
	if [ "$id" = sha1 ]; then says_not "process ${twins[2]} runs another build"; fi
	kill -TERM "${twins[@]}"
	wait_for 20 gone "${twins[2]}"
done

echo "-- two containers of one image, each with its own overlay: each visit counts once"
# overlaid N: runs the static program on its overlay, at the same path in each mount namespace.
overlaid() {
	: >"$dir/target"
	mkdir -p "$dir/upper$1" "$dir/scratch$1" "$dir/merged"
	# shellcheck disable=SC2016 # expanded by that shell
	unshare --mount --fork --kill-child sh -c \
		'layers=lowerdir=$1/root,upperdir=$1/upper$2,workdir=$1/scratch$2
		mount -t overlay overlay -o "$layers" "$1/merged" &&
		exec chroot "$1/merged" /bin/app plain 1' \
		- "$dir" "$1" >"$dir/target" 2>&1 </dev/null &
	target_pid=$!
	started+=("$target_pid")
	wait_for 20 has "$dir/target" '^ready' || return 1
	inner=$(pgrep -P "$target_pid" | head -n 1)
	twins+=("$inner")
}
# Visits per millisecond of CPU time, as samples tell. Two containers have the same figure as one,
# or twice as much if a visit counts double. Other programs may make CPUs faster or slower
# meanwhile, and not three times in a row; a double count is there each time.
per_ms() {
	awk -v visits="$(total progress)" '
		/a sample each/ { ms = $(NF - 1) / 1000 }
		/: [0-9]+ samples, / && sub(/.*\): /, "") { n += $1 }
		END { printf "%.3f", visits / (n ? n * ms : 1e9) }' "$dir/err"
}
twins=()
mkdir -p "$dir/upper" "$dir/scratch" "$dir/merged"
layers=lowerdir=$dir/root,upperdir=$dir/upper,workdir=$dir/scratch
if ! unshare --mount mount -t overlay overlay -o "$layers" "$dir/merged"; then
	skipped=$((skipped + 1))
	echo "skip no overlay can be mounted here"
elif ! overlaid 1 || ! overlaid 2; then
	bad "both containers start" "$(cat "$dir/target")"
else
	for try in 1 2 3; do
		attach 0 "${brief[@]}" -p "${twins[0]}"
		one=$(per_ms)
		attach 0 "${brief[@]}" -p "${twins[0]}" -p "${twins[1]}"
		two=$(per_ms)
		ratio=$(awk "BEGIN { print $two / ($one > 0 ? $one : 1e-9) }")
		is "$ratio" '<' 1.5 && is "$ratio" '>' 0.7 && break
		echo "     try $try: $one visits per ms of one, $two of both"
	done
	check "each visit counts once: $one per ms of one, $two of both" is "$ratio" '<' 1.5
	check "both are counted" is "$ratio" '>' 0.7
	says_not 'another build' "is in .*, too"
	kill -TERM "${twins[@]}"
	wait_for 20 gone "${twins[1]}"
fi

if unshare --user --map-root-user true 2>/dev/null; then
	echo "-- a user namespace"
	chmod 755 "$dir/root"
	begin_inside --user --map-root-user chroot "$dir/root" /bin/app apart
	attach 0 "${brief[@]}" -p "$inner"
	paused "$inner \(.*\)"
	end_inside
fi

echo "-- from inside a PID namespace: processes by the numbers that they have there"
rm -f "$dir/profile.coz"
inside=(unshare --pid --fork --kill-child --mount-proc)
run 0 "${in_front[@]}" "${inside[@]}" "$tool" run "${brief[@]}" -o "$dir/profile.coz" -- \
	"$dir/running" apart 2 1
paused '[1-9][0-9]? \(running\)'
rm -f "$dir/profile.coz"
run 0 "${inside[@]}" bash tests/e2e/fixtures/beside.sh "$dir/running" "$dir/target" \
	"${tool_in_front[@]}" "${brief[@]}" -o "$dir/profile.coz"
says 'process [1-9][0-9]?: pause handler taken out;'
paused '[1-9][0-9]? \(running\)'

echo "-- a control group, and who joins it later"
group=
for at in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/pids; do
	[ -e "$at/cgroup.procs" ] && mkdir "$at/cozbpf-e2e-$$" 2>/dev/null &&
		group=$at/cozbpf-e2e-$$ && break
done
if [ -z "$group" ]; then
	skipped=$((skipped + 1))
	echo "skip no control group can be made here"
else
	begin_inside chroot "$dir/root" /bin/app plain 1
	first=$inner first_target=$target_pid
	echo "$first" >"$group/cgroup.procs"
	rm -f "$dir/profile.coz"
	start "${tool_in_front[@]}" "${brief[@]}" -d 60s --cgroup "/cozbpf-e2e-$$" \
		-o "$dir/profile.coz"
	wait_for 20 has "$dir/err" 'attached to 1 process ' || bad "it attaches"
	begin_inside chroot "$dir/root" /bin/app apart
	echo "$inner" >"$group/cgroup.procs"
	wait_for 20 has "$dir/err" "process $inner: pause handler injected" ||
		bad "who joins gets the handler"
	before=$(grep -c '^experiment' "$dir/profile.coz")
	# shellcheck disable=SC2317 # called by wait_for
	four_more() { [ "$(grep -c '^experiment' "$dir/profile.coz")" -ge $((before + 4)) ]; }
	wait_for 20 four_more || bad "experiments go on"
	"$tool" --no-tui -P progress --cgroup "/cozbpf-e2e-$$" -o "$dir/none.coz" 2>"$dir/second"
	check "another cozbpf has status 3" [ $? -eq 3 ]
	for pid in "$first" "$inner"; do
		check "it says why" has "$dir/second" "warning: process $pid is being profiled"
	done
	check "none is left for it" has "$dir/second" 'error: no process of the control group'
	kill -INT "$tool_pid"
	ended 20 0 "it ends"
	paused "$inner \(.*\)"
	says "process $first: pause handler taken out" "process $inner: pause handler taken out"
	end_inside
	echo "-- of its members one alone sees a file, and one is in another user's hands"
	begin sh -c 'echo ready; exec sleep 60'
	squatted=$target_pid
	begin "$dir/running" plain 1
	for pid in "$squatted" "$target_pid"; do echo "$pid" >"$group/cgroup.procs"; done
	squat "$squatted"
	run 0 "${tool_in_front[@]}" "${brief[@]}" -P "other=$dir/running:progress" \
		--cgroup "/cozbpf-e2e-$$" -o "$dir/other.coz"
	says "warning: cannot claim process $squatted: Address already in use" \
		"process $target_pid: pause handler taken out"
	kill "$squatter" "$squatted"
	end
	inner=$first target_pid=$first_target
	: >"$dir/target"
	kill -TERM "$inner"
	wait "$target_pid"
	rmdir "$group"
	run 2 "$tool" "${brief[@]}" --cgroup "/cozbpf-e2e-$$"
	says 'there is no control group'
fi
finish
