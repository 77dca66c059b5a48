#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf blocks report` from the outside: what it says of logs good, damaged, foreign and empty, of
# several ones and of different builds, and its exit statuses. Needs no root.
# shellcheck source-path=SCRIPTDIR source=fixtures/expect.sh
. "$(dirname "$0")/fixtures/expect.sh"

# expect STATUS PATTERN ARGS...: the pattern is of a line of standard output or error, or of all of
# them as one.
expect() {
	local status=$1 pattern=$2 rc=0
	shift 2
	"$tool" blocks report "$@" >out 2>err </dev/null || rc=$?
	if [ "$rc" -ne "$status" ]; then
		bad "blocks report $*: status $rc, not $status: $(cat err)"
	elif ! { cat out err && cat out err | tr -s '\n ' ' '; } | grep -Eq -- "$pattern"; then
		bad "blocks report $*: '$(cat out err)' does not match '$pattern'"
	else
		ok
	fi
}

make_log() { # ARGUMENT...
	python3 "$root/tests/e2e/fixtures/blocks_log.py" "$@"
}

make_log 41 12 >known.log || exit 1
make_log 41 12 dd44ee55ff66 >other.log || exit 1
make_log 2 4 >two.log || exit 1
make_log 41 12 aa11bb22cc33 4 >unknown.log || exit 1
: >empty.log
{ printf x && head -c 20000 /dev/urandom; } >noise.log # an empty first line would be passed over
printf 'startup\ttime=1\nruntime\ttime=1000\n' >profile.coz
head -c 60 known.log >none.log
sed '/^run\t/s/\tstatus=[03]/\tstatus=1/' known.log >edited.log
{ head -c 12000 known.log && printf '\n' && tail -n +2 two.log; } >torn.log

expect 1 "cannot read 'blocks.log': No such file"
expect 0 '^usage: cozbpf blocks report' --help
expect 2 "'0' is not a threshold" --threshold 0 known.log
expect 2 "'5x' is not a threshold" --threshold 5x known.log
expect 2 "takes run or once, not 'twice'" --range twice known.log
expect 2 'exclude each other' --json --html x.html known.log
expect 2 "unknown option '--thresh.ld'" --threshxld 5 known.log
cp known.log own.log
expect 2 "'own.log' is a log of blocks, not a page" --html own.log own.log
check 'which is as it was' cmp -s known.log own.log
expect 1 "cannot read '/dev/zero': it is a device" /dev/zero
expect 1 "'noise.log' is no log of blocks: line 1 is" noise.log
expect 1 "'profile.coz' is no log of blocks: line 1 is 'startup" profile.coz
expect 4 "the log 'empty.log' is empty" empty.log
expect 4 "the log 'none.log' holds no whole run" none.log
expect 4 'damaged parts of the log were left out, the first one at line' edited.log
expect 4 'the log .edited.log. holds no whole run' edited.log

expect 0 '^40 runs of pbzip2, 1.00 s of CPU time each; 1 failed and does not count$' known.log
check 'the failed run' grep -q '^run 41 does not count, exit status 3 after 1.20 s' out
check 'the slow runs' grep -Eq 'slow in run [0-9]8 \([56][0-9]{2} ms\), run [0-9]*8 ' out
check 'their input' grep -qF "these are 4 of 4 runs of: ./pbzip2 -k '<b>odd</b>'" out
check 'what differed' grep -Eq 'there threads blocked for 60[0-9] ms, usually 10[0-9] ms' out
check 'at most 100 columns' [ -z "$(grep -E '^.{101}' out)" ]
check 'seven blocks' [ "$(grep -cE '^ +[0-9.]+ % .* [0-9]+/40 ' out)" -eq 7 ]
cp known.log blocks.log
"$tool" blocks report >default 2>&1
check 'the default log, the same report' cmp -s out default
"$tool" blocks report - <known.log >piped 2>&1
check 'standard input' cmp -s out piped
expect 0 'no block takes 70 % of the CPU time and varies' --threshold 70 known.log
expect 0 'nearest one, compress.c:1-6, takes 6[0-9].[0-9] %' --threshold 70 known.log
expect 0 'no block takes 5 % .* varies by 0.1 %' --range once known.log
expect 0 '6 more blocks reach 5 %' --top 1 known.log
expect 0 '^41 runs of pbzip2' --failed known.log
expect 0 'alert\(1\)>.c:7' --all --top 0 known.log
expect 0 'one run does not tell' two.log
expect 0 'note: 41 runs are there twice' known.log known.log
expect 0 'note: 1 damaged part of the log was left out' torn.log
check 'whole runs before and behind the damage' grep -Eq '^[0-9]+ runs of pbzip2' out

builds='aa11bb22cc33 and dd44ee55ff66'
expect 2 "'known.log' and 'other.log' hold runs of different builds: $builds" known.log other.log
check 'a hint' grep -q -- '--mix-builds' err
expect 0 '^80 runs of pbzip2' --mix-builds known.log other.log
check 'runs are named by their log' grep -Eq 'slow in (known|other).log:[0-9]+' out

expect 0 '"schema":.*"cozbpf-blocks/1"' --json known.log
check 'JSON' python3 - <<'END'
import json
report = json.load(open('out'))
assert len(report['runs']) == 40 and len(report['failed']) == 1
first = report['blocks'][0]
assert first['lines'] == 'compress.c:1-6' and first['reported']
slow = sorted(report['runs'][i]['number'] for i in first['slow']['runs'])
assert slow == [8, 18, 28, 38], slow
assert first['significance_ci'][0] <= first['significance_ns'] <= first['significance_ci'][1]
END
"$tool" blocks report --json --seed 1 known.log >again
check 'the same seed, the same report' cmp -s out again
expect 0 "the page is 'x.html'" --html x.html known.log
expect 0 '^<!doctype html>' --html - known.log
expect 0 '10\.0 %( +\?){5} .* compress\.c:41-46' unknown.log
expect 0 '' --json unknown.log
check 'its share is known, how often it was executed is not' python3 - <<'END'
import json
blocks = {b['lines']: b for b in json.load(open('out'))['blocks']}
assert not blocks['compress.c:41-46']['known'] and blocks['compress.c:1-6']['known']
assert abs(blocks['compress.c:41-46']['significance_ns'] - 1e8) < 1e6
END
expect 0 '"frequency":null' --html - unknown.log
expect 1 "cannot write 'nowhere/x.html'" --html nowhere/x.html known.log
"$tool" blocks report known.log >/dev/full 2>err && bad 'a full device went unnoticed'

finish
