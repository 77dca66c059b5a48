#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf blocks` on what the paper had (papers/002), by Debian's sources:
#   - pbzip2, as it is and with a while loop in the compression that adds 5 %. The loop is found
#     from one run, nothing else is new, and callgrind judges how often blocks are executed.
#   - axel, which shows its progress while it downloads from a server of ours on the local host.
#     Where its source cannot be had, Debian's program takes its place, whose blocks have no lines.
#   - nginx and nmap on the local host, a log each.
# Nothing may take twice as long as without us. Needs root and the network; `make check-real`.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
"$tool" blocks --help >/dev/null 2>&1 || skip "this tool has no 'blocks'"
scripts/install-deps.sh real >/dev/null || skip "its packages cannot be installed"
judge=$root/tests/real/blocks_judge.py
sources=$dir/apt
mkdir -p "$sources/lists/partial" "$sources/cache"
mirror=$(sed -n 's/^URIs: *\(http[^ ]*debian\/*\)$/\1/p' /etc/apt/sources.list.d/*.sources \
	2>/dev/null | head -n 1)
[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" { print $2; exit }' /etc/apt/sources.list)
echo "deb-src $mirror $(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release) main" >"$sources/list"
private=(-q -o "Dir::Etc::sourcelist=$sources/list" -o Dir::Etc::sourceparts=-
	-o "Dir::State::lists=$sources/lists" -o "Dir::Cache=$sources/cache"
	-o APT::Sandbox::User=root)

fetch() { # PACKAGE: its source in $sources/PACKAGE
	(cd "$sources" && apt-get "${private[@]}" source --download-only "$1" &&
		dpkg-source -x "$1"_*.dsc "$1") >"$dir/out" 2>&1
}

# where the programs' standard output goes
exec {sink}>/dev/null

# shellcheck disable=SC2317 # by middle
# seconds COMMAND...: of wall time; "failed" is no number.
seconds() {
	local from=$EPOCHREALTIME
	if "$@" 1>&"$sink" 2>"$dir/err" </dev/null; then
		awk "BEGIN { print $EPOCHREALTIME - $from }"
	else
		echo failed
	fi
}

# middle COMMAND...: of three numbers that it prints, one after the other.
middle() {
	for _ in 1 2 3; do
		"$@"
	done | sort -g | awk '{ n[NR] = $0; bad += /failed/ } END { print bad ? "failed" : n[2] }'
}

# blocks LOG COMMAND...: a run in a log of its own; how long the command took, without set-up.
blocks() {
	rm -f "$dir/$1"
	"$tool" blocks -q -o "$dir/$1" -- "${@:2}" 1>&"$sink" 2>"$dir/err" </dev/null || {
		echo failed
		return
	}
	"$tool" blocks report --json "$dir/$1" | python3 -c '
import json, sys
print(json.load(sys.stdin)["runs"][0]["wall_ns"] / 1e9)'
}

slowdown() { # WHAT WITH WITHOUT
	local factor
	check "$1 runs: in $2 s, without us in $3 s" is "$2" '>' 0
	factor=$(awk "BEGIN { print $2 / $3 }")
	check "$1 takes $factor times as long" is "$factor" '<=' 2
}

# reported LOG [OPTIONS...]: FILE:LINES of the blocks, or functions, and function+offset.
reported() {
	"$tool" blocks report --json --top 0 "${@:2}" "$dir/$1" | python3 -c '
import json, sys
for b in json.load(sys.stdin)["blocks"]:
    if b["reported"]:
        print(b["lines"] or b["function"], "{function}+{offset:#x}".format(**b), sep="\t")' |
		sort -u
}

apt-get "${private[@]}" update >"$dir/out" 2>&1

echo "-- pbzip2 with a loop that adds 5 %"
fetch pbzip2 || skip "the source package of pbzip2 cannot be had"
cp -r "$sources/pbzip2" "$sources/slow"
build_pbzip2() { # FOLDER FLAGS
	make -C "$sources/$1" CXX=g++ CXXFLAGS="-O2 -g -pthread -D_LARGEFILE64_SOURCE \
-D_FILE_OFFSET_BITS=64 ${2:-}" -B pbzip2 >"$dir/out" 2>&1 || bad "pbzip2 builds"
}
# Each block of 900 kB is compressed by one call, in consumer().
awk '/compress the memory buffer/ && ++n == 2 {
	print "\t\tfor (volatile unsigned long turns = TURNS; turns;) /* LOOP */"
	print "\t\t\tturns = turns - 1; /* LOOP */"
} { print }' "$sources/pbzip2/pbzip2.cpp" >"$sources/slow/pbzip2.cpp"
build_pbzip2 pbzip2
build_pbzip2 slow -DTURNS=100000000UL
zcat -f /usr/share/doc/*/changelog* 2>/dev/null | head -c 40000000 >"$dir/text"
plain=("$sources/pbzip2/pbzip2" -k -c -p2 "$dir/text")
looped=("$sources/slow/pbzip2" -k -c -p2 "$dir/text")
# What a turn takes is known from a loop that is far too long.
user_time() { # COMMAND...
	local TIMEFORMAT=%U
	{ time "$@" >/dev/null 2>"$dir/err"; } 2>&1
}
is "$(stat -c %s "$dir/text")" '>' 5000000 || skip "there is too little text to compress"
before=$(user_time "${plain[@]}")
after=$(user_time "${looped[@]}")
build_pbzip2 slow "-DTURNS=$(awk "BEGIN {
	print int(0.05 * $before / ($after - $before) * 100000000) }")UL"
loop="pbzip2\\.cpp:($(grep -n LOOP "$sources/slow/pbzip2.cpp" | cut -d: -f1 | paste -sd'|'))"
without=$(middle seconds "${looped[@]}")
with=$(middle blocks slow.log "${looped[@]}")
slowdown pbzip2 "$with" "$without"
blocks plain.log "${plain[@]}" >/dev/null
reported slow.log --threshold 4 | cut -f 1 | uniq >"$dir/slow"
reported plain.log --threshold 4 | cut -f 1 | uniq >"$dir/plain"
check "the loop is found from one run" grep -qE "$loop" "$dir/slow"
# Lines behind the loop are two further on.
awk -F'[:-]' -v first="$(grep -n LOOP "$sources/slow/pbzip2.cpp" | head -n 1 | cut -d: -f1)" '
	$1 == "pbzip2.cpp" && $2 >= first { $2 += 2; if (NF > 2) $3 += 2 }
	{ print $1 ($2 == "" ? "" : ":" $2) ($3 == "" ? "" : "-" $3) }' "$dir/plain" |
	sort -u >"$dir/expected"
grep -vE "$loop" "$dir/slow" | comm -23 - "$dir/expected" >"$dir/new"
check "nothing new beside it: $(paste -sd' ' "$dir/new")" [ ! -s "$dir/new" ]

echo "-- as often as callgrind counts"
head -c 9000000 "$dir/text" >"$dir/less"
counted=("$sources/pbzip2/pbzip2" -k -c -p2 "$dir/less")
rm -f "$dir/judged.log"
"$tool" blocks -q -n 4 -b MAIN -b '%/libbz2%' -o "$dir/judged.log" -- "${counted[@]}" \
	>/dev/null 2>"$dir/err" || bad "blocks of the library as well"
"$tool" blocks report --json --all --top 0 "$dir/judged.log" >"$dir/judged.json"
valgrind --tool=callgrind --dump-instr=yes --skip-plt=no --callgrind-out-file="$dir/callgrind" \
	"${counted[@]}" >/dev/null 2>"$dir/err" || bad "callgrind runs"
python3 "$judge" "$dir/callgrind" "$dir/judged.json" >"$dir/out"
rc=$?
cat "$dir/out"
check "frequencies are within 10 %" [ $rc -eq 0 ]

echo "-- axel, which shows its progress"
port=$((20000 + $$ % 10000))
mkdir -p "$dir/www" "$dir/nginx"
truncate -s 1000000000 "$dir/www/file"
cat >"$dir/nginx.conf" <<END
daemon off; master_process off; pid $dir/nginx/pid; error_log $dir/nginx/error;
events {}
http {
	access_log off; client_body_temp_path $dir/nginx/a; proxy_temp_path $dir/nginx/b;
	fastcgi_temp_path $dir/nginx/c; uwsgi_temp_path $dir/nginx/d; scgi_temp_path $dir/nginx/e;
	server { listen 127.0.0.1:$port; root $dir/www; }
}
END
nginx -c "$dir/nginx.conf" >/dev/null 2>"$dir/err" </dev/null &
server=$!
started+=("$server")
# shellcheck disable=SC2317 # by wait_for
answers() {
	(: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}
wait_for 10 answers || bad "nginx answers"
axel=axel shows='^text\.c:'
if fetch axel && (cd "$sources/axel" && ./configure CFLAGS='-O2 -g' --without-ssl && make -j2) \
	>"$dir/out" 2>&1; then
	axel=$sources/axel/axel
else
	echo "the source package of axel cannot be had: $(command -v axel) takes its place"
	shows='^axel\+0x'
fi
# What it shows goes to another program, as it would to a terminal.
exec {sink}> >(cat >/dev/null)
download=("$axel" -n 2 -o "$dir/got" "http://127.0.0.1:$port/file")
anew() { # COMMAND...: downloads
	rm -f "$dir/got" "$dir/got.st"
	"$@"
}
shown=$(middle anew seconds "${download[@]}")
quiet=$(middle anew seconds "${download[@]}" -q)
echo "with its progress $shown s, without $quiet s"
check "without its progress the download takes less" is "$quiet" '<' "$shown"
with=$(middle anew blocks axel.log "${download[@]}")
slowdown axel "$with" "$shown"
anew blocks quiet.log "${download[@]}" -q >/dev/null
exec {sink}>/dev/null
reported quiet.log --threshold 0.1 >"$dir/quiet"
reported axel.log | awk -F'\t' 'NR == FNR { quiet[$2]; next } !($2 in quiet)' "$dir/quiet" - |
	tee "$dir/axel"
check "what shows the progress is found" grep -qE "$shows" "$dir/axel"

echo "-- nginx and nmap"
rate() { # of requests, per second
	wrk -t 1 -c 8 -d 4s "http://127.0.0.1:$port/index.html" 2>&1 |
		sed -n 's/^Requests\/sec: *//p'
}
without=$(rate)
start "$tool" blocks -q -d 12s -o "$dir/nginx.log" -p "$server"
with=$(middle rate)
ended 30 0 "blocks of nginx"
check "nginx serves $with requests a second, without us $without" \
	is "${with:-0}" '>=' "$(awk "BEGIN { print ${without:-0} / 2 }")"
run 0 "$tool" blocks report "$dir/nginx.log"
prints ' nginx,? '
# A connection to a port that it takes for its own end may be one to itself, after which nmap waits
# for a second. Other ports are scanned, of three addresses.
read -r first _ </proc/sys/net/ipv4/ip_local_port_range
scan=(nmap -n -Pn -sT -p "1-$((first - 1))" 127.0.0.1-3)
without=$(middle seconds "${scan[@]}")
with=$(middle blocks nmap.log "${scan[@]}")
slowdown nmap "$with" "$without"
run 0 "$tool" blocks report "$dir/nmap.log"
prints ' nmap,? '
kill "$server"
finish
