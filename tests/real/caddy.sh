#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's caddy, a Go server without symbols, compresses a text for each request. Its clients check
# every answer, while cozbpf attaches to it, and launches it. Progress is a call of write, about ten
# a reply. Needs root and the network; `make check-real`.
# usage: tests/real/caddy.sh [SECONDS]   of each profile; default 20; 600 are ten minutes
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
seconds=${1:-20}
(cd "$dir" && apt-get -q download caddy && dpkg -x caddy_*.deb caddy) >"$dir/out" 2>&1 ||
	skip "the package cannot be had"
caddy=$dir/caddy/usr/bin/caddy
port=$((20000 + $$ % 10000))
mkdir "$dir/www"
seq 20000 >"$dir/www/numbers.txt"
cat >"$dir/Caddyfile" <<END
{
	admin off
	auto_https off
}
http://127.0.0.1:$port {
	root * $dir/www
	encode gzip
	file_server
}
END
serve=("$caddy" run --config "$dir/Caddyfile" --adapter caddyfile)
export XDG_DATA_HOME=$dir/data XDG_CONFIG_HOME=$dir/config

# Four connections, each a closed loop for some seconds or until SIGTERM; says at the end how many
# answers were right.
cat >"$dir/load.py" <<'END'
import gzip, http.client, signal, sys, threading

port, want, seconds = int(sys.argv[1]), open(sys.argv[2], "rb").read(), float(sys.argv[3])
over, counts = threading.Event(), {True: 0, False: 0}
signal.signal(signal.SIGTERM, lambda *_: over.set())


def load():
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while not over.is_set():
        try:
            connection.request("GET", "/numbers.txt", headers={"Accept-Encoding": "gzip"})
            reply = connection.getresponse()
            body = reply.read()
            counts[reply.status == 200 and gzip.decompress(body) == want] += 1
        except (OSError, http.client.HTTPException) as error:
            print(repr(error), flush=True)
            counts[False] += 1
            connection.close()


threads = [threading.Thread(target=load) for _ in range(4)]
for thread in threads:
    thread.start()
print("ready", flush=True)
over.wait(seconds)
over.set()
for thread in threads:
    thread.join()
print(f"end right {counts[True]} wrong {counts[False]}", flush=True)
END
# shellcheck disable=SC2317 # by wait_for
answers() {
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}
start_load() { # SECONDS
	wait_for 30 answers || bad "the server answers"
	python3 "$dir/load.py" "$port" "$dir/www/numbers.txt" "$1" >"$dir/load" 2>&1 &
	load=$!
	started+=("$load")
	wait_for 20 has "$dir/load" '^ready' || bad "the load starts"
}
end_load() {
	wait "$load"
	check "every answer was right: $(tail -n 1 "$dir/load")" grep -qE \
		'^end right [1-9][0-9]+ wrong 0$' "$dir/load"
}
look() { # FILE
	{
		grep -c ' r-xp ' "/proc/$server/maps"
		grep -hE '^(SigCgt|SigIgn|TracerPid)' "/proc/$server/status"
		grep -hE '^SigBlk' /proc/"$server"/task/*/status | sort -u
	} >"$1"
}
options=(-v --no-tui -P reply=tracepoint:syscalls:sys_enter_write)
told() {
	paused "$1"
	says '^[1-9][0-9]+ experiments' "process $1: [0-9]{3,} samples" '^ +(1  )?caddy'
}

echo "-- attached"
"${serve[@]}" >"$dir/server" 2>&1 &
server=$!
started+=("$server")
start_load $((seconds + 60))
look "$dir/before"
timeout -k 5 $((seconds + 60)) "$tool" "${options[@]}" -d "$seconds" -o "$dir/attached.coz" \
	-p "$server" >"$dir/out" 2>"$dir/err" </dev/null
check "cozbpf ends well" [ $? -eq 0 ]
told "$server \(caddy\)"
says 'pause handler taken out;'
cat "$dir/err"
look "$dir/after"
check "nothing is left in it" diff "$dir/before" "$dir/after"
kill -TERM "$load"
end_load
kill -TERM "$server"
wait "$server"
check "the server ends as it should" [ $? -eq 0 ]

echo "-- launched"
start "$tool" run "${options[@]}" -o "$dir/launched.coz" -- "${serve[@]}" --pidfile "$dir/pid"
start_load "$seconds"
end_load
kill -TERM "$(cat "$dir/pid")"
ended 20 0 "cozbpf ends with the server"
told '[0-9]+ \(caddy\)'
cat "$dir/err"
finish
