#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian package: lintian has no complaint, and the same commit gives the same bytes. In a clean
# root of Debian's smallest variant it installs with its dependencies, its tool works, and its
# removal leaves nothing. The package for arm64 is cross-built, and its tool runs in an emulator.
# Needs root and a mirror; `make check-package`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
[ "$(id -u)" -eq 0 ] || { echo "needs root"; exit 77; }
scripts/install-deps.sh package >/dev/null 2>&1 ||
	{ echo "its packages cannot be installed"; exit 77; }
build=${BUILD:-build}
dir=$(mktemp -d)
passed=0 failed=0
trap 'rm -rf --one-file-system "$dir"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$dir/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not so: $what"
		tail -n 20 "$dir/log"
	fi
}

# Runs in the root, with the kernel's file systems, which all end with the namespace.
inside() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private sh -c 'root=$1; shift
		mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" &&
		mount --rbind /dev "$root/dev" && exec chroot "$root" "$@"' sh "$dir/root" "$@"
}

says() { # PATTERN COMMAND...: the command succeeds and prints it
	local pattern=$1
	shift
	inside "$@" >"$dir/out" 2>&1 || { cat "$dir/out"; return 1; }
	grep -qE -- "$pattern" "$dir/out" || { cat "$dir/out"; return 1; }
}

doctor() { # 0: fit; 3: it says what is missing here
	inside cozbpf doctor >"$dir/out" 2>&1
	local rc=$?
	cat "$dir/out"
	[ $rc -eq 0 ] || [ $rc -eq 3 ]
}

files() {
	(cd "$dir/root" && find usr/bin usr/lib/cozbpf usr/include usr/share/man \
		usr/share/bash-completion usr/share/doc/cozbpf -name '*coz*' 2>/dev/null | sort)
}

check 'make deb' make deb
version=$(sed -n 's/^VERSION := //p' Makefile)
deb=$build/cozbpf_$version-1_$(dpkg --print-architecture).deb
check 'lintian has nothing to say' lintian --allow-root --fail-on error,warning "$deb"
lintian --allow-root "$deb" | tee "$dir/lintian"
check 'no word of lintian' [ ! -s "$dir/lintian" ]
cp "$deb" "$dir/first.deb"
check 'make deb again' make deb
check 'the same bytes' cmp "$dir/first.deb" "$deb"

# The tool without the kernel's part: reports.
arm64() {
	qemu-aarch64 -L /var/tmp/cozbpf-arm64/root "$dir/arm64/usr/bin/cozbpf" "$@"
}
printf 'startup\ttime=1\nsamples\tlocation=/src/a.c:7\tcount=4000\n' >"$dir/p.coz"
if [ "$(uname -m)" = x86_64 ] && scripts/install-deps.sh arm64 >/dev/null 2>&1; then
	other=$build/arm64/cozbpf_$version-1_arm64.deb
	check 'make deb ARCH=arm64' make deb ARCH=arm64
	check 'lintian has nothing to say of it' lintian --allow-root --fail-on error,warning \
		"$other"
	check 'it is for arm64' [ "$(dpkg-deb -f "$other" Architecture)" = arm64 ]
	check 'it needs what the other one needs' \
		[ "$(dpkg-deb -f "$other" Depends)" = "$(dpkg-deb -f "$deb" Depends)" ]
	check 'it unpacks' dpkg-deb -x "$other" "$dir/arm64"
	check 'its tool runs' \
		[ "$(arm64 report --folded "$dir/p.coz")" = '/src/a.c;/src/a.c:7 4000' ]
	check 'its shim is for arm64' grep -q 'Machine:.*AArch64' \
		<(readelf -h "$dir/arm64/usr/lib/cozbpf/libcozbpf-shim.so")
else
	echo "no cross compiler can be had: the package for arm64 is left out"
fi

# A mirror that this machine uses, or none.
mmdebstrap --quiet --variant=minbase "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" \
	"$dir/root" >"$dir/log" 2>&1 || {
	echo "no clean root can be had:"
	tail -n 3 "$dir/log"
	echo "only unpacked"
	mkdir -p "$dir/root"
	check 'it unpacks' dpkg-deb -x "$deb" "$dir/root"
	check 'the tool runs' \
		sh -c "'$dir/root/usr/bin/cozbpf' --version | grep -q '^cozbpf $version '"
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
	exit
}
cp "$deb" "$dir/root/tmp/cozbpf.deb"
cp /etc/resolv.conf "$dir/root/etc/resolv.conf"
# The way to the mirror, where this machine has one.
cp /etc/apt/apt.conf.d/*proxy* "$dir/root/etc/apt/apt.conf.d/" 2>/dev/null
inside apt-get -q update >"$dir/log" 2>&1
files >"$dir/before"
check 'it installs' inside env DEBIAN_FRONTEND=noninteractive apt-get \
	-y -q --no-install-recommends install /tmp/cozbpf.deb
check 'its version' says "^cozbpf $version " cozbpf --version
check 'its files are as they were packed' says '^$' sh -c 'dpkg --verify cozbpf && echo'
check 'doctor' doctor
check 'doctor finds the shim that belongs to it' grep -qE \
	'^ok +shim library +/usr/.*lib/cozbpf/libcozbpf-shim.so' "$dir/out"
cp "$dir/p.coz" "$dir/root/tmp/p.coz"
check 'report' says '^/src/a.c;/src/a.c:7 4000$' cozbpf report --folded /tmp/p.coz
check 'report for pprof' says '^1f 8b' sh -c \
	'cozbpf report --pprof /tmp/p.coz | od -An -tx1 | sed "s/^ *//"'
check 'completion' says '^merge$' bash -c \
	'. /usr/share/bash-completion/completions/cozbpf && COMP_WORDS=(cozbpf me) COMP_CWORD=1 &&
	_cozbpf && echo "${COMPREPLY[@]}"'
check 'it is removed' inside env DEBIAN_FRONTEND=noninteractive apt-get -y -q purge cozbpf
files >"$dir/after"
check 'nothing is left' cmp "$dir/before" "$dir/after"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
