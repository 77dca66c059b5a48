#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of `cozbpf blocks report --html` in a browser (blocks-page.js). Needs a Chromium (package
# chromium-headless-shell) and node; needs no root.
set -u
cd "$(dirname "$0")/../.." || exit 1
tool=$(realpath "${COZBPF:-${BUILD:-build}/cozbpf}")
[ -x "$tool" ] || { echo "'$tool' is not built: make all"; exit 1; }
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
node -e 'process.exit(require("./tests/e2e/browser.js").find() ? 0 : 1)' ||
	{ echo "no Chromium is installed (package chromium-headless-shell)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 tests/e2e/fixtures/blocks_log.py 41 12 >"$dir/known.log" &&
	python3 tests/e2e/fixtures/blocks_log.py 300 400 >"$dir/many.log" || exit 1
"$tool" blocks report --html "$dir/known.html" "$dir/known.log" &&
	"$tool" blocks report --html "$dir/all.html" --all "$dir/known.log" &&
	"$tool" blocks report --html "$dir/many.html" --all --threshold 1 "$dir/many.log" || exit 1
node tests/e2e/blocks-page.js "$dir"
