#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unpacks Debian's Go toolchains of several suites, for tests that want more than one version:
# golang-VERSION-go and golang-VERSION-src, each pair as /var/tmp/cozbpf-go/VERSION. Nothing is
# installed; apt has a state of its own beside them. What is there already is not fetched again.
# usage: scripts/go-toolchains.sh [VERSION...]   default: 1.19 1.23 1.27
#        scripts/go-toolchains.sh --list         "VERSION GOROOT" of those that are there
#
# $COZBPF_GO names another folder than /var/tmp/cozbpf-go. Paths of a version:
#   VERSION/goroot      GOROOT: a link to usr/lib/go-VERSION
#   VERSION/goroot/src  the sources, the runtime's among them
#   VERSION/go          runs bin/go with the environment below
# So `/var/tmp/cozbpf-go/1.23/go build x.go` builds offline (GOTOOLCHAIN=local, GOPROXY=off,
# GOFLAGS=-mod=mod, GO111MODULE=auto), with a cache of its own (VERSION/cache).
# The exit status is 4 where the mirror is not reached or lacks a version.
set -euo pipefail
dir=${COZBPF_GO:-/var/tmp/cozbpf-go}
suites=(bookworm bookworm-backports trixie trixie-backports sid)
state=$dir/apt

die() { # CAUSE HINT [STATUS]
	echo "go-toolchains: error: $1" >&2
	echo "go-toolchains: hint: $2" >&2
	exit "${3:-1}"
}

# shellcheck source-path=SCRIPTDIR source=own-apt.sh
. "$(dirname "$0")/own-apt.sh"

# The command that runs a toolchain: no test may reach for the network or another version.
write_command() { # FOLDER VERSION
	cat >"$1/go" <<-END
		#!/bin/sh
		export GOROOT=$dir/$2/goroot GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod
		export GO111MODULE=auto GOCACHE=\${GOCACHE:-$dir/$2/cache}
		export HOME=\${HOME:-$dir/$2}
		exec $dir/$2/goroot/bin/go "\$@"
	END
	chmod 755 "$1/go"
}

fetch() { # VERSION
	local to=$dir/$1
	echo "go-toolchains: unpacking $1" >&2
	unpack_packages "$to.new" "golang-$1-go" "golang-$1-src"
	rm -rf "$to"
	ln -s "usr/lib/go-$1" "$to.new/goroot"
	write_command "$to.new" "$1"
	mv "$to.new" "$to"
}

list() {
	local root
	for root in "$dir"/*/goroot; do
		[ ! -x "$root/bin/go" ] || echo "$(basename "${root%/goroot}") $root"
	done | sort -V
}

if [ "${1:-}" = --list ]; then
	list
	exit
fi
[ $# -gt 0 ] || set -- 1.19 1.23 1.27
missing=()
for version in "$@"; do
	[[ "$version" =~ ^[0-9]+\.[0-9]+$ ]] || die "'$version' is no version" "1.23 is one"
	[ -x "$dir/$version/goroot/bin/go" ] || missing+=("$version")
done
[ ${#missing[@]} -gt 0 ] || exit 0
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
update_lists "unpack a toolchain as $dir/VERSION/goroot"
status=0
for version in "${missing[@]}"; do
	[ -x "$dir/$version/goroot/bin/go" ] || (fetch "$version") || status=$?
done
exit "$status"
