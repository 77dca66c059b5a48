#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs from Debian's packages what building, testing and the demo need, and only what is
# missing. A second run does nothing. docs/dependencies.md explains each package.
# usage: scripts/install-deps.sh [--list] [build] [test] [demo] [real] [soak] [servers]
# [bench] [go] [package] [slurm] [vm] [arm64]
# default: build
set -euo pipefail

packages_of() { # GROUP: PACKAGE, or PACKAGE:COMMAND where any installed COMMAND will do
	local all='build, test, demo, real, soak, servers, bench, go, package, slurm, vm, arm64'
	local cross=gcc-aarch64-linux-gnu # makes fixtures of another machine than this one
	[ "$(uname -m)" != aarch64 ] || cross=
	case $1 in
	build)
		echo gcc make git libc6-dev libbpf-dev bpftool clang llvm libelf-dev libdw-dev \
			libdebuginfod-dev liblzma-dev libcapstone-dev libcjson-dev libiberty-dev \
			libncurses-dev libjs-chart.js libprotobuf-c-dev protobuf-c-compiler \
			zlib1g-dev
		;;
	test)
		echo g++ clang-format clang-tidy shellcheck cppcheck binutils gdb procps xz-utils \
			musl-tools util-linux coz-profiler systemtap-sdt-dev \
			python3 nodejs:node chromium-headless-shell tmux mandoc groff-base \
			protobuf-compiler "$cross"
		;;
	real)
		echo postgresql podman runc conmon netavark iptables dpkg-dev binutils \
			libevent-dev libmemcached-tools g++ libbz2-dev autoconf automake \
			autopoint gettext pkg-config valgrind nginx wrk nmap axel
		;;
	soak) echo nginx wrk postgresql bpftool ;;
	servers)
		echo redis-server redis-tools memcached libmemcached-tools nginx wrk postgresql
		;;
	arm64)
		echo gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-system-arm qemu-user \
			busybox-static xz-utils
		;;
	bench) echo libfuse3-dev libsqlite3-dev libleveldb-dev rocksdb-tools postgresql ;;
	package) echo dpkg-dev lintian mmdebstrap ;;
	slurm) echo munge slurmctld slurmd slurm-client libcap2-bin ;;
	vm) echo qemu-system-x86 busybox-static xz-utils zstd ;;
	go) echo golang-go ;;
	demo) echo gcc libc6-dev make bzip2 tar ;;
	*)
		die "unknown group '$1'" \
			"${all%, *} or ${all##* }" 2
		;;
	esac
}

die() {
	echo "install-deps: error: $1" >&2
	[ -z "${2:-}" ] || echo "install-deps: hint: $2" >&2
	exit "${3:-1}"
}

have() { # PACKAGE[:COMMAND]
	[[ "$1" == *:* ]] && command -v "${1#*:}" >/dev/null && return
	[ "$(dpkg-query -W -f '${db:Status-Status}' "${1%%:*}" 2>/dev/null)" = installed ]
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 \
		-o Dpkg::Options::=--force-confold "$@" </dev/null
}

known() { # every PACKAGE has a candidate in the package lists
	local p
	for p in "$@"; do
		apt-cache policy "$p" 2>/dev/null | grep -q 'Candidate: [0-9]' || return 1
	done
}

main() {
	local group list='' p
	local -a groups=() wanted=() missing=() names=()
	for group in "$@"; do
		if [ "$group" = --list ]; then list=1; else groups+=("$group"); fi
	done
	[ ${#groups[@]} -gt 0 ] || groups=(build)
	for group in "${groups[@]}"; do
		p=$(packages_of "$group")
		read -ra names <<<"$p"
		wanted+=("${names[@]}")
	done
	if [ -n "$list" ]; then
		printf '%s\n' "${wanted[@]%%:*}" | sort -u
		return
	fi
	command -v apt-get >/dev/null || die "no apt-get here" \
		"docs/dependencies.md names what to install by other means"
	for p in "${wanted[@]}"; do
		have "$p" || [[ " ${missing[*]} " == *" ${p%%:*} "* ]] || missing+=("${p%%:*}")
	done
	if [ ${#missing[@]} -eq 0 ]; then
		echo "install-deps: ${groups[*]}: nothing is missing"
		return
	fi
	[ "$(id -u)" -eq 0 ] || die "missing: ${missing[*]}" "run 'sudo $0 ${groups[*]}'" 3
	echo "install-deps: installing ${missing[*]}"
	known "${missing[@]}" || apt update || true
	# The lists may be older than the mirror, and mirrors fail at times: each retry starts with
	# new lists.
	for p in 1 2 3; do
		apt install --no-install-recommends "${missing[@]}" && return
		sleep $((p * 2))
		apt update || true
	done
	die "could not install ${missing[*]}" "see apt-get's messages above"
}

main "$@"
