#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Times the loading of line tables from a C++ program with more than 50 MB of debug information, which is made once and kept below build/.
# usage: tests/bench/bigdebug.sh [-k]   (-k: only make the program and print its path)
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
dir=$build/bigdebug
units=${UNITS:-20}
mkdir -p "$dir"
cat >"$dir/unit.cc" <<'CC'
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace unit_ns {
template <int N> struct key {
	long v[N];
	bool operator<(const key &o) const { return std::lexicographical_compare(v, v + N, o.v, o.v + N); }
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
		std::sort(p->begin(), p->end(), [](const key<N> &a, const key<N> &b) { return b < a; });
	}
	for (auto &e : sorted)
		sum += e.second.size();
	for (auto &e : hashed)
		sum += std::accumulate(e.second->begin(), e.second->end(), 0L, [](long s, const key<N> &k) { return s + k.v[0]; });
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
sed -i 's/#include <memory>/#include <memory>\n#include <numeric>/' "$dir/unit.cc"
{
	i=0
	while [ $i -lt "$units" ]; do
		echo "long unit_$i(long);"
		i=$((i + 1))
	done
	echo 'int main(int argc, char **) {'
	echo 'long s = 0;'
	i=0
	while [ $i -lt "$units" ]; do
		echo "s += unit_$i(argc);"
		i=$((i + 1))
	done
	echo 'return s == 0; }'
} >"$dir/main.cc"
if [ ! -x "$dir/program" ]; then
	# shellcheck disable=SC2016 # expanded by the inner shell
	seq 0 $((units - 1)) | xargs -P "$(nproc)" -I{} sh -c \
		'[ -e "$1/unit_$2.o" ] || ${CXX:-g++} -O2 -g -Dunit_ns="ns_$2" -DUNIT="unit_$2" -c -o "$1/unit_$2.o" "$1/unit.cc"' sh "$dir" {}
	${CXX:-g++} -O2 -g -o "$dir/program" "$dir"/main.cc "$dir"/unit_*.o
fi
if [ "${1:-}" = -k ]; then
	echo "$dir/program"
	exit 0
fi
[ -x "$build/cozbpf" ] || { echo "bigdebug: '$build/cozbpf' is not built: run 'make'" >&2; exit 1; }
bytes=$(size -A "$dir/program" | awk '/^\.debug_/ { n += $2 } END { printf "%d", n / 1000000 }')
best=
for _ in 1 2 3 4 5; do
	start=$(date +%s%N)
	"$build/cozbpf" lines "$dir/program" >"$dir/lines.txt" 2>/dev/null
	took=$((($(date +%s%N) - start) / 1000000))
	if [ -z "$best" ] || [ $took -lt "$best" ]; then best=$took; fi
done
echo "$bytes MB of debug information: lines loaded and listed in $best ms (best of 5; the aim is 500)"
[ "$best" -lt "${LIMIT_MS:-1000}" ]
