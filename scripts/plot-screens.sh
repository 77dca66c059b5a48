#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the pictures of the page of `cozbpf plot` in docs/screens/ with a headless Chromium, from a
# real profile: PROFILE, or a minute of tests/workloads/ferret.c (needs root).
# usage: scripts/plot-screens.sh [PROFILE]
set -euo pipefail
cd "$(dirname "$0")/.."
tool=${COZBPF:-${BUILD:-build}/cozbpf}
out=docs/screens
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p $out
if [ $# -eq 0 ]; then
	"$tool" -q -P item=progress --experiment-length 100ms -o "$dir/profile.coz" \
		-- "${BUILD:-build}/tests/workloads/ferret" --seconds 60
	set -- "$dir/profile.coz"
fi
cp "$1" "$dir/ferret.coz"
"$tool" plot -o "$dir/page.html" "$dir/ferret.coz"
node - "$PWD" "$dir/page.html" "$out" <<'JS'
const [, , root, page, out] = process.argv;
const {Browser} = require(root + '/tests/e2e/browser.js');
(async () => {
	const b = new Browser();
	await b.start();
	const picture = async (name, width, height, scheme) => {
		await b.colours(scheme);
		await b.size(width, height);
		await b.open(page);
		await b.frame();
		await b.frame();
		await b.screenshot(`${out}/${name}.png`);
	};
	await picture('plot-light', 1100, 1150, 'light');
	await picture('plot-dark', 1100, 1150, 'dark');
	await picture('plot-narrow', 400, 1150, 'light');
	await b.stop();
	process.exit(0);
})().catch(e => {
	console.error(e.stack);
	process.exit(1);
});
JS
ls -l $out
