#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf plot` from the outside: which file it writes and when it refuses, for profiles good,
# foreign, damaged and empty; then the page in a browser (plot.js). Needs a Chromium (package
# chromium-headless-shell) and node; needs no root.
# shellcheck source-path=SCRIPTDIR source=fixtures/expect.sh
. "$(dirname "$0")/fixtures/expect.sh"
need_browser

# expect STATUS STDERR-PATTERN ARGS...: standard output has to be empty, unless the page goes there.
expect() {
	local status=$1 err=$2 rc=0
	shift 2
	"$tool" plot "$@" >out 2>err </dev/null || rc=$?
	if [ "$rc" -ne "$status" ]; then
		bad "plot $*: status $rc, not $status: $(cat err)"
	elif [ -n "$err" ] && ! grep -Eq -- "$err" err; then
		bad "plot $*: '$(cat err)' does not match '$err'"
	elif [ -s out ] && [[ " $* " != *" - "* ]] && [ "$1" != --help ]; then
		bad "plot $*: something on standard output"
	else
		ok
	fi
}

mkdir -p src sub
for name in hot warm lock flat '<img src=x onerror=alert(1)>'; do
	{
		printf '/* %s */\nint before;\n' "$name"
		printf '</script><script>document.title = "broken"</script>\n'
		printf '\tfourth();\n\tfifth();\n\tsixth();\n\tseventh(%s);\n\teighth();\n' "$name"
	} >"src/$name.c"
done
mkfifo src/rare.c
python3 "$root/tests/e2e/fixtures/plot_profile.py" "$dir" >known.coz || exit 1
python3 "$root/tests/e2e/fixtures/plot_profile.py" 500 3 >many.coz || exit 1
python3 "$root/tests/e2e/fixtures/plot_profile.py" "$dir" functions >functions.coz || exit 1
head -c 3000 known.coz >cut.coz
: >empty.coz
printf 'startup\ttime=1\nruntime\ttime=1000\tsamples=77\n' >none.coz
head -c 20000 /dev/urandom >noise.coz
# As Coz writes it today: JSON lines, and only Coz's own keys.
for i in 0 1 2 3 4 5; do
	for n in 1 2 3; do
		printf '{"type":"experiment","selected":"coz.c:3","speedup":0.%d5,' $((i * 15 / 10))
		printf '"duration":%d,"selected_samples":9}\n' $(((1000 - 70 * i) * (999 + n)))
		printf '{"type":"throughput_point","name":"coz.h","delta":10}\n'
	done
done | sed 's/"speedup":0.05/"speedup":0/' >coz.coz

expect 1 "cannot open 'profile.coz': No such file"
expect 0 '' --help
check 'help' grep -q '^usage: cozbpf plot' out
expect 2 "unknown sort key 'size'" --sort size known.coz
expect 2 "'known.coz' is a profile, not a page" -o known.coz known.coz
expect 2 "'./known.coz' is a profile, not a page" -o ./known.coz none.coz known.coz
mkdir -p found && cp known.coz found/a.coz
expect 2 "'found/a.coz' is a profile, not a page" -o found/a.coz found
check 'which is as it was' cmp -s known.coz found/a.coz
expect 1 "cannot write 'nowhere/x.html': No such file" -o nowhere/x.html known.coz
expect 1 "cannot open 'missing.coz'" missing.coz
expect 1 "'noise.coz' is not a profile" noise.coz
check 'no page of what is no profile' [ ! -e noise.html ]
expect 4 "'empty.coz' is empty" empty.coz
expect 4 "the page is 'none.html'" none.coz
expect 4 'no line has enough data yet' -o cut.html cut.coz
expect 0 "the page is 'known.html'" known.coz
cp known.coz sub/profile.coz
expect 0 "the page is 'sub/profile.html'" sub/profile.coz
cp known.coz profile.coz
expect 0 "the page is 'profile.html'"
expect 0 '' --sort impact -o - known.coz
check 'standard output is the page' grep -q '^<!doctype html>' out
expect 0 "the page is 'coz.html'" coz.coz
expect 0 "the page is 'both.html'" -o both.html known.coz coz.coz
expect 0 "the page is 'many.html'" many.coz
expect 0 "the page is 'functions.html'" functions.coz
{
	cat known.coz
	printf 'startup\ttime=2\nsamples\tlocation=%s:3\tcount=0\tid=1\n' "$dir/src/lock.c"
	printf 'samples\tlocation=%s:7 [lock]\tcount=1500\tid=2\twakers=1200:1,300:timer\n' \
		"$dir/src/hot.c"
	printf 'samples\tlocation=(no line) [io]\tcount=500\tid=3\n'
	printf 'runtime\ttime=9\tsamples=2000\tin-scope=2000\twaits=2000\n'
} >waits.coz
expect 0 "the page is 'waits.html'" waits.coz
# Three nodes, of which the last one takes a quarter more time.
for node in 1 2 3; do
	name=n$node
	[ "$node" -ne 3 ] || name='<b>n3'
	awk -F '\t' -v OFS='\t' -v node=$node -v name="$name" '
		/^startup/ { print "startup", "time=" node, "node=" name; next }
		/^experiment/ && node == 3 { $4 = "duration=" int(1.25 * substr($4, 10)) }
		{ print }' known.coz
done >nodes.coz
expect 0 "the page is 'nodes.html'" nodes.coz
sed '/n3$/,$d' nodes.coz >equal.coz
expect 0 "the page is 'equal.html'" equal.coz
"$tool" report nodes.coz >nodes.txt
check 'the same page twice' cmp -s profile.html <(sed 's/known\.coz/profile.coz/' known.html)
"$tool" plot -o /dev/full known.coz 2>err && bad 'a full device went unnoticed'
# A profile may come from anybody, so its page holds only what looks like source, and no other
# program's file.
ln -s /etc/passwd src/passwd
sed "s|$dir/src/hot.c:7|$dir/src/passwd:1|" known.coz >passwd.coz
expect 0 '' passwd.coz
check 'no file that does not look like source' [ "$(grep -c root: passwd.html)" -eq 0 ]

node "$root/tests/e2e/plot.js" "$dir" >page.out 2>&1
rc=$?
cat page.out
counts=$(sed -nE 's/^page: ([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' page.out)
passed=$((passed + ${counts% *} + 0)) failed=$((failed + ${counts#* } + 0))
[ $rc -eq 0 ] || [ "${counts:-0 0}" != "${counts% *} 0" ] || bad "plot.js ends with $rc"
[ -n "$counts" ] || bad "plot.js comes to its end"
finish
