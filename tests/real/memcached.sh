#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A real server in a real container, profiled from the host: Debian's memcached, rebuilt from its
# source package and stripped, run by podman and runc under their seccomp profile, with its debug
# information only on the host. Progress points are one of its functions and its call of sendmsg,
# each once a request: exactly as many as the load has counted. Needs root and the network; `make
# check-real`.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
scripts/install-deps.sh real >/dev/null || skip "its packages cannot be installed"
sources=$dir/apt
name=cozbpf-memcached-$$
mkdir -p "$sources/lists/partial" "$sources/cache"
sed -n 's/^URIs: *\(http[^ ]*debian\/*\)$/\1/p' /etc/apt/sources.list.d/*.sources |
	head -n 1 >"$sources/mirror"
[ -s "$sources/mirror" ] || awk '$1 == "deb" { print $2; exit }' /etc/apt/sources.list \
	>"$sources/mirror"
echo "deb-src $(cat "$sources/mirror") $(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release) main" \
	>"$sources/list"
private=(-o "Dir::Etc::sourcelist=$sources/list" -o Dir::Etc::sourceparts=- \
	-o "Dir::State::lists=$sources/lists" -o "Dir::Cache=$sources/cache" \
	-o APT::Sandbox::User=root)
(cd "$sources" && apt-get -q "${private[@]}" update &&
	apt-get -q "${private[@]}" source --download-only memcached &&
	dpkg-source -x memcached_*.dsc source) \
	>"$dir/out" 2>&1 || skip "the source package cannot be had"
(cd "$sources/source" && ./configure CFLAGS='-O2 -g' --disable-docs && make memcached) \
	>"$dir/out" 2>&1 || bad "it builds"

box=$dir/box
mkdir -p "$box"/{bin,dev,etc,proc,sys,tmp}
echo 'root:x:0:0:root:/:/bin/sh' >"$box/etc/passwd"
for library in $(ldd "$sources/source/memcached" | grep -oE '/[^ ]+'); do
	install -D "$library" "$box$library"
done
objcopy --strip-all "$sources/source/memcached" "$box/bin/memcached"
id=$(readelf -n "$sources/source/memcached" | sed -n 's/.*Build ID: *//p')
debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
mkdir -p "${debug%/*}"
objcopy --only-keep-debug "$sources/source/memcached" "$debug"
# shellcheck disable=SC2317 # at the end
undo() {
	podman rm -f -t 1 "$name" >/dev/null 2>&1
	rm -f "$debug"
	rmdir "${debug%/*}" 2>/dev/null
	cleanup
}
trap undo EXIT

port=$((20000 + $$ % 10000))
podman run --rm -d --name "$name" --runtime runc --ulimit nofile=20000:20000 \
	--ulimit nproc=4096:4096 --network host --rootfs "$box" \
	/bin/memcached -u root -l 127.0.0.1 -p $port -t 2 >"$dir/out" 2>"$dir/err" ||
	bad "the container starts"
pid=$(podman inspect -f '{{.State.Pid}}' "$name" 2>/dev/null)
check "the server runs in a container" [ "${pid:-0}" -gt 0 ]
check "in a PID namespace of its own" grep -qE '^NSpid:.*[[:space:]]1$' "/proc/$pid/status"
check "under a seccomp filter" grep -qE '^Seccomp:.2' "/proc/$pid/status"
grep -cE ' r-xp ' "/proc/$pid/maps" >"$dir/before"
start "$tool" -v --no-tui -P request=/bin/memcached:resp_finish \
	-P reply=tracepoint:syscalls:sys_enter_sendmsg -d 240s -o "$dir/profile.coz" -p "$pid"
wait_for 20 has "$dir/err" 'attached to 1 process' || bad "it attaches"
memcaslap -s 127.0.0.1:$port -T 1 -c 16 -x 2000000 >"$dir/load" 2>&1 || bad "the load runs"
check "cozbpf was there all the time" kill -INT "$tool_pid"
ended 20 0 "it ends when told"
cat "$dir/load"
says "'/bin/memcached': [0-9]{4,} lines in scope" "process $pid: pause handler taken out;" \
	"process $pid \(memcached\): [0-9]{4,} samples" \
	'^[5-9][0-9] experiments|^[1-9][0-9]{2,} experiments'
# In a server with so little work a line gains little: it is ranked, or named with what is known of
# it.
says '^ +(1  [a-z_]+\.c:[0-9]+ |[a-z_]+\.c:[0-9]+: slope )'
requests=$(awk '/^(cmd_get|cmd_set):/ { n += $2 } END { print n + 0 }' "$dir/load")
# Each request is read and answered alone, since the load has one under way on each connection.
# There are no other commands, so the numbers are equal.
check "replies: $(total reply) calls of sendmsg, requests of the load: $requests" is \
	"$(total reply)" '==' "$requests"
check "resp_finish() says so, too: $(total request)" is "$(total request)" '==' "$requests"
grep -cE ' r-xp ' "/proc/$pid/maps" >"$dir/after"
check "nothing is left in it" same "$dir/before" "$dir/after"
ask="printf 'version\r\n' >&3 && head -n 1 <&3 | grep -q VERSION"
check "it still answers" bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && $ask"
cat "$dir/err"
finish
