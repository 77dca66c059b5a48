#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fetches what a cross build for arm64 links with, and kernels to boot in the emulator: Debian's
# packages, read in an apt state of their own and unpacked, not installed. A second run fetches only
# what is missing.
# usage: scripts/arm64-sysroot.sh [SERIES...]    SERIES: a kernel, as 6.18, or 6.18-16k
# The libraries go to /var/tmp/cozbpf-arm64/root, kernels to /var/tmp/cozbpf-kernels/arm64-SERIES.
set -euo pipefail

dir=/var/tmp/cozbpf-arm64 kernels=/var/tmp/cozbpf-kernels

# What the tool and the workloads are linked with, and the programs of test scripts. What these
# depend on comes with them, so the same tree is the emulated machine's system.
packages=(libc6-dev libbpf-dev libelf-dev libdw-dev libdebuginfod-dev liblzma-dev libcapstone-dev
	libcjson-dev libiberty-dev libncurses-dev libprotobuf-c-dev zlib1g-dev libgomp1 libstdc++6
	busybox-static bash dash coreutils findutils grep sed mawk diffutils util-linux bsdutils
	mount procps libc-bin binutils gcc g++ systemtap-sdt-dev protobuf-compiler
	python3 bpftool gzip)
# What mounts the files of the machine outside (tests/vm/boot.sh); other modules are not kept.
modules=('virtio*.ko*' 'fuse.ko*' 'overlay.ko*')

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

# unpack TO PACKAGE...: each package and what it depends on, as TO.new.
unpack() {
	local to=$1 deb
	shift
	rm -rf "$dir"/cache/archives/*.deb "$to.new"
	apt-get "${options[@]}" install -y --download-only "$@" </dev/null >&2 ||
		die "could not fetch $*" "see apt-get's messages above"
	mkdir -p "$to.new"
	for deb in "$dir"/cache/archives/*.deb; do dpkg -x "$deb" "$to.new"; done
	rm -f "$dir"/cache/archives/*.deb
}

# What the packages' own scripts would make, and the list of packages that the tree was made from.
fetch_root() {
	local to=$dir/root
	unpack "$to" "${packages[@]}"
	ln -sf mawk "$to.new/usr/bin/awk"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$to.new/etc/passwd"
	echo 'nobody:x:65534:65534:nobody:/nonexistent:/bin/false' >>"$to.new/etc/passwd"
	printf '%s\n' root:x:0: disk:x:6: nogroup:x:65534: >"$to.new/etc/group"
	mkdir -p "$to.new"/{proc,sys,dev,tmp,run,root}
	echo "${packages[@]}" >"$to.new/packages"
	rm -rf "$to"
	mv "$to.new" "$to"
}

has_root() {
	[ "$(cat "$dir/root/packages" 2>/dev/null)" = "${packages[*]}" ]
}

# The newest package that holds the image of a series: from 7.2 on linux-binary-*.
kernel_package() { # SERIES [SUFFIX]
	apt-cache "${options[@]}" pkgnames linux- |
		grep -E "^linux-(image|binary)-${1//./\\.}[.+][^-]*(-[0-9]+)?-arm64${2:-}\$" |
		sed 's/^linux-\([a-z]*\)-\(.*\)/\2 \1/' | sort -k 1,1V -k 2,2r | tail -n 1 |
		sed 's/\(.*\) \(.*\)/linux-\2-\1/'
}

fetch_kernel() { # SERIES
	local suffix='' image deb name to=$kernels/arm64-$1
	local -a wanted names=()
	case $1 in *-16k) suffix=-16k ;; esac
	image=$(kernel_package "${1%-16k}" "$suffix")
	[ -n "$image" ] || die "no arm64 kernel $1 in the package lists"
	mapfile -t wanted < <(echo "$image"; apt-cache "${options[@]}" depends "$image" |
		sed -nE 's/^ *Depends: (linux-modules-.*)/\1/p')
	rm -rf "$to.new"
	mkdir -p "$to.new/debs"
	(cd "$to.new/debs" && apt-get "${options[@]}" download "${wanted[@]}" </dev/null >&2) ||
		die "could not fetch ${wanted[*]}" "see apt-get's messages above"
	for deb in "$to.new"/debs/*.deb; do dpkg -x "$deb" "$to.new"; done
	for name in "${modules[@]}"; do names+=(! -name "$name"); done
	find "$to.new" -name '*.ko*' "${names[@]}" -delete
	rm -rf "$to.new/debs" "$to"
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

has_kernel() { # SERIES
	[ -n "$(find "$kernels/arm64-$1" -name 'overlay.ko*' -print -quit 2>/dev/null)" ]
}

main() {
	local series missing=()
	for series in "$@"; do
		[[ "$series" =~ ^[0-9]+\.[0-9]+(-16k)?$ ]] ||
			die "'$series' is no series of kernels"
		has_kernel "$series" || missing+=("$series")
	done
	if has_root; then
		relink
		[ ${#missing[@]} -gt 0 ] || return 0
	fi
	state
	has_root || { fetch_root; relink; }
	for series in "${missing[@]}"; do fetch_kernel "$series"; done
}

main "$@"
