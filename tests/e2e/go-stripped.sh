#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of Go without symbols and debug information: their lines, functions and points, by the
# tables that the runtime itself needs.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=fixtures/golib.sh
. "$root/tests/e2e/fixtures/golib.sh"
source=$root/tests/e2e/fixtures/pool.go
export UNIT_THREADS=2 # workers of the pool

line_in_source() { # TAG
	echo "pool.go:$(grep -n "/\* $1 \*/" "$source" | head -n 1 | cut -d: -f1)"
}
hot=$(line_in_source HOT) call=$(line_in_source CALL)

with_toolchain() { # COMMAND
	local version
	go=$1
	version=$("$go" env GOVERSION)
	echo "-- $version"
	go_build pool -ldflags='-s -w' "$source"
	run 0 "$tool" lines "$dir/pool"
	prints '/pool.go$'
	check "no other file is in scope" [ "$(wc -l <"$dir/out")" -eq 1 ]
	run 0 "$tool" lines --points "$dir/pool"
	prints '^function	main\.\(\*server\)\.serve$' '^function	main\.main\.func1$'
	rm -f "$dir"/*.coz
	run 0 "$tool" -q --experiment-length 100ms -o "$dir/line.coz" -P 'main.(*server).serve' \
		--fixed-line "$hot" -- "$dir/pool" $((40000 * slowness))
	check "the line has samples" has "$dir/line.coz" \
		"selected=.*/$hot	speedup=0\.[0-9]*	.*selected-samples=[1-9]"
	check "its program has visits" has "$dir/line.coz" \
		'^throughput-point	name=main\.\(\*server\)\.serve	delta=[1-9]'
	run 0 "$tool" -q --experiment-length 100ms -o "$dir/p.coz" -P "fn=main.(*server).serve" \
		-P "call=$call" --granularity function -- "$dir/pool" $((60000 * slowness))
	check "a line counts as the function's entry does" same_visits fn call
	check "functions are units" has "$dir/p.coz" \
		'^samples	location=pool:main\.\(\*server\)\.serve	'
	begin "$dir/pool"
	run 0 "$tool" doctor -p "$target_pid"
	prints "^ok +goroutines +'.*/pool' is of ${version//./\\.}" "^ok +debug information "
	end
}

for toolchain in $(go_toolchains); do with_toolchain "$toolchain"; done
finish
