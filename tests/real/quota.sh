#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Attaching from the host reports the CPU quota of a real container (podman --cpus, by runc), even
# if the container is removed meanwhile. tests/e2e/quota.sh tests a plain control group. Needs root,
# and the network where podman is missing; `make check-real`.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
scripts/install-deps.sh real >/dev/null || skip "its packages cannot be installed"
name=cozbpf-quota-$$
box=$dir/box
mkdir -p "$box"/{bin,dev,etc,proc,sys,tmp}
fixture running -static
cp "$dir/running" "$box/bin/app"
# shellcheck disable=SC2317 # at the end
undo() {
	podman rm -f -t 1 "$name" >/dev/null 2>&1
	cleanup
}
trap undo EXIT
podman run --rm -d --name "$name" --runtime runc --cpus 0.5 --ulimit nofile=20000:20000 \
	--ulimit nproc=4096:4096 --network none --rootfs "$box" \
	/bin/app plain 2 >"$dir/out" 2>"$dir/err" || bad "the container starts"
pid=$(podman inspect -f '{{.State.Pid}}' "$name" 2>/dev/null)
# shellcheck disable=SC2054 # commas of lists
brief=(-v --no-tui -P progress --fixed-line "$(line_of running LINE_A)" --fixed-speedup 0,100 \
	--experiment-length 50ms -o "$dir/p.coz" -p "$pid")
# held_back SECONDS: two threads get half a CPU, and the rest is denied to them. The test asks for
# one percent only, since the machine may be busy.
held_back() {
	local s
	s=$(sed -nE "s/.*a CPU quota held the program's control group back for ([0-9.]+) s.*/\1/p" \
		"$dir/err")
	check "held back for ${s:-no} s, CPUs added up" is "${s:-none}" '>=' \
		"$(awk "BEGIN { print $1 / 100 }")"
	check "no longer than it was profiled, on all CPUs" is "${s:-none}" '<=' \
		"$(awk "BEGIN { print $1 * 1.1 * $(nproc) }")"
}
# shellcheck disable=SC2317 # by wait_for
some() {
	is "$(grep -c '^experiment' "$dir/p.coz" 2>/dev/null)" '>=' 5
}
run 0 "$tool" "${brief[@]}" -d 3s
held_back 3
rm -f "$dir/p.coz"
start "$tool" "${brief[@]}"
wait_for 20 some || bad "it experiments"
podman rm -f -t 0 "$name" >/dev/null
ended 20 0 "it ends with the container"
held_back "$(sed -n 's/^runtime\ttime=\([0-9]*\).*/\1/p' "$dir/p.coz" | awk '{ print $1 / 1e9 }')"
finish
