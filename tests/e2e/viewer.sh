#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Coz's web viewer (Debian's coz-profiler) reads what the tool writes: no warning, the same lines, points and speedups, and, where only
# Coz's keys are there, the same program speedups to the last digits. Needs node and the viewer; needs no root.
set -eu
cd "$(dirname "$0")/../.."
viewer=${COZ_VIEWER:-/usr/share/coz-profiler/viewer}/js/profile.js
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
[ -r "$viewer" ] || { echo "Coz's viewer is not installed (package coz-profiler)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -Iinclude -Iuser -O1 -o "$dir/write_profile" tests/e2e/write_profile.c \
	user/core/{profile,estimate,experiment,text}/*.c user/report/json.c -lcjson -lm

for keys in "" own-keys; do
	"$dir/write_profile" "$dir/test.coz" $keys >"$dir/ours.json"
	VIEWER=$viewer PROFILE=$dir/test.coz OURS=$dir/ours.json OWN_KEYS=$keys node <<'JS'
const assert = require('assert'), fs = require('fs'), vm = require('vm');
const read = name => fs.readFileSync(process.env[name], 'utf8');
const context = {};
vm.runInNewContext(read('VIEWER') + '\nthis.Profile = Profile;', context);
const warnings = [];
const profile = new context.Profile(read('PROFILE'), null, null, () => 1, (title, text) => warnings.push(title + ': ' + text));
assert.deepStrictEqual(warnings, []);

// Both as {line: {point: {speedup: program speedup}}}.
const theirs = {}, ours = {};
for (const line of profile.getSpeedupData(1))
	for (const point of line.progress_points)
		for (const m of point.measurements)
			if (m.speedup > 0)
				((theirs[line.name] ??= {})[point.name] ??= {})[m.speedup] = m.progress_speedup;
for (const line of JSON.parse(read('OURS')).lines)
	for (const p of line.points)
		((ours[line.line] ??= {})[line.progress] ??= {})[p.line_speedup] = p.raw_program_speedup;

let compared = 0;
assert.deepStrictEqual(Object.keys(theirs).sort(), ['/usr/src/dir with blank/b.cpp:2', 'src/a.c:10']);
assert.deepStrictEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
for (const line in theirs) {
	assert.deepStrictEqual(Object.keys(theirs[line]).sort(), ['requests done', 'src/main.c:12']);
	for (const point in theirs[line]) {
		assert.deepStrictEqual(Object.keys(ours[line][point]).sort(), Object.keys(theirs[line][point]).sort());
		for (const speedup in theirs[line][point]) {
			// JSON holds six decimals. With spans one visit in 100 is left out of both sums: ratios differ by no more than a percent.
			const tolerance = process.env.OWN_KEYS ? 0.01 : 1e-6;
			const difference = Math.abs(theirs[line][point][speedup] - ours[line][point][speedup]);
			assert(difference <= tolerance, `${line} ${point} ${speedup}: ${difference}`);
			compared++;
		}
	}
}
assert.strictEqual(compared, 2 * 2 * 6);
JS
done
