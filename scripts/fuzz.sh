#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs each fuzzer for a while, from small real inputs. Findings and corpus stay beside the fuzzer.
# usage: scripts/fuzz.sh SECONDS FUZZER...   (make fuzz)
set -euo pipefail
seconds=$1
shift

# The inputs to begin with, beside those that earlier runs have found.
seeds() { # NAME DIR
	case $1 in
	fuzz_profile)
		{
			printf 'startup\ttime=1\n'
			printf 'experiment\tselected=a.c:1\tspeedup=0.25\tduration=500'
			printf '\tselected-samples=3\n'
			printf 'throughput-point\tname=work\tdelta=12\n'
			printf 'samples\tlocation=a.c:1\tcount=3\nruntime\ttime=900\n'
		} >"$2/seed"
		;;
	fuzz_spec)
		printf 'name=uprobe:/bin/x:f(int)+8' >"$2/seed-uprobe"
		printf 'a/../b.c:123' >"$2/seed-line"
		printf '%s' '8@%rdi -4@-20(%rbp) 4@$5' >"$2/seed-args"
		printf '%s' '8@x0 -4@[sp, 20] 4@5' >"$2/seed-args-arm64"
		;;
	fuzz_object)
		# A whole program with debug information and markers, small enough to be mutated
		# often.
		gcc -x c - -g -O2 -Iinclude -nostdlib -static -o "$2/seed" <<'END'
#include <coz.h>
__attribute__((noinline)) static int work(int x) { COZ_BEGIN("w"); return x * 2; }
int _start(void) { COZ_PROGRESS; return work(3) + work(4); }
END
		# The same with Coz's own markers, where they are installed.
		gcc -x c - -O2 -nostdlib -static -o "$2/seed-coz" 2>/dev/null <<'END' || true
#include "/usr/include/coz.h"
int _start(void)
{
	for (int i = 0; i < 9; i++) COZ_PROGRESS_NAMED("p");
	COZ_BEGIN("b");
	return 0;
}
END
		;;
	*) echo "fuzz: no seeds for '$1'" >&2 ;;
	esac
}

failed=0
for fuzzer in "$@"; do
	corpus=$fuzzer.corpus
	mkdir -p "$corpus"
	seeds "$(basename "$fuzzer")" "$corpus"
	if "$fuzzer" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$fuzzer-" "$corpus" >"$fuzzer.log" 2>&1; then
		inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$fuzzer.log")
		echo "ok   ${fuzzer##*/}: $inputs inputs in $seconds s"
	else
		echo "FAIL ${fuzzer##*/}:"
		tail -n 40 "$fuzzer.log"
		failed=1
	fi
done
exit $failed
