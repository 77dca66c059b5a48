#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints where the fields of Go's runtime.g and runtime.m are, by DWARF of a program that each
# toolchain below /var/tmp/cozbpf-go builds: the rows of the table in
# user/symbols/dwarf/gostructs.c.
# usage: scripts/go-offsets.sh [VERSION...]   default: all that are there
# $COZBPF_GO names another folder of toolchains.
set -euo pipefail
dir=${COZBPF_GO:-/var/tmp/cozbpf-go}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
	mapfile -t versions < <(printf '%s\n' "$dir"/1.*/go | sed 's|/go$||; s|.*/||' | sort -V)
	[ ! -x "$dir/${versions[0]}/go" ] || set -- "${versions[@]}"
fi
[ $# -gt 0 ] || {
	echo "go-offsets: error: there is no toolchain below '$dir'" >&2
	echo "go-offsets: hint: scripts/go-toolchains.sh unpacks some" >&2
	exit 1
}
printf 'package main\n\nfunc main() {}\n' >"$work/main.go"
for version in "$@"; do
	(cd "$work" && "$dir/$version/go" build -ldflags=-compressdwarf=false -o program main.go)
	readelf --debug-dump=info "$work/program" 2>/dev/null | awk -v version="$version" '
		/DW_TAG_structure_type/ { inside = ""; is_struct = 1; is_member = 0 }
		/DW_TAG_member/ { is_member = 1; is_struct = 0 }
		/DW_TAG_/ && !/DW_TAG_(structure_type|member)/ { is_struct = is_member = 0 }
		/DW_AT_name/ && is_struct && $NF ~ /^runtime\.[gm]$/ { inside = substr($NF, 9) }
		/DW_AT_name/ && is_member { member = $NF }
		/DW_AT_data_member_location/ && is_member && inside != "" {
			at[inside "." member] = $NF
		}
		END {
			n = split("g.stack g.m g.atomicstatus g.goid m.g0 m.gsignal m.curg " \
				"m.mallocing m.preemptoff m.locks", fields, " ")
			printf "%s {", version
			for (i = 1; i <= n; i++)
				printf "%s%s", (i > 1 ? ", " : ""),
					(fields[i] in at) ? at[fields[i]] : "?"
			print "}"
		}'
done
