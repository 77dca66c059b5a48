#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of `cozbpf blocks report --html` in a browser (blocks-page.js). Needs a Chromium (package
# chromium-headless-shell) and node; needs no root.
# shellcheck source-path=SCRIPTDIR source=fixtures/expect.sh
. "$(dirname "$0")/fixtures/expect.sh"
need_browser
python3 "$root"/tests/e2e/fixtures/blocks_log.py 41 12 >"$dir/known.log" &&
	python3 "$root"/tests/e2e/fixtures/blocks_log.py 300 400 >"$dir/many.log" || exit 1
python3 "$root"/tests/e2e/fixtures/blocks_log.py 41 2 aa11bb22cc33 99 0 >"$dir/untimed.log" ||
	exit 1
"$tool" blocks report --html "$dir/untimed.html" "$dir/untimed.log" &&
	"$tool" blocks report --html "$dir/known.html" "$dir/known.log" &&
	"$tool" blocks report --html "$dir/all.html" --all "$dir/known.log" &&
	"$tool" blocks report --html "$dir/many.html" --all --threshold 1 "$dir/many.log" || exit 1
node "$root"/tests/e2e/blocks-page.js "$dir"
