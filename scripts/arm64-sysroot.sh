#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fetches what a cross build for arm64 links with, and kernels to boot in the emulator: Debian's
# packages, read in an apt state of their own and unpacked, not installed. A second run fetches only
# what is missing.
# usage: scripts/arm64-sysroot.sh [SERIES...]    SERIES: a kernel, as 6.18, or 6.18-16k
# The libraries go to /var/tmp/cozbpf-arm64/root, kernels to /var/tmp/cozbpf-kernels/arm64-SERIES.
set -euo pipefail

dir=/var/tmp/cozbpf-arm64 kernels=/var/tmp/cozbpf-kernels

# What the tool and the workloads are linked with, and the shell of the emulated machine. What these
# depend on comes with them, so the same tree is laid into that machine.
packages=(libc6-dev libbpf-dev libelf-dev libdw-dev libdebuginfod-dev liblzma-dev libcapstone-dev
	libcjson-dev libiberty-dev libncurses-dev libprotobuf-c-dev zlib1g-dev libgomp1 libstdc++6
	busybox-static)

die() {
	echo "arm64-sysroot: error: $1" >&2
	[ -z "${2:-}" ] || echo "arm64-sysroot: hint: $2" >&2
	exit 1
}

# The machine's own release gives the libraries, so that they fit its cross compiler; kernels are
# newer. All come from the mirror that apt is told to use anyway.
list_sources() {
	local mirror release
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' \
		'Origin: Debian' | sed -n 's/ main$//p' | sort -u | grep -v security | head -n 1)
	[ -n "$mirror" ] || die 'apt knows no Debian package source' "run 'apt-get update'"
	release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	for suite in "$release" trixie trixie-backports sid; do
		echo "deb [arch=arm64] $mirror $suite main"
	done
	printf 'Package: *\nPin: release n=%s\nPin-Priority: 900\n' "$release" >"$dir/preferences"
}

state() {
	mkdir -p "$dir"/lists/partial "$dir"/cache/archives/partial
	: >"$dir/status" # nothing is installed there: dependencies are fetched as well
	list_sources >"$dir/sources.list"
	options=(-q -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::Etc::preferences=$dir/preferences"
		-o "Dir::State::lists=$dir/lists" -o "Dir::State::status=$dir/status"
		-o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root -o APT::Architecture=arm64
		-o APT::Architectures::=arm64 -o APT::Install-Recommends=0)
	for try in 1 2 3; do
		apt-get "${options[@]}" update </dev/null >&2 && return
		sleep $((try * 2))
	done
	die 'could not read the package lists' "see apt-get's messages above"
}

# unpack TO PACKAGE...: each package and what it depends on.
unpack() {
	local to=$1 deb
	shift
	rm -rf "$dir"/cache/archives/*.deb "$to.new"
	apt-get "${options[@]}" install -y --download-only "$@" </dev/null >&2 ||
		die "could not fetch $*" "see apt-get's messages above"
	mkdir -p "$to.new"
	for deb in "$dir"/cache/archives/*.deb; do dpkg -x "$deb" "$to.new"; done
	rm -f "$dir"/cache/archives/*.deb
	mv "$to.new" "$to"
}

# The newest package that holds the image of a series: from 7.2 on linux-binary-*.
kernel_package() { # SERIES [SUFFIX]
	apt-cache "${options[@]}" pkgnames linux- |
		grep -E "^linux-(image|binary)-${1//./\\.}[.+][^-]*(-[0-9]+)?-arm64${2:-}\$" |
		sed 's/^linux-\([a-z]*\)-\(.*\)/\2 \1/' | sort -k 1,1V -k 2,2r | tail -n 1 |
		sed 's/\(.*\) \(.*\)/linux-\2-\1/'
}

fetch_kernel() { # SERIES
	local suffix='' package deb to=$kernels/arm64-$1
	case $1 in *-16k) suffix=-16k ;; esac
	package=$(kernel_package "${1%-16k}" "$suffix")
	[ -n "$package" ] || die "no arm64 kernel $1 in the package lists"
	# Alone: modules and tools that go with an image are not needed.
	(cd "$dir/cache" && apt-get "${options[@]}" download "$package" </dev/null >&2) ||
		die "could not fetch $package" "see apt-get's messages above"
	mkdir -p "$to.new"
	for deb in "$dir"/cache/"$package"_*.deb; do dpkg -x "$deb" "$to.new"; done
	rm -rf "$dir"/cache/"$package"_*.deb "$to.new"/usr/lib/modules "$to.new"/lib/modules
	mv "$to.new" "$to"
}

# Absolute links lead out of the tree. The linker would take static libraries in their place.
relink() {
	local link
	find "$dir/root" -type l -lname '/*' | while read -r link; do
		[ ! -e "$dir/root$(readlink "$link")" ] ||
			ln -sfnr "$dir/root$(readlink "$link")" "$link"
	done
}

main() {
	local series missing=()
	for series in "$@"; do
		[[ "$series" =~ ^[0-9]+\.[0-9]+(-16k)?$ ]] ||
			die "'$series' is no series of kernels"
		[ -e "$kernels/arm64-$series" ] || missing+=("$series")
	done
	if [ -e "$dir/root" ]; then
		relink
		[ ${#missing[@]} -gt 0 ] || return 0
	fi
	state
	[ -e "$dir/root" ] || unpack "$dir/root" "${packages[@]}"
	relink
	for series in "${missing[@]}"; do fetch_kernel "$series"; done
}

main "$@"
