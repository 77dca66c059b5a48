#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares our readers of lines, entries and unwinding rows with libdw's, in time and memory, on C++
# programs with so many MB of debug information, and times the whole tool. Few objects are compiled,
# and each program is linked from renamed copies of them, so that 500 MB take seconds. The programs
# stay below build/; they are made for reading and cannot run.
# usage: tests/bench/bigdebug.sh [MB...]   (100 500 unless told; RUNS=5: medians of so many)
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
dir=$build/bigdebug
runs=${RUNS:-5}
units=4
[ $# -gt 0 ] || set -- 100 500
if [ ! -x "$build/tests/bench/startup" ] || [ ! -x "$build/cozbpf" ]; then
	echo "bigdebug: run 'make bench-startup', which builds what this needs" >&2
	exit 1
fi
mkdir -p "$dir"
cat >"$dir/unit.cc" <<'CC'
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace unit_ns {
template <int N> struct key {
	long v[N];
	bool operator<(const key &o) const
	{
		return std::lexicographical_compare(v, v + N, o.v, o.v + N);
	}
	bool operator==(const key &o) const { return std::equal(v, v + N, o.v); }
};
template <int N> struct hash {
	size_t operator()(const key<N> &k) const { return k.v[0] * 31 + N; }
};
template <int N> long fill(long seed)
{
	std::map<key<N>, std::string> sorted;
	std::unordered_map<key<N>, std::shared_ptr<std::vector<key<N>>>, hash<N>> hashed;
	long sum = 0;
	for (long i = 0; i < seed; i++) {
		key<N> k = {{i * seed % 97}};
		sorted[k] += std::to_string(i);
		auto &p = hashed[k];
		if (!p)
			p = std::make_shared<std::vector<key<N>>>();
		p->push_back(k);
		std::sort(p->begin(), p->end(),
		    [](const key<N> &a, const key<N> &b) { return b < a; });
	}
	for (auto &e : sorted)
		sum += e.second.size();
	for (auto &e : hashed)
		sum += std::accumulate(e.second->begin(), e.second->end(), 0L,
		    [](long s, const key<N> &k) { return s + k.v[0]; });
	return sum + (N > 1 ? fill<(N > 1 ? N - 1 : 1)>(seed) : 0);
}
}
long UNIT(long seed)
{
	std::regex re("([a-z]+)=([0-9]+)(;.*)?");
	std::smatch m;
	std::ostringstream s;
	s << "n=" << seed;
	std::string text = s.str();
	return unit_ns::fill<6>(seed) + (std::regex_match(text, m, re) ? m.size() : 0);
}
CC
# shellcheck disable=SC2016 # expanded by the inner shell
seq 1 $units | xargs -P "$(nproc)" -I{} sh -c '[ -e "$1/unit_$2.o" ] ||
	${CXX:-g++} -O2 -g -Dunit_ns="ns_$2" -DUNIT="unit_$2" -c -o "$1/unit_$2.o" "$1/unit.cc"' \
	sh "$dir" {}

debug_bytes() { # FILE...: bytes of debug information
	size -A "$@" | awk '/^\.debug_/ { n += $2 } END { printf "%.0f", n }'
}

# Links $dir/program_MB of as many copies as it takes. Renaming keeps the copies' functions apart;
# what they call outside of themselves is left unresolved.
make_program() { # MB
	local program=$dir/program_$1 copies=$dir/copies copy=0 unit more=$((($1 + 79) / 80))
	[ ! -e "$program" ] || return 0
	rm -rf "$copies"
	mkdir "$copies"
	until [ -e "$program.new" ] && [ "$(debug_bytes "$program.new")" -ge $(($1 * 1000000)) ]; do
		# Some 12 MB a copy are linked: templates and strings that are there twice go.
		for copy in $(seq $((copy + 1)) $((copy + more))); do
			for unit in $(seq 1 $units); do
				objcopy --prefix-symbols="copy_${copy}_" "$dir/unit_$unit.o" \
					"$copies/${copy}_$unit.o"
			done
		done
		ld -o "$program.new" --unresolved-symbols=ignore-all -e 0 "$copies"/*.o
	done
	rm -r "$copies"
	mv "$program.new" "$program"
}

median() { # COLUMN FILE
	cut -d' ' -f"$1" "$2" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# Each reader once per round, in turns; the first round fills the page cache and does not count.
measure() { # MB
	local program=$dir/program_$1 what reader round times size
	size=$(($(debug_bytes "$program") / 1000000))
	rm -f "$dir"/*.times
	for round in $(seq 0 "$runs"); do
		for what in lines entries frames; do
			for reader in own libdw; do
				"$build/tests/bench/startup" $what $reader "$program" >"$dir/last"
				[ "$round" -eq 0 ] ||
					cat "$dir/last" >>"$dir/$what.$reader.times"
			done
		done
	done
	for what in lines entries frames; do
		for reader in own libdw; do
			times=$dir/$what.$reader.times
			echo "| $size MB | $what | $reader | $(median 1 "$times") |" \
				"$(median 2 "$times") | $(median 3 "$times") |"
		done
		[ "$(cut -d' ' -f4- "$dir/$what".*.times | sort -u | wc -l)" -eq 1 ] ||
			{ echo "bigdebug: the two readers do not find the same $what" >&2; exit 1; }
	done
}

# The whole tool, which has to load and list the lines of 100 MB within a second.
measure_tool() { # MB
	local program=$dir/program_$1 start best='' took
	for _ in $(seq 1 "$runs"); do
		start=$(date +%s%N)
		"$build/cozbpf" lines "$program" >"$dir/lines.txt" 2>/dev/null
		took=$((($(date +%s%N) - start) / 1000000))
		if [ -z "$best" ] || [ $took -lt "$best" ]; then best=$took; fi
	done
	echo "$1 MB: 'cozbpf lines' takes $best ms (best of $runs; $((10 * $1)) are allowed)"
	[ "$best" -lt $((10 * $1)) ]
}

echo "| debug information | read | reader | ms, median | peak MB | of them not the file's |"
echo "| --- | --- | --- | --- | --- | --- |"
for mb in "$@"; do
	make_program "$mb"
	measure "$mb"
done
for mb in "$@"; do
	measure_tool "$mb"
done
