// SPDX-License-Identifier: BSD-3-Clause
// The data of the page of blocks, its numbers in words, and what makes elements. All text is set as
// text, never as HTML.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);

// An element with attributes and children, which are elements or text.
function element(name, attributes = {}, ...children) {
	const e = name.startsWith('svg:')
		? document.createElementNS('http://www.w3.org/2000/svg', name.slice(4))
		: document.createElement(name);
	for (const [key, value] of Object.entries(attributes))
		if (value !== undefined && value !== false)
			e.setAttribute(key, value);
	e.append(...children);
	return e;
}

// As in the text report: three figures.
function time(ns) {
	if (ns === null || ns === undefined)
		return 'unknown';
	const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];
	const [size, name] = units.find(u => ns >= 0.9995 * u[0]) || units[3];
	const v = ns / size;
	return `${v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0)} ${name}`;
}

function times(n) {
	const [size, name] = [[1e12, ' T'], [1e9, ' G'], [1e6, ' M']]
		.find(u => n >= 0.9995 * u[0]) || [1, ''];
	return (n / size).toFixed(name && n < 99.95 * size ? 1 : 0) + name;
}

// Of a run's CPU time.
function share(ns) {
	if (ns === null || !data.cpu)
		return 'unknown';
	const v = ns / data.cpu;
	return v >= 9.995 ? `${v.toFixed()} x` : `${(100 * v).toFixed(v < 0.9995 ? 1 : 0)} %`;
}

const interval = ([, lo, hi]) => lo === null ? '' : ` (${share(lo)} to ${share(hi)})`;

const count = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;

// Of a block in runs; null: it was not timed in any.
const usualTime = runs => median(runs.map(v => v[5]).filter(t => t !== null));

function median(values) {
	const v = [...values].sort((a, b) => a - b), n = v.length;
	return n ? (v[n - 1 >> 1] + v[n >> 1]) / 2 : null;
}
