#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The manifests of docs/containers against Kubernetes' published schemas (check.mjs), by packages of
# npm whose versions and checksums package-lock.json has. Needs no root, and the network.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v npm >/dev/null || {
	echo "no npm"
	exit 77
}
cp tests/manifests/{package.json,package-lock.json,check.mjs} "$dir"
if ! (cd "$dir" && timeout 120 npm ci --ignore-scripts >npm.log 2>&1); then
	tail -n 3 "$dir/npm.log"
	echo "npm gives no schemas: no network?"
	exit 77
fi
documents=$PWD/docs/containers
cd "$dir" && node check.mjs "$documents"
