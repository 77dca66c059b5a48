# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Packages of Debian's suites that this machine is not of, unpacked and not installed: apt has a
# state of its own, takes the mirror from this machine's sources, and checks signatures. Sourced by
# scripts that set $state (apt's folder) and $suites, and have die CAUSE HINT [STATUS].
# shellcheck disable=SC2154 # state and suites are the caller's
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Images of containers turn its cache off, and each call takes 3 s then.
own_apt() { # PROGRAM ARGUMENTS...
	"$1" -q -o Dir::Etc::sourcelist="$state/sources" -o Dir::Etc::sourceparts=- \
		-o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status" \
		-o Dir::Cache="$state/cache" -o Dir::Cache::pkgcache=packages \
		-o Dir::Cache::srcpkgcache=sources -o APT::Sandbox::User=root \
		-o APT::Architecture=amd64 -o Acquire::Languages=none \
		-o Acquire::AllowInsecureRepositories=false -o Acquire::http::Timeout=20 \
		-o APT::Get::AllowUnauthenticated=false "${@:2}" </dev/null
}

# Writes the sources and fetches the lists. A suite that the mirror no longer has is told of in
# $state/update, and matters only to what is wanted of it. BY_HAND: what works without apt.
update_lists() { # BY_HAND
	local mirror suite
	command -v apt-get >/dev/null || die "no apt-get here" "$1"
	[ -r $keyring ] || die "no keys to check signatures with" \
		"install debian-archive-keyring"
	mirror=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' \
		'Created-By: Packages' | sed -n 's/^Debian|Debian|main|//p' | head -n 1)
	[ -n "$mirror" ] || die "no mirror of Debian among this machine's package lists" \
		"name one in /etc/apt/sources.list and run 'sudo apt-get update'" 4
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	: >"$state/status"
	for suite in "${suites[@]}"; do
		echo "deb [arch=amd64 signed-by=$keyring] $mirror $suite main"
	done >"$state/sources"
	own_apt apt-get update >"$state/update" 2>&1 || true
}

# Unpacks packages into a new folder.
unpack_packages() { # FOLDER PACKAGE...
	local deb
	rm -rf "$1"
	mkdir -p "$1/debs"
	(cd "$1/debs" && own_apt apt-get download "${@:2}") >"$state/log" 2>&1 || {
		grep -E '^[EW]:' "$state/log" >&2
		rm -rf "$1"
		die "${*:2} cannot be downloaded" "see apt's messages above" 4
	}
	for deb in "$1/debs"/*.deb; do
		dpkg -x "$deb" "$1" || die "'$deb' cannot be unpacked" "is the disk full?"
	done
	rm -rf "$1/debs"
}
