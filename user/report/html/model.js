// SPDX-License-Identifier: BSD-3-Clause
// The page's data: reads, filters and sorts it, and writes numbers as text. Only reading it touches
// the document.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const KEYS = ['slope', 'max', 'payback', 'impact'];
const VERDICTS = {
	'optimize': 'optimize',
	'contention': 'contention',
	'no-effect': 'no effect',
	'not-enough-data': 'not enough data',
};

// "a/b.c:12" -> ["a/b.c", 12]; a name that is no place in a file has no number.
function splitLine(line) {
	const found = /^(.*):([0-9]+)$/s.exec(line);
	return found ? [found[1], Number(found[2])] : [line, 0];
}

const sources = new Map(data.sources.map(s => [s.file, s]));
data.series.forEach((s, index) => {
	s.index = index;
	s.id = 'chart-' + index;
	s.label = data.labels[s.line];
	s.name = data.lines[s.line];
	[s.file, s.number] = splitLine(s.name);
	s.kind = s.number ? 'line' : 'function';
	s.progress = data.points[s.point];
	s.source = sources.get(s.file);
	s.lines = [];
});
// A line has the function that holds it as its holder, and a function has its lines.
for (const s of data.series) {
	s.holder = data.series[s.holder] ?? null;
	s.holder?.lines.push(s);
}

const isDecided = s => s.verdict !== 'not-enough-data';
// As estimate_is_below(): a function with a verdict takes its lines along.
const isBelow = s => s.holder !== null && isDecided(s.holder);

// A line's name with its function's.
const placeOf = s => s.holder ? `${s.label} in ${s.holder.label}` : s.label;

const two = v => v === null ? '' : v.toFixed(2).replace('-', '−');

function percent(v, digits = 1) {
	return v === null
		? 'unknown'
		: (100 * v).toFixed(digits).replace(/^-(0\.?0*)$/, '$1').replace('-', '−') + ' %';
}

function signed(v, digits = 1) {
	return (v > 0 && Number((100 * v).toFixed(digits)) > 0 ? '+' : '') + percent(v, digits);
}

function time(ns) {
	if (ns === null)
		return 'unknown';
	const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
	const [unit, name] = units.find(([u]) => Math.abs(ns) >= 0.9995 * u) ?? [1, 'ns'];
	return Number((ns / unit).toPrecision(3)) + ' ' + name;
}

function count(n, word) {
	return n.toLocaleString('en') + ' ' + word + (n === 1 ? '' : 's');
}

// The order of cozbpf report: answers first, then intervals that are too wide, then the rest, each
// by the lower end of the interval. Lines stand below their function.
function compare(key) {
	const of = s => s.keys[key] ?? -Infinity, top = s => isBelow(s) ? s.holder : s;
	const alone = (a, b) => a.order - b.order || (of(a) === of(b) ? 0 : of(b) - of(a)) ||
		(a.name < b.name ? -1 : a.name > b.name ? 1 : a.index - b.index);
	return (a, b) => alone(top(a), top(b)) || isBelow(a) - isBelow(b) || alone(a, b);
}

// The rank of each: lines below their function have none.
function ranks(series) {
	let n = 0;
	return series.map(s => isBelow(s) ? '' : `${++n}. `);
}

// What a function's lines with an answer gain together, and their samples.
function togetherOf(s) {
	const answered = s.lines.filter(isDecided);
	const sum = of => answered.reduce((n, l) => n + of(l), 0);
	return {n: answered.length, slope: sum(l => l.slope[0]), samples: sum(l => l.samples)};
}

// Of a progress point: a latency has the name of its pair's throughput.
const pointKey = s => s.point + (s.latency ? 'l' : '');

function selects(filter) {
	return s => (filter.point === '' || pointKey(s) === filter.point) &&
		(filter.file === '' || [s.file, s.holder?.file].includes(filter.file)) &&
		s.experiments >= filter.least &&
		(filter.verdict === '' ||
			(filter.verdict === 'answers'
				? isDecided(s)
				: s.verdict === filter.verdict));
}

// The frame holds values and regressions, and cuts the ends of intervals. It is never so narrow
// that noise looks like hills.
function extent(series) {
	const ret = {min: -0.05, max: 0.1};
	for (const s of series) {
		for (const p of s.points) {
			ret.min = Math.min(ret.min, p[1]);
			ret.max = Math.max(ret.max, p[1]);
		}
	}
	const step = ret.max - ret.min > 0.6 ? 0.2 : ret.max - ret.min > 0.3 ? 0.1 : 0.05;
	return {
		min: Math.max(-1, Math.floor(ret.min / step - 1e-9) * step),
		max: Math.min(1, Math.ceil(ret.max / step + 1e-9) * step),
		step,
	};
}

// Program speedup of a quantile: the saved share of the baseline's. For latencies only.
function quantileGain(s, i, quantile) {
	const at = 3 * quantile, now = s.latencies?.[0][at], then = s.latencies?.[i + 1][at];
	return now > 0 && then !== null && then !== undefined ? 1 - then / now : null;
}

function pointWords(s, i) {
	const [speedup, gain, lo, hi, , experiments, visits] = s.points[i];
	const words = [
		`${s.kind} ${percent(speedup, 0)} faster`,
		`program ${signed(gain)}` +
			(lo === null ? '' : ` (${percent(lo)} to ${percent(hi)})`)
	];
	if (s.latencies) {
		const f = s.latencies[i + 1];
		const figure = (name, q) => f[3 * q] === null ? '' : `${name} ${time(f[3 * q])}`;
		words.push(['mean', 'p50', 'p90', 'p99'].map(figure).filter(t => t).join(', '));
	}
	words.push(`${count(experiments, 'experiment')}, ${count(visits, 'visit')}`);
	return words;
}
