#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unpacks Debian's kernels, each as $COZBPF_KERNELS/VERSION, for tests/vm/boot.sh. apt has a state
# of its own for that: it takes the mirror from this machine's sources, reads other suites from it,
# and checks signatures. What is there already is not fetched again, so a kernel from elsewhere can
# be unpacked there by hand.
# usage: tests/vm/fetch.sh VERSION...   6.12: its newest release; 6.12-rt: that with PREEMPT_RT;
#                                       newest: of the newest version
#        tests/vm/fetch.sh qemu         a newer qemu, where this machine's is older than 10
#        tests/vm/fetch.sh --list       the versions to be had
# The exit status is 4 where the mirror is not reached or does not have what is wanted, after all
# the others were fetched.
set -euo pipefail
cache=${COZBPF_KERNELS:-/var/tmp/cozbpf-kernels}
suites=(bullseye bookworm bookworm-backports trixie trixie-backports sid)
state=$cache/apt
asked=

die() { # CAUSE HINT [STATUS]
	echo "fetch: error: $1" >&2
	echo "fetch: hint: $2" >&2
	exit "${3:-1}"
}

# shellcheck source-path=SCRIPTDIR source=../../scripts/own-apt.sh
. "$(dirname "$0")/../../scripts/own-apt.sh"

update() {
	update_lists "unpack a kernel and its modules as $cache/VERSION"
	[ -z "$(own_apt apt-cache pkgnames linux-image-)" ] || : >"$state/updated"
}

# Lists of the last hour will do, and a mirror that is not reached is asked once.
need_lists() {
	[ -n "$asked" ] || [ -n "$(find "$state/updated" -mmin -60 2>/dev/null)" ] || update
	asked=1
}

# Of the signed kernels for PCs, not those for clouds or debuggers: those whose modules a suite has
# as well. Old releases have lost theirs, and apt writes <NAME> then.
images() { # VERSION, as a pattern; with -rt those for real time
	local -a names
	local not='-(cloud|rt)-'
	[[ "$1" != *-rt ]] || not='-cloud-|[^t]-amd64$'
	mapfile -t names < <(own_apt apt-cache pkgnames linux-image- |
		sed -nE "/^linux-image-${1%-rt}\.[0-9.]+([+-].*)?-amd64\$/p" | grep -vE -e "$not")
	[ ${#names[@]} -gt 0 ] || return 0
	own_apt apt-cache depends "${names[@]}" | awk '
		/^linux-image/ { name = $1; found[name] = 1 }
		/Depends: <linux-(binary|modules)-/ { delete found[name] }
		END { for (name in found) print name }' | sort -V
}

versions() {
	images '[0-9]+\.[0-9]+' | sed -E 's/^linux-image-([0-9]+\.[0-9]+)\..*/\1/' | uniq |
		paste -sd ' '
}

# The package may be empty, and need one of the kernel and one of the modules, as newer ones do.
packages() { # IMAGE
	echo "$1"
	own_apt apt-cache depends "$1" | sed -nE 's/^ *Depends: (linux-(binary|modules)-.*)/\1/p'
}

# download NAME PACKAGE...: unpacks packages as $cache/NAME.
download() {
	echo "fetch: $1: ${*:2}" >&2
	unpack_packages "$cache/$1.new" "${@:2}"
	mv "$cache/$1.new" "$cache/$1"
}

fetch_kernel() { # VERSION
	local image others
	local -a wanted
	image=$(images "${1//./\\.}" | tail -n 1)
	if [ -z "$image" ]; then
		grep -E '^[EW]:' "$state/update" >&2 || true
		others=$(versions)
		die "no suite of the mirror has a kernel $1" \
			"${others:+these can be had: $others; or }unpack one as $cache/$1" 4
	fi
	mapfile -t wanted < <(packages "$image")
	download "$1" "${wanted[@]}"
}

# Debian 12's gets cmpxchg16b wrong, which 7.3 cannot do without, and 7.2 ran into a breakpoint of
# its own there. The newer one needs the libraries that the machine's own qemu has brought.
old_qemu() {
	local own
	own=$(qemu-system-x86_64 --version 2>/dev/null | sed -nE 's/.*version ([0-9]+)\..*/\1/p')
	[ -n "$own" ] || die "no qemu-system-x86_64 here" "run 'sudo scripts/install-deps.sh vm'"
	[ "$own" -lt 10 ]
}
fetch_qemu() {
	download qemu qemu-system-{x86,data}/bookworm-backports
}

[ $# -gt 0 ] || die "no version given" "usage: tests/vm/fetch.sh 6.12 6.18"
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
status=0
for version in "$@"; do
	if [ "$version" = --list ]; then
		need_lists
		versions
		continue
	fi
	if [ "$version" = newest ]; then
		need_lists
		version=$(versions)
		version=${version##* }
		if [ -z "$version" ]; then
			grep -E '^[EW]:' "$state/update" >&2
			echo "fetch: error: no kernel at all can be had" >&2
			status=4
			continue
		fi
		echo "newest is $version"
	fi
	[[ "$version" =~ ^([0-9]+\.[0-9]+(-rt)?|qemu)$ ]] ||
		die "'$version' is no version" "6.12 is one"
	[ ! -d "$cache/$version" ] || continue
	[ "$version" != qemu ] || old_qemu || continue
	need_lists
	if [ "$version" = qemu ]; then (fetch_qemu); else (fetch_kernel "$version"); fi || status=$?
done
exit "$status"
