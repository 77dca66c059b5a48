#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# cozbpf in a container that has what docs/containers gives it, by podman: these capabilities, a
# read-only root, no network, the node's processes or those of one container. What is missing
# without one of the rights is what docs/kubernetes.md says of it. Nothing is compared with a time.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
command -v podman >/dev/null || scripts/install-deps.sh real >"$dir/out" 2>&1 ||
	skip "podman cannot be installed"
fixture running -static
containers=()
# shellcheck disable=SC2317 # at the end
clean() {
	local name
	for name in "${containers[@]}"; do podman rm -f -t 0 "$name" >/dev/null 2>&1; done
	cleanup
}
trap clean EXIT

# image NAME FILE...: a root file system with these programs and what they are linked with.
image() {
	local root=$dir/$1 file
	shift
	mkdir -p "$root/bin" "$root/proc" "$root/out" "$root/dev" "$root/sys" "$root/tmp"
	for file in "$@"; do
		cp "$file" "$root/bin"
		ldd "$file" 2>/dev/null | grep -oE '/[^ ]+' | sort -u |
			xargs -r -I{} cp -L --parents {} "$root"
	done
}
image tool "$tool" "${tool%/*}/libcozbpf-shim.so" /bin/sleep
image server "$dir/running"
chown 1000 "$dir/server/bin/running"
chmod 700 "$dir/server/bin/running" # its user alone may read it
mkdir "$dir/results"

podman=(podman run --runtime runc --ulimit nofile=20000:20000 --ulimit nproc=4096:4096
	--network none)
read -ra rights <<<"$(sed -n 's/.*add: \[\(.*\)\]/\1/p' docs/containers/daemonset.yaml | tr -d ,)"

# inside STATUS LEFT-OUT ARGUMENT...: cozbpf in a container with the manifest's rights but that one.
inside() {
	local right with=()
	for right in "${rights[@]}"; do
		[ "$right" = "$2" ] || with+=("--cap-add=$right")
	done
	run "$1" "${podman[@]}" --rm --read-only --cap-drop=all "${with[@]}" "$processes" \
		"${filter[@]}" \
		-v "$dir/results:/out" --rootfs "$dir/tool" cozbpf "${@:3}"
}
brief=(-v --no-tui -P progress --fixed-speedup 100 --experiment-length 50ms -d 2s)

echo "-- the node's processes: a container's, under the runtime's filter of system calls"
name=cozbpf-rights-$$
containers+=("$name")
"${podman[@]}" --rm -d --name "$name" --user 1000 --rootfs "$dir/server" running plain \
	>"$dir/out" 2>"$dir/err" || bad "the server starts"
server=$(podman inspect -f '{{.State.Pid}}' "$name" 2>"$dir/err")
check "it has a filter" grep -q '^Seccomp:.2' "/proc/$server/status"
processes=--pid=host filter=(--security-opt seccomp=unconfined)
inside 0 none "${brief[@]}" -o /out/node.coz -p "$server"
says 'pause handler taken out' ' [1-9][0-9]* begun'
check "the profile has experiments" has "$dir/results/node.coz" '^experiment'
inside 1 none "${brief[@]}" -o /node.coz -p "$server"
says "cannot write the profile '/node.coz': Read-only file system"
filter=()
inside 3 none "${brief[@]}" -o /out/filtered.coz -p "$server"
says 'has a seccomp filter' 'hint: cozbpf has such a filter itself'
filter=(--security-opt seccomp=unconfined)
echo "-- one container's processes, as an ephemeral container sees them"
processes=--pid=container:$name
inside 0 none "${brief[@]}" -o /dev/shm/profile.coz -p 1
says 'pause handler taken out' ' [1-9][0-9]* begun'
finish
