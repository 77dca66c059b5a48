#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Coz's web viewer (Debian's coz-profiler) reads what the tool writes: no warning, the same lines,
# points and speedups. With Coz's keys alone the program speedups are the same to the last digits.
# Needs node and the viewer; needs no root.
set -eu
cd "$(dirname "$0")/../.."
viewer=${COZ_VIEWER:-/usr/share/coz-profiler/viewer}/js/profile.js
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
[ -r "$viewer" ] || { echo "Coz's viewer is not installed (package coz-profiler)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The tool's own objects: to compile all of user/core/ again takes long.
objects=()
for source in user/core/*/*.c user/report/json*.c; do
	objects+=("${BUILD:-build}/${source%.c}.o")
done
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -Iinclude -Iuser "-I${BUILD:-build}/gen" -O1 \
	-o "$dir/write_profile" \
	tests/e2e/write_profile.c "${objects[@]}" -lcjson -liberty -lm

for keys in "" own-keys; do
	"$dir/write_profile" "$dir/test.coz" $keys >"$dir/ours.json"
	VIEWER=$viewer PROFILE=$dir/test.coz OURS=$dir/ours.json OWN_KEYS=$keys node <<'JS'
const assert = require('assert'), fs = require('fs'), vm = require('vm');
const read = name => fs.readFileSync(process.env[name], 'utf8');
const context = {};
vm.runInNewContext(read('VIEWER') + '\nthis.Profile = Profile;', context);
const warnings = [];
const warn = (title, text) => warnings.push(title + ': ' + text);
const profile = new context.Profile(read('PROFILE'), null, null, () => 1, warn);
assert.deepStrictEqual(warnings, []);

// Both as {line: {point: {speedup: program speedup}}}.
const theirs = {}, ours = {};
for (const line of profile.getSpeedupData(1))
	for (const point of line.progress_points)
		for (const m of point.measurements.filter(m => m.speedup > 0)) {
			const points = theirs[line.name] ??= {};
			(points[point.name] ??= {})[m.speedup] = m.progress_speedup;
		}
for (const line of JSON.parse(read('OURS')).lines)
	for (const p of line.points) {
		const points = ours[line.line] ??= {};
		(points[line.progress] ??= {})[p.line_speedup] = p.raw_program_speedup;
	}

let compared = 0;
const keys = object => Object.keys(object).sort();
assert.deepStrictEqual(keys(theirs), ['/usr/src/dir with blank/b.cpp:2', 'src/a.c:10']);
assert.deepStrictEqual(keys(ours), keys(theirs));
for (const line in theirs) {
	assert.deepStrictEqual(keys(theirs[line]), ['requests done', 'src/main.c:12']);
	for (const point in theirs[line]) {
		const their = theirs[line][point], our = ours[line][point];
		assert.deepStrictEqual(keys(our), keys(their));
		for (const speedup in their) {
			// JSON holds six decimals. Spans leave one visit in 100 out of both sums,
			// so ratios differ by a percent at most.
			const tolerance = process.env.OWN_KEYS ? 0.01 : 1e-6;
			const difference = Math.abs(their[speedup] - our[speedup]);
			const where = `${line} ${point} ${speedup}`;
			assert(difference <= tolerance, `${where}: ${difference}`);
			compared++;
		}
	}
}
assert.strictEqual(compared, 2 * 2 * 6);
JS
done
