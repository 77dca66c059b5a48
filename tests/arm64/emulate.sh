#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Boots an arm64 kernel in the emulator, with all files in its initial memory, and runs a script
# there as root. What the script prints comes out here; the exit status is the script's.
# usage: tests/arm64/emulate.sh SERIES SCRIPT [FILE...]
#   SERIES: a kernel that scripts/arm64-sysroot.sh has fetched; FILE: of the cross build, below its
#   folder (build/arm64), or of the tree. The script finds them in the folder that it starts in.
# COZBPF_EMULATE_SECONDS=300: for how long the machine may run.
set -euo pipefail
cd "$(dirname "$0")/../.."
series=$1 script=$2
shift 2
build=${BUILD:-build/arm64} root=/var/tmp/cozbpf-arm64/root
kernel=/var/tmp/cozbpf-kernels/arm64-$series
# With pages of 16 kB, a processor that has all there is: long vectors, signed return addresses.
case $series in
*-16k) cpu=max,pauth-impdef=on ;;
*) cpu=cortex-a72 ;;
esac
work=$(mktemp -d -p "$build")
trap 'rm -rf "$work"' EXIT

# library NAME: copies it, and what it needs, into the machine.
library() {
	local file
	[ ! -e "$work/i/lib/$1" ] || return 0
	for file in "$root"/{lib,usr/lib}/aarch64-linux-gnu/"$1"; do
		[ -e "$file" ] || continue
		cp -L "$file" "$work/i/lib/"
		needed "$file"
	done
}

needed() { # FILE
	local name
	for name in $(aarch64-linux-gnu-readelf -d "$1" |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		library "$name"
	done
}

add() { # FILE
	local from=$1
	[ ! -e "$build/$1" ] || from=$build/$1
	mkdir -p "$work/i/w/$(dirname "$1")"
	cp -L "$from" "$work/i/w/$1"
	[[ "$1" == *.* && "$1" != *.so ]] || needed "$from"
}

mkdir -p "$work"/i/{bin,lib,proc,sys,dev,tmp,run,w}
cp "$root/bin/busybox" "$work/i/bin/"
library ld-linux-aarch64.so.1
for file in cozbpf libcozbpf-shim.so "$@"; do add "$file"; done
cp "$script" "$work/i/script"
cat >"$work/i/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tracefs tracefs /sys/kernel/tracing
mount -t tmpfs tmp /tmp
ip link set lo up
cd /w
echo "BOOTED $(cut -d ' ' -f 1 /proc/uptime)" >/dev/console
sh /script
echo "EXIT=$?"
poweroff -f
INIT
chmod +x "$work/i/init"
(cd "$work/i" && find . | cpio -o -H newc 2>/dev/null) >"$work/initrd"
# With priority over other programs, as tests/e2e/lib.sh has it.
# shellcheck disable=SC2016
setsid -w sh -c '(echo -15 >/proc/self/autogroup) 2>/dev/null; exec nice -n -15 "$@"' sh \
	timeout "${COZBPF_EMULATE_SECONDS:-300}" qemu-system-aarch64 -M virt,gic-version=3 \
	-cpu "$cpu" -accel tcg,thread=multi \
	-smp 2 -m 1024 -nographic -nodefaults -no-reboot -net none \
	-serial "file:$work/console" -monitor none -kernel "$(echo "$kernel"/boot/vmlinuz*)" \
	-initrd "$work/initrd" -append 'console=ttyAMA0 panic=-1 quiet' || true
tr -d '\r' <"$work/console" | grep -v '^EXIT=' || true
status=$(tr -d '\r' <"$work/console" | sed -n 's/^EXIT=//p' | tail -n 1)
[ -n "$status" ] || { echo "emulate: the machine did not end by itself" >&2; exit 124; }
exit "$status"
