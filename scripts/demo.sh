#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian machine to an answer: installs, builds, fetches and builds lbzip2 (a parallel
# bzip2), and profiles it on real data.
# usage: sudo ./scripts/demo.sh
# Knobs: DEMO_SECONDS (90), DEMO_THREADS (2), DEMO_MB (400), DEMO_DIR (build/demo, kept between
# runs).
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${DEMO_SECONDS:-90}
threads=${DEMO_THREADS:-2}
megabytes=${DEMO_MB:-400}
dir=${DEMO_DIR:-build/demo}
program=lbzip2
# One visit for each block of output: the pipeline's last step before the thread that writes.
progress=block=sink_write_buffer
# -1: blocks of 100 kB, so the point is visited some hundred times a second.
arguments=(-1 -n "$threads" -c)
# Short experiments, so many lines get their turn.
length=100ms

die() {
	echo "demo: error: $1" >&2
	[ -z "${2:-}" ] || echo "demo: hint: $2" >&2
	exit "${3:-1}"
}

say() {
	printf '\n== %s\n' "$*"
}

run() { # shows the command on standard error, then runs it
	echo "+ $*" >&2
	"$@"
}

# The sources lie beside the binary packages: the machine's own package sources, read in an apt
# state of our own.
fetch_source() {
	local -a state
	mkdir -p "$dir"/apt/{lists,cache/archives}/partial
	list_sources >"$dir/apt/sources.list"
	if [ ! -s "$dir/apt/sources.list" ]; then
		apt-get update -q </dev/null || true
		list_sources >"$dir/apt/sources.list"
	fi
	[ -s "$dir/apt/sources.list" ] || die "apt knows no Debian package source" \
		"see /etc/apt/sources.list"
	state=(-q -o "Dir::Etc::sourcelist=$PWD/$dir/apt/sources.list" -o Dir::Etc::sourceparts=- \
		-o "Dir::State::lists=$PWD/$dir/apt/lists"
		-o "Dir::Cache=$PWD/$dir/apt/cache" -o APT::Sandbox::User=root)
	for try in 1 2 3; do
		if apt-get "${state[@]}" update </dev/null &&
			(cd "$dir" && apt-get "${state[@]}" source --download-only \
			--tar-only $program </dev/null); then
			return
		fi
		sleep $((try * 2))
	done
	die "could not fetch the source of $program" "see apt-get's messages above"
}

list_sources() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
		'Origin: Debian' | sort -u | sed 's/^/deb-src /'
}

build_program() {
	local tarball
	[ ! -x "$dir/$program" ] || return 0
	tarball=$(find "$dir" -maxdepth 1 -name "${program}_*.orig.tar.*" ! -name '*.asc' | sort |
		tail -n 1)
	if [ -z "$tarball" ]; then
		fetch_source
		tarball=$(find "$dir" -maxdepth 1 -name "${program}_*.orig.tar.*" ! -name '*.asc' |
			sort | tail -n 1)
	fi
	rm -rf "$dir/src"
	mkdir -p "$dir/src"
	run tar -xf "$tarball" -C "$dir/src" --strip-components=1
	# Its portability layer is older than today's C library, which no longer sets the old macro.
	(cd "$dir/src" && run ./configure --quiet CPPFLAGS=-D_IO_ftrylockfile CFLAGS='-O2 -g' &&
		run make -s -j"$(nproc)" V=0) \
		>"$dir/build.log" 2>&1 || die "$program does not build" "see $dir/build.log"
	cp "$dir/src/src/$program" "$dir/$program"
}

# The small files of this machine (headers, documents, scripts), like a backup. The order is
# shuffled, always in the same way, so the work is alike from beginning to end: in order of names,
# headers would come first, then images. Cut to size, or repeated up to it.
make_data() {
	local data=$dir/data-$megabytes.tar
	[ ! -s "$data" ] || return 0
	find /usr/include /usr/share /usr/lib -type f -size -256k -print0 | LC_ALL=C sort -z |
		shuf -z --random-source=<(yes) >"$dir/files"
	while tar --null --files-from="$dir/files" --no-recursion -cf - 2>/dev/null; do :; done |
		head -c "${megabytes}000000" >"$data.new" || true
	mv "$data.new" "$data"
}

# The text of the first lines that the report names.
show_lines() {
	local at
	build/cozbpf report --text "$1" | grep -oE '\b[a-z0-9_]+\.c:[0-9]+' | awk '!seen[$0]++' |
		head -n 5 | while read -r at; do
		printf '%-16s %s\n' "$at" \
			"$(sed -n "${at#*:}{s/^[ \t]*//;p}" "$dir/src/src/${at%:*}" 2>/dev/null)"
	done
}

# Other programs take CPU time from the experiments by chance: good to know before the answer.
warn_of_others() {
	local -a a b
	local busy all
	read -ra a </proc/stat
	sleep 2
	read -ra b </proc/stat
	all=$((b[1] + b[2] + b[3] + b[4] + b[5] - a[1] - a[2] - a[3] - a[4] - a[5]))
	busy=$((all - (b[4] + b[5] - a[4] - a[5])))
	[ $((busy * 100)) -le $((all * 10)) ] ||
		echo "demo: warning: other programs take $((busy * 100 / all)) % of this" \
			"machine's CPU time: expect wide intervals" >&2
}

give_back() { # what root made below build/ belongs to the user who called sudo
	[ -z "${SUDO_UID:-}" ] || [ ! -d build ] ||
		chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" build
}

main() {
	local data=$dir/data-$megabytes.tar start took passes i
	local -a files=()
	[ "$(id -u)" -eq 0 ] || die 'profiling needs root' "run 'sudo $0'" 3
	trap give_back EXIT

	say 'install what is missing'
	scripts/install-deps.sh build demo
	say 'build cozbpf'
	run make -s -j"$(nproc)" all
	run build/cozbpf doctor
	mkdir -p "$dir"
	say "fetch and build $program with -O2 -g"
	build_program
	say "make $megabytes MB of data from this machine's files"
	make_data
	ls -l "$dir/$program" "$data"

	say "time one pass without the profiler"
	warn_of_others
	start=$(date +%s%N)
	run "$dir/$program" "${arguments[@]}" "$data" >/dev/null
	took=$(($(date +%s%N) - start))
	passes=$(((seconds * 1000000000 + took - 1) / took))
	echo "$((took / 1000000)) ms, so $passes passes fill $seconds s"
	for ((i = 0; i < passes; i++)); do files+=("$data"); done

	say "profile $passes passes"
	rm -f "$dir/profile.coz"
	give_back
	echo "+ build/cozbpf -P $progress --experiment-length $length -d $((2 * seconds))s" \
		"-o $dir/profile.coz -- $dir/$program ${arguments[*]} $data... >/dev/null"
	build/cozbpf -P "$progress" --experiment-length $length -d "$((2 * seconds))s" \
		-o "$dir/profile.coz" \
		-- "$dir/$program" "${arguments[@]}" "${files[@]}" >/dev/null

	say 'those lines'
	show_lines "$dir/profile.coz"
}

main
