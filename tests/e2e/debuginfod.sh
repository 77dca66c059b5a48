#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Names by debuginfod, from a server of ours: a stripped program gets its lines, by the cache as
# well. A server that hangs, lies or has nothing costs the names, and no more.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture functions
objcopy --only-keep-debug "$dir/functions" "$dir/right"
strip -o "$dir/bare" "$dir/functions"
as=other fixture functions -O2
line=$(line_of functions HOT)
unset XDG_CACHE_HOME DEBUGINFOD_MAXSIZE DEBUGINFOD_MAXTIME DEBUGINFOD_CACHE_PATH
export DEBUGINFOD_RETRY_LIMIT=1 HOME=$dir/home
mkdir "$HOME"
point=tracepoint:syscalls:sys_exit_write
profile=("$tool" --no-tui -P "$point" --experiment-length 20ms -d 1s -o "$dir/p.coz")

# serve FILE MODE: a server with an empty cache before it.
serve() {
	begin python3 "$root/tests/e2e/fixtures/debuginfod.py" "$dir/$1" "$2" "$dir/log"
	DEBUGINFOD_URLS=http://127.0.0.1:$(cut -d' ' -f2 "$dir/target")
	export DEBUGINFOD_URLS
	rm -rf "$HOME/.cache" "$dir/p.coz"
	: >"$dir/log"
}

stop() {
	kill "$target_pid"
	wait_for 5 gone "$target_pid" || bad "the server ends"
}

# shellcheck disable=SC2317
requests() {
	wc -l <"$dir/log"
}

# shellcheck disable=SC2317 # wait_for calls it
asked() { # TIMES
	[ "$(requests)" -ge "$1" ]
}

lines() { # STATUS
	run "$1" "$tool" lines -v "$dir/bare"
}

functions_only() {
	prints '^bare\+0x[0-9a-f]+	1$'
	check "no line" [ "$(grep -c 'functions\.c' "$dir/out")" -eq 0 ]
}

# Of the processes that fetch, those with our HOME are ours.
# shellcheck disable=SC2317
none_left() {
	! pgrep -x debuginfod | sed 's|.*|/proc/&/environ|' | xargs -r grep -qs "HOME=$HOME"
}

echo "-- a server that has it"
serve right serve
id=$(readelf -n "$dir/bare" | sed -nE 's/.*Build ID: ([0-9a-f]+)/\1/p')
lines 0
prints "/$line	"
says "debuginfod has the debug file of 'bare'"
check "asked for by build id" has "$dir/log" "^/buildid/$id/debuginfo$"
run 0 "${profile[@]}" -d 3s -- "$dir/bare" 3000
check "experiments on lines" grep -q 'selected=.*/functions\.c:' "$dir/p.coz"
before=$(requests)
lines 0
check "from the cache" [ "$(requests)" -eq "$before" ]
stop
lines 0
prints "/$line	"
run 0 env DEBUGINFOD_URLS= "$tool" lines -v "$dir/bare"
functions_only
says_not debuginfod
run 0 env DEBUGINFOD_URLS= "$tool" doctor
prints '^ok +debuginfod +DEBUGINFOD_URLS is not set'
run 0 "$tool" doctor
prints '^ok +debuginfod +DEBUGINFOD_URLS is set'
"$dir/bare" 20000 >"$dir/target" &
target=$!
started+=("$target")
wait_for 20 has "$dir/target" '^ready' || bad "it starts"
rm -f "$dir/p.coz"
run 0 "${profile[@]}" -p "$target"
check "attached: experiments on lines" grep -q 'selected=.*/functions\.c:' "$dir/p.coz"
kill "$target"

echo "-- as the user behind sudo"
user=nobody
uid=$(id -u $user)
serve right serve
cp "$tool" "${tool%/*}/libcozbpf-shim.so" "$dir"
mkdir -m 755 "$dir/cache"
chown $user "$dir/cache"
run 0 env SUDO_UID="$uid" SUDO_GID="$(id -g $user)" XDG_CACHE_HOME="$dir/cache" \
	"$dir/cozbpf" lines -v "$dir/bare"
prints "/$line	"
check "the cache is the user's" \
	[ "$(stat -c %u "$dir/cache/debuginfod_client/$id/debuginfo")" = "$uid" ]
stop

echo "-- servers that have nothing of use"
serve right missing
lines 0
functions_only
says "debuginfod has no debug file of 'bare'"
stop
serve right garbage
lines 0
functions_only
stop
serve other serve
lines 0
functions_only
stop
serve right serve
DEBUGINFOD_MAXSIZE=1000 lines 0
functions_only
says "warning: debuginfod gives no debug file of 'bare': File too large"
stop
lines 0 # nobody listens any more
functions_only
says "warning: debuginfod gives no debug file of 'bare': "
serve right endless
run 0 sh -c 'ulimit -f 1000; exec "$@"' sh "$tool" lines -v "$dir/bare"
functions_only # the library's retry has another error by chance, so none is looked for
check "nothing of it stays" [ -z "$(find "$HOME/.cache" -type f -size +0 -name 'debuginfo*')" ]
stop

echo "-- a server that hangs"
serve right hang
DEBUGINFOD_TIMEOUT=1 run 0 "${profile[@]}" -d 3s -- "$dir/bare" 3000
says "warning: debuginfod gives no debug file of 'bare': " 'functions are made faster, not lines'
check "the profile has functions" grep -q 'selected=.*bare+0x' "$dir/p.coz"
rm "$dir/p.coz"
: >"$dir/log"
start "${profile[@]}" -d 3s -- "$dir/bare" 3000
wait_for 10 asked 1 || bad "it asks"
kill -INT "$tool_pid"
ended 10 0 "Ctrl-C meanwhile: goes on without"
says "going on without the debug file of 'bare'" 'functions are made faster, not lines'
wait_for 5 none_left
check "nobody is left behind" none_left
stop

echo "-- progress on a terminal"
serve right slow
start script -qec "exec $tool lines $dir/bare" /dev/null
wait_for 10 has "$dir/out" "debuginfod: 'bare', 0\.0 of 0\.0 MB, [0-9]+ s; Ctrl-C: go on without" ||
	bad "it shows how far it is"
kill -INT "$(pgrep -P "$tool_pid")"
ended 10 0 "Ctrl-C: goes on without"
prints '^bare\+0x[0-9a-f]+'
wait_for 5 none_left
check "nobody is left behind" none_left
check "what was downloaded in part is gone" [ -z "$(find "$HOME/.cache" -name 'debuginfo*.*')" ]
stop
finish
