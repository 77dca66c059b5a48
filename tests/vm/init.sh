#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: BSD-3-Clause
# The first process of a kernel under test (tests/vm/boot.sh packs it): the host's files, read-only,
# below an overlay in memory; one command in there; the end. ttyS1 is what the command prints, ttyS2
# how it ended, ttyS3 the kernel's messages meanwhile, with their levels.
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for port in /dev/ttyS1 /dev/ttyS2 /dev/ttyS3; do stty -F $port raw; done

give_up() {
	echo "init: $1" >/dev/kmsg
	poweroff -f
	sleep 60
}

for module in /modules/*; do insmod "$module"; done
mount -t virtiofs -o ro host /host || give_up "the host's files cannot be mounted"
mount -t tmpfs memory /memory
repository=/ system='' slowness=1
# shellcheck source=/dev/null # these three
. /facts

lay_over() { # NAME FROM TO: what is written there stays in memory
	mkdir -p "/memory/$1/upper" "/memory/$1/work" "$3"
	mount -t overlay -o "lowerdir=$2,upperdir=/memory/$1/upper,workdir=/memory/$1/work" "$1" \
		"$3" || give_up "no overlay"
}

lay_over root "/host$system" /new
for dir in proc sys dev; do mount --move /$dir /new/$dir; done
mount --bind /new/tmp /below
for dir in tmp run dev/shm; do
	mkdir -p /new/$dir
	mount -t tmpfs memory /new/$dir
	chmod 1777 /new/$dir
done
case $system$repository in
/tmp/*)
	mkdir -p "/new$repository"
	mount --bind "/below${repository#/tmp}" "/new$repository"
	;;
esac
[ -z "$system" ] || lay_over repository "/host$repository" "/new$repository"
ln -s /proc/self/fd /new/dev/fd
ln -s /proc/self/fd/0 /new/dev/stdin
ln -s /proc/self/fd/1 /new/dev/stdout
ln -s /proc/self/fd/2 /new/dev/stderr
mkdir -p /new/dev/pts
mount -t devpts devpts /new/dev/pts
mount -t tracefs tracefs /new/sys/kernel/tracing
mount -t bpf bpf /new/sys/fs/bpf
mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
ip link set lo up
cp /command /new/run/command

begin='cozbpf-vm: the command begins'
echo "$begin" >/new/dev/kmsg
read -r booted _ </new/proc/uptime
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
	LANG=C.UTF-8 COZBPF_TEST_SLOWNESS="$slowness" \
	/bin/busybox chroot /new /bin/bash -c 'cd "$1" && . /run/command' bash "$repository" \
	</new/dev/null >/new/dev/ttyS1 2>&1
status=$?
read -r ended _ </new/proc/uptime
dmesg -r | sed "1,/$begin/d" >/new/dev/ttyS3
echo "status $status booted $booted ended $ended" >/new/dev/ttyS2
poweroff -f
sleep 60
