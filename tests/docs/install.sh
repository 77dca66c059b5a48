#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `make install` puts everything below DESTDIR, the tool finds its shim from there, and `make
# uninstall` removes all of it.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$dir/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not so: $what"
		cat "$dir/log"
	fi
}

root=$dir/root
check 'make install' make install DESTDIR="$root" BUILD="${BUILD:-build}"
for file in bin/cozbpf lib/cozbpf/libcozbpf-shim.so include/coz.h share/man/man1/cozbpf.1 \
	share/bash-completion/completions/cozbpf share/doc/cozbpf/README.md; do
	check "$file" [ -s "$root/usr/local/$file" ]
done
check 'the tool runs' "$root/usr/local/bin/cozbpf" --version
compiles() {
	printf '#include <coz.h>\nint main(void) { COZ_PROGRESS; return 0; }\n' |
		"${CC:-gcc}" -I"$root/usr/local/include" -x c -o "$dir/a.out" -
}
links_hold() {
	(
		cd "$root/usr/local/share/doc/cozbpf" || exit 1
		grep -ohE '\]\([a-z][a-z/.-]*\)' [a-z]*.md | sed 's/^](//;s/)$//' |
			while read -r f; do [ -e "$f" ] || { echo "$f" && exit 1; }; done
	)
}
check 'the header compiles' compiles
check 'the documents link to each other' links_hold
check 'make uninstall' make uninstall DESTDIR="$root"
check 'nothing is left' sh -c "! find '$root' -type f | grep ."
make install DESTDIR="$root" BUILD="${BUILD:-build}" INCLUDEDIR=/usr/include/cozbpf >/dev/null 2>&1
check 'the header goes where it is wanted' [ -s "$root/usr/include/cozbpf/coz.h" ]
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
