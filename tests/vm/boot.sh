#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Boots an unpacked kernel in qemu, without hardware acceleration, on this machine's own files: they
# are read-only, and an overlay in memory takes what is written. A kernel for arm64 gets the tree of
# scripts/arm64-sysroot.sh with the repository in it. Runs a command there as root, from the
# repository's folder.
# usage: tests/vm/boot.sh KERNEL INTO COMMAND
#   KERNEL   folder with boot/vmlinuz-* and the modules (tests/vm/fetch.sh makes it), for arm64 if
#            its name begins so
#   INTO     folder for out (what the command prints), console, dmesg (the kernel's messages
#            meanwhile, with levels) and ended ("status N booted SECONDS ended SECONDS")
# The exit status is the command's; 125 where it did not end.
# VIRTIOFSD: another file server. VM_APPEND: words for the kernel's command line. VM_LIMIT=600:
# seconds. VM_SLOWNESS=5: COZBPF_TEST_SLOWNESS there (tests/e2e/lib.sh). VM_COUNT=1: one processor,
# on whose clock each instruction takes a nanosecond, so times there are numbers of instructions.
set -euo pipefail
repository=$(realpath "$(dirname "$0")/../..")
kernel=$1 into=$2 command=$3
memory=2048

die() { # CAUSE HINT
	echo "boot: error: $1" >&2
	echo "boot: hint: $2" >&2
	exit 125
}

first() { # PATH...: the first that is there
	local path
	for path in "$@"; do
		[ ! -e "$path" ] || { echo "$path"; return; }
	done
}

install='sudo scripts/install-deps.sh vm'
packer=$(command -v busybox) || die "no busybox here" "run '$install'"
in_front=()
case ${kernel##*/} in
arm64-*) system=/var/tmp/cozbpf-arm64/root ;;
*) system='' ;;
esac

# The machine, and where its kernel's messages go. The kernel's console is the first port, and three
# more have the command's output, its end and the messages meanwhile.
pc() {
	local n newer=${COZBPF_KERNELS:-/var/tmp/cozbpf-kernels}/qemu # tests/vm/fetch.sh says why
	machine=(-cpu max -numa 'node,memdev=memory')
	for n in console out ended dmesg; do machine+=(-serial "file:$into/$n"); done
	append='console=ttyS0 edd=off tsc=reliable no_timer_check'
	# The guest's counter is this machine's. Beside other programs timers come late, and a
	# kernel that calibrated the counter by these took 2.1 GHz for 56 MHz: its clock ran 37
	# times too fast.
	[ -n "${VM_COUNT:-}" ] || append+=$(awk '/^bogomips/ {
		printf " tsc_early_khz=%d", $3 / 2 * 1000; exit }' /proc/cpuinfo)
	busybox=$packer
	if [ -x "$newer/usr/bin/qemu-system-x86_64" ]; then
		qemu=("$newer/usr/bin/qemu-system-x86_64" -L "$newer/usr/share/qemu"
			-L /usr/share/qemu -L /usr/share/seabios)
	else
		qemu=("$(command -v qemu-system-x86_64)") || die "no qemu here" "run '$install'"
	fi
}

# With pages of 16 kB a processor that has all there is: long vectors, signed return addresses.
arm64() {
	local n ports=pci-serial-4x i=2
	machine=(-M 'virt,gic-version=3,memory-backend=memory' -cpu cortex-a72
		-serial "file:$into/console")
	[[ "$kernel" != *-16k ]] || machine+=(-cpu 'max,pauth-impdef=on')
	for n in out ended dmesg; do
		machine+=(-chardev "file,id=$n,path=$into/$n")
		ports+=,chardev$i=$n i=$((i + 1))
	done
	machine+=(-chardev 'null,id=none' -device "$ports,chardev1=none")
	append='console=ttyAMA0'
	# Another processor takes longer to emulate: with priority over other programs, as
	# tests/e2e/lib.sh has it.
	# shellcheck disable=SC2016 # expanded by that shell
	in_front=(setsid -w sh -c
		'(echo -15 >/proc/self/autogroup) 2>/dev/null; exec nice -n -15 "$@"' sh)
	busybox=$system/bin/busybox
	[ -x "$busybox" ] || die "no programs for arm64 here" "run scripts/arm64-sysroot.sh"
	qemu=("$(command -v qemu-system-aarch64)") ||
		die "no qemu here" "run 'sudo scripts/install-deps.sh arm64'"
}

if [ -n "$system" ]; then arm64; else pc; fi
# Before 8.0 qemu has its own virtiofsd; since then the package virtiofsd has another one.
server=${VIRTIOFSD:-$(first /usr/lib/qemu/virtiofsd /usr/libexec/virtiofsd)}
[ -n "$server" ] || die "no virtiofsd here" "install the package virtiofsd, or run '$install'"
serve=(--shared-dir=/ --cache=always --sandbox=chroot --xattr --no-announce-submounts)
[ "$server" != /usr/lib/qemu/virtiofsd ] ||
	serve=(-o source=/ -o cache=always -o sandbox=chroot -o xattr)
modules=$(first "$kernel"/lib/modules/* "$kernel"/usr/lib/modules/*)
image=$(first "$kernel"/boot/vmlinuz-* "$modules/vmlinuz")
if [ -z "$modules" ] || [ -z "$image" ]; then
	die "no kernel or no modules in '$kernel'" "remove it; tests/vm/fetch.sh fetches it again"
fi

work=$(mktemp -d --tmpdir=/var/tmp --suffix=.cozbpf-vm)
server_pid=
# shellcheck disable=SC2317 # trap calls it
cleanup() {
	[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 125' INT TERM

# What mounts the host's files, in the order in which one needs the other. What is not here is part
# of the kernel.
pack_modules() {
	local name file n=10
	for name in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci \
		fuse virtiofs overlay; do
		file=$(find "$modules/kernel" -name "$name.ko*" -print -quit)
		[ -n "$file" ] || continue
		case $file in
		*.xz) xz -dc "$file" ;;
		*.zst) zstd -qdc "$file" ;;
		*) cat "$file" ;;
		esac >"$work/root/modules/$n-$name.ko"
		n=$((n + 1))
	done
}

mkdir -p "$work/root"/{bin,modules,proc,sys,dev,host,memory,new,below} "$into"
cp "$busybox" "$work/root/bin/busybox"
cp "$repository/tests/vm/init.sh" "$work/root/init"
pack_modules
printf '%s\n' "$command" >"$work/root/command"
printf 'repository=%q system=%q slowness=%q\n' "$repository" "$system" "${VM_SLOWNESS:-5}" \
	>"$work/root/facts"
(cd "$work/root" && find . | "$packer" cpio -o -H newc 2>/dev/null) >"$work/initrd"

"$server" --socket-path="$work/socket" "${serve[@]}" >"$work/server.log" 2>&1 &
server_pid=$!
for ((try = 0; try < 100; try++)); do
	[ ! -S "$work/socket" ] || break
	sleep 0.1
done
[ -S "$work/socket" ] || die "virtiofsd does not start" \
	"it says: $(head -n 1 "$work/server.log")"

# 5.15 gives up where the first ticks of an emulated timer come late: no_timer_check.
processors=(-smp 2 -accel "tcg,thread=multi")
[ -z "${VM_COUNT:-}" ] ||
	processors=(-smp 1 -accel "tcg,thread=single" -icount "shift=0,sleep=off")

rm -f "$into"/{out,console,dmesg,ended}
# In the foreground, so that the end of whatever runs this script ends it as well.
"${in_front[@]}" timeout --foreground -k 5 "${VM_LIMIT:-600}" "${qemu[@]}" "${machine[@]}" \
	"${processors[@]}" -m $memory -nographic -nodefaults -no-reboot -net none -monitor none \
	-object "memory-backend-memfd,id=memory,size=${memory}M,share=on" \
	-chardev "socket,id=files,path=$work/socket" \
	-device vhost-user-fs-pci,chardev=files,tag=host \
	-kernel "$image" -initrd "$work/initrd" \
	-append "$append panic=-1 ${VM_APPEND:-}" || true
cat "$into/out"
status=$(sed -nE 's/^status ([0-9]+) .*/\1/p' "$into/ended")
[ -n "$status" ] || {
	tail -n 20 "$into/console" >&2
	die "the command did not end within ${VM_LIMIT:-600} s" "$into/console has the rest"
}
exit "$status"
