#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes a Debian package of what `make install` installs: BUILD/cozbpf_VERSION-1_ARCH.deb. This
# script writes what Debian's own tools would have in debian/.
# usage: [ARCH=arm64] scripts/package.sh BUILD VERSION   (make deb). Needs dpkg-dev; needs no root.
# ARCH=arm64 on another machine: a cross build; needs also the group arm64 of install-deps.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 version=$2
work=$build/package
root=$work/root
for tool in dpkg-shlibdeps dpkg-buildflags dpkg-deb; do
	command -v "$tool" >/dev/null || {
		echo "package: error: '$tool' is not installed" >&2
		echo "package: hint: run 'sudo scripts/install-deps.sh package'" >&2
		exit 1
	}
done
host=$(dpkg --print-architecture)
case ${ARCH:-} in
x86) arch=amd64 ;;
*) arch=${ARCH:-$host} ;;
esac
cross=
if [ "$arch" != "$host" ]; then
	cross=aarch64-linux-gnu-
	scripts/arm64-sysroot.sh
fi
deb=$build/cozbpf_$version-1_$arch.deb
author=$(git log -1 --format=%ae 2>/dev/null || echo root@localhost)
maintainer=${DEBFULLNAME:-the cozbpf authors}' <'${DEBEMAIL:-$author}'>'
# The same commit gives the same package, to the byte.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
export DEB_HOST_ARCH=$arch # for dpkg-buildflags

# Debian's flags for hardening; no path of this machine in the binaries.
cflags="$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS) -ffile-prefix-map=$PWD=."
ldflags=$(DEB_LDFLAGS_MAINT_APPEND=-Wl,-z,now dpkg-buildflags --get LDFLAGS)
rm -rf "$root" "$work/debian"
mkdir -p "$work"
# The header of Debian's coz-profiler has the same name, so ours stands aside.
make --no-print-directory -j"$(nproc)" BUILD="$work/build" PREFIX=/usr \
	INCLUDEDIR=/usr/include/cozbpf DESTDIR="$PWD/$root" CFLAGS="$cflags" LDFLAGS="$ldflags" \
	all install >"$work.log" 2>&1 || {
	cat "$work.log" >&2
	exit 1
}
"${cross}strip" --strip-unneeded --remove-section=.comment "$root/usr/bin/cozbpf" \
	"$root/usr/lib/cozbpf/libcozbpf-shim.so"
chmod 644 "$root/usr/lib/cozbpf/libcozbpf-shim.so"

doc=$root/usr/share/doc/cozbpf
gzip -9n "$root/usr/share/man/man1/cozbpf.1"
mv "$doc/CHANGELOG.md" "$doc/changelog"
{
	printf 'cozbpf (%s-1) unstable; urgency=medium\n\n' "$version"
	printf '  * The commit %s; what changed is in changelog.gz.\n\n' \
		"$(git describe --always --dirty 2>/dev/null || echo unknown)"
	printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} >"$doc/changelog.Debian"
gzip -9n "$doc/changelog" "$doc/changelog.Debian"
{
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'
	printf 'Upstream-Name: cozbpf\n\n'
	printf 'Files: *\nCopyright: 2026, the cozbpf authors\nLicense: BSD-3-Clause\n'
	sed -n '5,$p' LICENSE | sed -e 's/^$/./' -e 's/^/ /'
	printf '\nFiles: user/report/pprof/*\nCopyright: 2016, Google Inc.\nLicense: Apache-2.0\n'
	printf ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
} >"$doc/copyright"
rm "$doc/LICENSE"
mkdir -p "$root/usr/share/lintian/overrides" "$root/DEBIAN" "$work/debian"
cat >"$root/usr/share/lintian/overrides/cozbpf" <<'EOF'
# The shim runs in a signal handler of any program: it uses no library at all, by design.
cozbpf: shared-library-lacks-prerequisites [usr/lib/cozbpf/libcozbpf-shim.so]
# It is not in Debian: there is no intent to package to be closed.
cozbpf: initial-upload-closes-no-bugs
EOF

{
	printf 'Source: cozbpf\nMaintainer: %s\n\nPackage: cozbpf\n' "$maintainer"
	printf 'Architecture: any\nDepends: ${shlibs:Depends}\nDescription: x\n'
} >"$work/debian/control"
needed() { # PROGRAM: its libraries, but for the loader
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-' | sort
}

# dpkg knows nothing of another processor's libraries here. Their packages are those of this one's.
linked=$root/usr/bin/cozbpf
if [ -n "$cross" ]; then
	env -u MAKEFLAGS -u ARCH -u BUILD make --no-print-directory -j"$(nproc)" all \
		>"$work.log" 2>&1
	linked=build/cozbpf
	cmp -s <(needed "$linked") <(needed "$root/usr/bin/cozbpf") || {
		echo "package: error: on $arch the tool needs other libraries than on $host" >&2
		exit 1
	}
fi
linked=$PWD/$linked
depends=$(cd "$work" && DEB_HOST_ARCH=$host dpkg-shlibdeps -O "$linked" 2>/dev/null |
	sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "package: error: dpkg-shlibdeps found no library" >&2; exit 1; }
cat >"$root/DEBIAN/control" <<EOF
Package: cozbpf
Version: $version-1
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: $depends
Recommends: libdebuginfod1
Suggests: coz-profiler
Section: devel
Priority: optional
Description: causal profiler for programs as they are, by eBPF
 An ordinary profiler says where the time goes. This one says what a program
 would gain if a line of it were faster, by experiment, while it runs: it makes
 a line seem faster by holding all other threads back, and sees what becomes of
 the program's progress.
 .
 The method is that of Coz. The mechanism is eBPF: nothing is linked, patched or
 intercepted, processes that run already can be attached to, and any way in
 which threads wait for each other is understood. It needs Linux 5.15 or later,
 on x86-64 or arm64.
EOF
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -type d -exec chmod 755 {} +
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$deb" >/dev/null
echo "$deb"
