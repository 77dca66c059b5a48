#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# kill -9 on cozbpf while one pause follows the other: the command goes on at its own full speed,
# and nothing of ours stays in the kernel. Speed is turns per millisecond of the thread's CPU time,
# which pauses bring down to a twentieth. Other programs, on the other hyperthread, leave half or
# double it. So slow is below 35 % of an unprofiled run before, and full speed is above that.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture speed

rates() {
	grep -c '^rate' "$dir/out"
}
# shellcheck disable=SC2317 # wait_for calls them
has_rates() {
	[ "$(rates)" -ge "$1" ]
}
# shellcheck disable=SC2317
is_slow() {
	is "$(tail -n 1 "$dir/out" | sed -n 's/^rate //p')" '<' \
		"$(echo "$reference" | awk '{ print $1 * 0.35 }')"
}
median() { # FROM: of the rates after that many
	grep '^rate' "$dir/out" | tail -n +$(($1 + 1)) | cut -d' ' -f2 | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

start "$dir/speed"
wait_for 30 has_rates 12
reference=$(median 2)
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null
check "an unprofiled run: $reference turns per millisecond" is "$reference" '>' 0

start "$tool" run -q -o "$dir/profile.coz" -P progress --fixed-line "$(line_of speed HOT)" \
	--fixed-speedup 100 --experiment-length "${slowness}s" -- "$dir/speed"
wait_for 30 has "$dir/out" '^ready' || bad "the command starts"
command_pid=$(sed -n 's/^ready //p' "$dir/out")
started+=("$command_pid")
check "it is slowed down" wait_for 60 is_slow

# shellcheck disable=SC2317
code() { # the first bytes of progress() in the command's memory, then in its file
	local offset base
	offset=$((16#$(nm "$dir/speed" | awk '$3 == "progress" { print $1 }')))
	base=$((16#$(grep -m 1 "$dir/speed" /proc/"$command_pid"/maps | cut -d- -f1)))
	dd if=/proc/"$command_pid"/mem bs=1 skip=$((base + offset)) count=8 status=none |
		od -An -tx1 >"$dir/memory"
	dd if="$dir/speed" bs=1 skip=$offset count=8 status=none | od -An -tx1 >"$dir/file"
	same "$dir/memory" "$dir/file"
}
ids() { # KEY: of the BPF objects that cozbpf holds
	sed -n "s/^$1:[[:space:]]*//p" /proc/"$tool_pid"/fdinfo/* 2>/dev/null | sort -un
}
programs=$(ids prog_id) maps=$(ids map_id) links=$(ids link_id)
for ids in "$programs" "$maps" "$links"; do
	check "cozbpf holds objects in the kernel" [ "$(wc -w <<<"$ids")" -ge 4 ]
done
slow=$(tail -n 1 "$dir/out")
check "there is a probe in the command's code" is "$(code; echo $?)" '!=' 0
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null
before=$(rates)
# What ran at the moment of the kill counts for neither side.
wait_for 30 has_rates $((before + 12)) || bad "the command goes on"
after=$(median $((before + 2)))
at_speed "the command goes on at full speed: $after, after '$slow'" is "$after" '>=' \
	"$(echo "$reference" | awk '{ print $1 * 0.35 }')"
check "it is still there" kill -0 "$command_pid"

# shellcheck disable=SC2317
none_left() { # KIND IDS
	local id
	for id in $2; do
		bpftool "$1" show id "$id" >/dev/null 2>&1 && return 1
	done
	return 0
}
# The kernel frees them after a grace period.
check "no program of ours stays" wait_for 10 none_left prog "$programs"
check "no map of ours stays" wait_for 10 none_left map "$maps"
check "no link of ours stays" wait_for 10 none_left link "$links"
check "the probe is gone from the command's code" wait_for 10 code
kill -KILL "$command_pid"
check "the profile holds what was done until then" has "$dir/profile.coz" '^startup'
run 4 "$tool" report "$dir/profile.coz"
finish
