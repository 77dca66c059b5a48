#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's own stripped servers under load, attached to twice: without -P, and with a point that was
# picked by hand. Prints both rankings' first three, whether the one without -P has the other's
# lines in its order and with its signs, and when the first line was ranked. docs/points.md has
# figures.
# usage: tests/bench/servers.sh [SECONDS] [SERVER...]   (60 s each, all; make bench-servers)
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
seconds=${1:-60}
shift
servers=("$@")
[ ${#servers[@]} -gt 0 ] || servers=(redis memcached nginx postgresql)
scripts/install-deps.sh servers || skip "the servers cannot be installed"
port=$((20000 + $$ % 10000))

as_postgres() {
	setpriv --reuid=postgres --regid=postgres --init-groups env -C / "$@"
}

# Each starts a server and its load. $pids: whom to attach to; $pick: the point picked by hand.
# shellcheck disable=SC2317 # by its name
start_redis() {
	redis-server --port "$port" --save '' --appendonly no --dir "$dir" >"$dir/out" 2>&1 &
	started+=("$!")
	pids=("$!")
	pick=call
	wait_for 20 redis-cli -p "$port" ping || return 1
	redis-benchmark -p "$port" -q -l -c 20 -t set,get >/dev/null 2>&1 &
	started+=("$!")
} >"$dir/out" 2>&1

# shellcheck disable=SC2317 # by its name
start_memcached() {
	memcached -u root -l 127.0.0.1 -p "$port" -t 2 >"$dir/out" 2>&1 &
	started+=("$!")
	pids=("$!")
	pick=sendmsg=tracepoint:syscalls:sys_enter_sendmsg
	wait_for 20 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" || return 1
	memcaslap -s "127.0.0.1:$port" -T 1 -c 16 -t 600s >/dev/null 2>&1 &
	started+=("$!")
} 2>/dev/null

# shellcheck disable=SC2317 # by its name
start_nginx() {
	mkdir "$dir/www" && cp README.md "$dir/www/page.txt"
	cat >"$dir/nginx.conf" <<-END
		daemon off;
		pid $dir/nginx.pid;
		events { worker_connections 64; }
		http {
			access_log off;
			gzip on;
			gzip_types text/plain;
			default_type text/plain;
			keepalive_requests 1000000000;
			server { listen 127.0.0.1:$port; root $dir/www; }
		}
	END
	nginx -e "$dir/log" -c "$dir/nginx.conf" >"$dir/out" 2>&1 &
	local master=$!
	started+=("$master")
	wait_for 20 pgrep -P "$master" || return 1
	mapfile -t pids < <(pgrep -P "$master")
	pick=ngx_http_free_request
	wrk -c 8 -t 1 -d 600s -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/page.txt" \
		>/dev/null 2>&1 &
	started+=("$!")
} >"$dir/out" 2>&1

# shellcheck disable=SC2317 # wait_for calls it
backends() {
	mapfile -t pids < <(pgrep -f "^postgres: .* SELECT|^postgres: .* idle( in transaction)?$")
	[ ${#pids[@]} -ge 2 ]
}

# shellcheck disable=SC2317 # by its name
start_postgresql() {
	pg=$(find /usr/lib/postgresql -path '*/bin/postgres' -printf '%h\n' | sort -V | tail -n 1)
	mkdir "$dir/pg" && chown postgres "$dir/pg" &&
		as_postgres "$pg/initdb" -D "$dir/pg" -A trust --no-sync &&
		as_postgres "$pg/pg_ctl" -D "$dir/pg" -w -l "$dir/pg/log" \
			-o "-p $port -k $dir/pg -h '' -c fsync=off" start &&
		as_postgres pgbench -q -i -s 5 -h "$dir/pg" -p "$port" postgres || return 1
	as_postgres pgbench -S -c 2 -j 1 -T 600 -h "$dir/pg" -p "$port" postgres >/dev/null 2>&1 &
	started+=("$!")
	pick=query=usdt:$pg/postgres:postgresql:query__done
	wait_for 20 backends
} >"$dir/out" 2>&1

# All of a server and its load.
stop() {
	[ "$1" != postgresql ] ||
		as_postgres "$pg/pg_ctl" -D "$dir/pg" -m immediate stop >/dev/null 2>&1
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	started=()
}

# profile NAME [-P POINT]: a ranking; when it began is in $dir/NAME.first.
profile() {
	local name=$1 begun=$SECONDS
	shift
	start "$tool" --no-tui -d "${seconds}s" -o "$dir/$name.coz" "$@" "${pids[@]/#/-p}"
	while kill -0 "$tool_pid" 2>/dev/null; do
		sleep 3
		[ -s "$dir/$name.first" ] || ! "$tool" report --csv "$dir/$name.coz" 2>/dev/null |
			grep -qE ',(optimize|contention),' ||
			echo $((SECONDS - begun)) >"$dir/$name.first"
	done
	wait "$tool_pid"
	cp "$dir/err" "$dir/$name.err"
	"$tool" report --json "$dir/$name.coz" >"$dir/$name.json" 2>/dev/null
}

for server in "${servers[@]}"; do
	echo "-- $server"
	port=$((port + 1))
	if ! "start_$server"; then
		bad "$server starts"
		stop "$server"
		continue
	fi
	sleep 1
	profile auto
	profile hand -P "$pick"
	stop "$server"
	sed -n 's/^cozbpf: \(progress point chosen.*\)/\1/p' "$dir/auto.err"
	echo "picked by hand: $pick"
	echo "first function ranked after $(cat "$dir/auto.first" 2>/dev/null || echo never) s," \
		"by hand after $(cat "$dir/hand.first" 2>/dev/null || echo never) s"
	check "$server: the same three, in order, with their signs" \
		tests/bench/servers.py "$dir/auto.json" "$dir/hand.json"
	rm -f "$dir"/{auto,hand}.*
done
finish
