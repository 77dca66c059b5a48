#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's PostgreSQL as it comes, without debug information. Progress is its own static probe
# postgresql:transaction__commit, which has a semaphore, in one process for each client. The lines
# are those of a C function that a user has added to the server. Apart from the server's own work,
# two loops take 80 and 20 % of a transaction. Needs root and the network; `make check-real`.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR/../soak source=../soak/servers.sh
. "$root/tests/soak/servers.sh"
scripts/install-deps.sh real >/dev/null || skip "its packages cannot be installed"
pg_build 5000000 || skip "the server's headers cannot be had"
readelf -n "$pg/postgres" | grep -q 'Name: transaction__commit' ||
	skip "this PostgreSQL has no static probes"
line=cozwork.c:$(grep -n LINE_A "$dir/cozwork.c" | cut -d: -f1)
port=$((20000 + $$ % 10000))
# shellcheck disable=SC2317 # at the end
undo() {
	pg_stop db
	cleanup
}
trap undo EXIT
pg_start db $port || bad "the server starts"
sql() {
	as_postgres psql -q -h "$dir/db" -p "$port" -d postgres "$@" >"$dir/out" 2>"$dir/err"
}
server=$(head -n 1 "$dir/db/postmaster.pid")
commit=commit=usdt:$pg/postgres:postgresql:transaction__commit

echo "-- the server itself has no lines"
run 4 "$tool" -q --granularity line -P "$commit" -o "$dir/n.coz" -p "$server"
says "error: '.*/postgres' has no debug information"
run 2 "$tool" -q -b '%/cozwork.so' -P "usdt:$pg/postgres:postgresql:transaction_commit" \
	-o "$dir/n.coz" -p "$server"
says "error: no static probe 'postgresql:transaction_commit'" \
	"hint: did you mean 'postgresql:transaction__commit'"

echo "-- its probe and a function of ours"
start "$tool" -v --no-tui -b '%/cozwork.so' -P "$commit" \
	-P "query=usdt:$pg/postgres:postgresql:query__done" --experiment-length 200ms -d 240s \
	-o "$dir/p.coz" -p "$server"
wait_for 20 has "$dir/err" 'attached to 1 process' || bad "it attaches"
as_postgres "$pg/pgbench" -n -h "$dir/db" -p "$port" -c 2 -j 1 -t 12000 \
	-f "$dir/work.sql" postgres >"$dir/load" 2>&1 || bad "the load runs"
check "cozbpf was there all the time" kill -INT "$tool_pid"
ended 20 0 "it ends when told"
says "^ +1  $line +\+0\.[4-9]"
n=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$dir/load")
# Each connection is a transaction as well, and pgbench has one at the start.
check "commits counted: $(total commit), transactions of the load: $n" \
	[ "$(total commit)" -ge "${n:-1}" ]
check "not more than a few others" [ "$(total commit)" -le $((n + 6)) ]
check "queries counted: $(total query)" [ "$(total query)" -ge "$n" ]
check "not more than a few others" [ "$(total query)" -le $((n + 6)) ]
sql -c 'SELECT cozwork()'
check "the server goes on" has "$dir/out" '^ *1$'
cat "$dir/load"
finish
