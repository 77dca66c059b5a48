#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# As whom the command runs and to whom the profile belongs: under sudo the invoking user, unless
# --user names another one. With file capabilities no root is needed.
# At 100 % hardly any virtual time passes in such programs: an experiment may not end in their time.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture mirror
user=nobody
uid=$(id -u $user) gid=$(id -g $user) home=$(getent passwd $user | cut -d: -f6)
mkdir "$dir/theirs" "$dir/ours"
chown "$uid:$gid" "$dir/theirs"
chmod 755 "$dir/theirs" "$dir/mirror"
cp "$tool" "${tool%/*}/libcozbpf-shim.so" "$dir"
chmod -R a+rX "$dir"
chmod 700 "$dir/ours"
line=$(line_of mirror HOT)
export MIRROR_MS=600 MIRROR_SHOW=1
with=(-q -P progress --fixed-line "$line" --fixed-speedup 50 --experiment-length 20ms)

theirs() { # FILE
	check "${1##*/} belongs to $user" [ "$(stat -c %u:%g "$1")" = "$uid:$gid" ]
}

echo "-- root, without sudo"
run 0 "$dir/cozbpf" "${with[@]}" -o "$dir/ours/profile.coz" -- "$dir/mirror"
prints '^umask [0-9]+ ids 0 0 0 0$'
check "the profile is root's" [ "$(stat -c %u "$dir/ours/profile.coz")" -eq 0 ]

echo "-- under sudo"
run 0 env SUDO_UID="$uid" SUDO_GID="$gid" SUDO_USER=$user HOME=/root "$dir/cozbpf" "${with[@]}" \
	-o "$dir/theirs/sudo.coz" -- "$dir/mirror"
prints "^umask [0-9]+ ids $uid $uid $gid $gid\$" "^env HOME=$home\$" "^env USER=$user\$" \
	"^env LOGNAME=$user\$" "^CapEff:.0+\$"
theirs "$dir/theirs/sudo.coz"
check "it holds experiments" has "$dir/theirs/sudo.coz" '^experiment'
: >"$dir/ours/kept"
run 1 env SUDO_UID="$uid" SUDO_GID="$gid" "$dir/cozbpf" "${with[@]}" -o "$dir/ours/kept" \
	-- "$dir/mirror"
says "cannot write the profile '.*/ours/kept': Permission denied" 'rights of the user'
ln -s /etc/hostname "$dir/theirs/link"
run 1 env SUDO_UID="$uid" SUDO_GID="$gid" "$dir/cozbpf" "${with[@]}" -o "$dir/theirs/link" \
	-- "$dir/mirror"
says 'Permission denied'
run 0 env SUDO_UID=0 SUDO_GID=0 "$dir/cozbpf" "${with[@]}" -o "$dir/ours/profile.coz" \
	-- "$dir/mirror"
prints '^umask [0-9]+ ids 0 0 0 0$'


echo "-- a page and a merged profile, under sudo"
sudo=(env "SUDO_UID=$uid" "SUDO_GID=$gid")
cd "$dir/theirs" || exit 1
"${sudo[@]}" "$dir/cozbpf" plot -o page.html sudo.coz 2>"$dir/err" # whatever it has to say
theirs "$dir/theirs/page.html"
run 0 "${sudo[@]}" "$dir/cozbpf" merge -o merged.coz sudo.coz
theirs "$dir/theirs/merged.coz"
ln -s "$dir/ours/kept" planted
for output in planted "$dir/ours/new"; do
	run 1 "${sudo[@]}" "$dir/cozbpf" plot -o "$output" sudo.coz
	says "cannot write '.*': Permission denied"
	run 1 "${sudo[@]}" "$dir/cozbpf" merge -o "$output" sudo.coz
	says "cannot write '.*': Permission denied"
done
check "nothing was written" [ ! -s "$dir/ours/kept" ]
check "no file was made" [ ! -e "$dir/ours/new" ]
run 1 "${sudo[@]}" "$dir/cozbpf" report "$dir/ours/kept"
says 'Permission denied' 'rights of the user who called sudo'
# Root's own shell follows no link that another user has planted.
chown -h "$uid" planted
run 1 "$dir/cozbpf" plot -o planted sudo.coz
says "cannot write 'planted': it is a link of another user"
check "nothing was written there" [ ! -s "$dir/ours/kept" ]
cd "$OLDPWD" || exit 1

# A file of the user's in a directory that is not; and one that is mounted by itself, as containers
# have some.
install -d -m 755 "$dir/closed"
install -o "$uid" -g "$gid" -m 644 /dev/null "$dir/closed/merged.coz"
run 0 "${sudo[@]}" "$dir/cozbpf" merge -o "$dir/closed/merged.coz" "$dir/theirs/sudo.coz"
check "it holds the profile" same "$dir/closed/merged.coz" "$dir/theirs/merged.coz"
: >"$dir/ours/mounted"
mount --bind "$dir/ours/kept" "$dir/ours/mounted" || bad "a file is mounted"
run 0 "$dir/cozbpf" merge -o "$dir/ours/mounted" "$dir/theirs/sudo.coz"
umount "$dir/ours/mounted"
check "the mounted file was written" same "$dir/ours/kept" "$dir/theirs/merged.coz"

# A group of root's does not open what the user's groups do not.
install -d -m 770 -g disk "$dir/disk"
run 1 setpriv --groups disk "${sudo[@]}" "$dir/cozbpf" "${with[@]}" -o "$dir/disk/profile.coz" \
	-- "$dir/mirror"
says 'Permission denied'

echo "-- by doas or pkexec"
run 0 env DOAS_USER=$user "$dir/cozbpf" "${with[@]}" -o "$dir/theirs/doas.coz" -- "$dir/mirror"
prints "^umask [0-9]+ ids $uid $uid $gid $gid\$"
theirs "$dir/theirs/doas.coz"
run 0 env PKEXEC_UID="$uid" "$dir/cozbpf" "${with[@]}" -o "$dir/theirs/pkexec.coz" \
	-- "$dir/mirror"
prints "^umask [0-9]+ ids $uid $uid $gid $gid\$"

echo "-- --user"
run 0 "$dir/cozbpf" "${with[@]}" --user $user -o "$dir/theirs/user.coz" -- "$dir/mirror"
prints "^umask [0-9]+ ids $uid $uid $gid $gid\$" "^env HOME=$home\$"
theirs "$dir/theirs/user.coz"
run 0 "$dir/cozbpf" "${with[@]}" --user "$uid" -o "$dir/theirs/user.coz" -- "$dir/mirror"
prints "^umask [0-9]+ ids $uid $uid $gid $gid\$"
run 0 env SUDO_UID="$uid" SUDO_GID="$gid" "$dir/cozbpf" "${with[@]}" --user root \
	-o "$dir/ours/profile.coz" -- "$dir/mirror"
prints '^umask [0-9]+ ids 0 0 0 0$'

echo "-- a shim that the user cannot read"
cp "$tool" "${tool%/*}/libcozbpf-shim.so" "$dir/ours"
run 0 "$dir/ours/cozbpf" -v --no-tui "${with[@]:1}" --user $user -o "$dir/theirs/user.coz" \
	-- "$dir/mirror"
says "warning: '.*/ours/libcozbpf-shim.so' is not preloaded" 'pause handler injected'
says_not 'ld\.so'

echo "-- file capabilities"
cp "$dir/cozbpf" "$dir/capable"
as_user=("${in_front[@]}" setpriv --reuid="$uid" --regid="$gid" --clear-groups)
few=cap_bpf,cap_perfmon,cap_sys_ptrace
if ! setcap $few,cap_sys_admin+ep "$dir/capable" 2>/dev/null; then
	echo "     the file system of $dir takes no capabilities"
elif [ "$("${as_user[@]}" "$dir/capable" --version 2>/dev/null | wc -l)" -eq 0 ]; then
	echo "     capabilities of files are not granted here"
else
	chmod 755 "$dir/capable"
	run 0 "${as_user[@]}" "$dir/capable" "${with[@]}" \
		-o "$dir/theirs/capable.coz" -- "$dir/mirror"
	prints "^umask [0-9]+ ids $uid $uid $gid $gid\$" '^CapEff:.0+$' '^CapPrm:.0+$' \
		'^CapAmb:.0+$'
	theirs "$dir/theirs/capable.coz"
	check "it holds experiments" has "$dir/theirs/capable.coz" '^experiment'
	run 3 "${as_user[@]}" "$dir/capable" "${with[@]}" --user root -o "$dir/theirs/capable.coz" \
		-- "$dir/mirror"
	says "only root can run the command as 'root'"

	# A breakpoint is in the memory of all processes that map the file.
	cp "$workloads/abab" "$dir/roots"
	start "$dir/roots" --seconds 30
	byte() { # at the first instruction of progress() in the process
		local base at
		base=$(awk '/roots$/ { sub(/-.*/, "", $1); print $1; exit }' "/proc/$tool_pid/maps")
		at=$(nm "$dir/roots" | awk '$3 == "progress" { print $1 }')
		dd "if=/proc/$tool_pid/mem" bs=1 skip=$((0x$base + 0x$at)) count=1 2>/dev/null |
			od -An -tx1
	}
	# shellcheck disable=SC2317 # wait_for calls it
	is_mapped() { [ -n "$(byte)" ]; }
	wait_for 20 is_mapped || bad "the other process has started"
	whole=$(byte)
	broken=0
	probe() { # PROFILE TOOL...
		local profile=$1
		shift
		"$@" run --no-tui "${with[@]:1}" -P "other=$dir/roots:progress" \
			-o "$dir/theirs/$profile" -- "$dir/mirror" >"$dir/out" 2>"$dir/err" &
		while kill -0 $! 2>/dev/null; do
			[ "$(byte)" = "$whole" ] || broken=1
			sleep 0.05
		done
		wait $!
	}
	probe ours "$dir/cozbpf"
	check "root's probe is seen there" [ $broken -eq 1 ]
	# shellcheck disable=SC2317 # wait_for calls it
	is_whole() { [ "$(byte)" = "$whole" ]; }
	wait_for 20 is_whole || bad "root's probe is taken away"
	broken=0
	probe theirs "${as_user[@]}" "$dir/capable"
	says "no process of the target that is yours runs '.*/roots'"
	check "a user's probe is not" [ $broken -eq 0 ]
	kill "$tool_pid"
	library=$(ldd "$dir/mirror" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
	run 0 "${as_user[@]}" "$dir/capable" "${with[@]}" -P "c=$library:write" \
		-o "$dir/theirs/libc.coz" -- "$dir/mirror"

	# Enough where uprobes ask for no more; else doctor and run say so alike.
	echo "-- file capabilities without CAP_SYS_ADMIN"
	setcap $few+ep "$dir/capable"
	"${as_user[@]}" "$dir/capable" doctor >"$dir/doctor" 2>&1
	status=$?
	run $status "${as_user[@]}" "$dir/capable" "${with[@]}" -o "$dir/theirs/few.coz" \
		-- "$dir/mirror"
	if [ $status -ne 0 ]; then
		check "doctor names it" has "$dir/doctor" '^missing +uprobes .*CAP_SYS_ADMIN'
		says 'hint: probing may need CAP_SYS_ADMIN here: .*--end-to-end'
	fi
fi
finish
