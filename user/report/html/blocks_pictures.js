// SPDX-License-Identifier: BSD-3-Clause
// The pictures of the page of blocks: box plots of the times of one execution, and a heat map of
// blocks by runs.
'use strict';

const MOST_BOXES = 40, MOST_ROWS = 40, MOST_COLUMNS = 400;

// A logarithmic scale over all blocks' times, in percent of the width.
class Scale {
	constructor(blocks) {
		const all = blocks.flatMap(b => [b.times[0], b.times[6]]).filter(t => t !== null);
		const low = Math.log10(Math.max(1, Math.min(...all)));
		const high = Math.log10(Math.max(1, ...all));
		this.low = Math.floor(low * 2) / 2;
		this.high = Math.max(this.low + 1, Math.ceil(high * 2) / 2);
	}

	at(ns) {
		const v = (Math.log10(Math.max(1, ns)) - this.low) / (this.high - this.low);
		return `${(100 * Math.min(1, Math.max(0, v))).toFixed(2)}%`;
	}

	// Whole powers of ten, every other one where there are many.
	ticks() {
		const first = Math.ceil(this.low), last = Math.floor(this.high);
		const step = Math.max(1, Math.ceil((last - first + 1) / 6));
		const ret = [];
		for (let i = first; i <= last; i += step)
			ret.push(10 ** i);
		return ret;
	}
}

function boxWords(b) {
	const [least, , low, typical, high, , longest] = b.times.map(time);
	return `shortest ${least}, a quarter below ${low}, typical ${typical}, ` +
		`a quarter above ${high}, longest ${longest}, average ${time(b.mean)}`;
}

function boxPlot(b, scale) {
	const svg = element('svg:svg',
		{class: 'box', height: 24, role: 'img', 'aria-label': boxWords(b)});
	const line = (kind, from, to) => svg.append(element('svg:line',
		{class: kind, x1: scale.at(from), x2: scale.at(to), y1: 12, y2: 12}));
	for (const tick of scale.ticks())
		svg.append(element('svg:line', {
			class: 'grid-line', x1: scale.at(tick), x2: scale.at(tick), y1: 0, y2: 24
		}));
	const [least, p5, p25, p50, p75, p95, longest] = b.times;
	line('all', least, longest);
	if (p50 !== null) {
		line('most', p5, p95);
		const width = parseFloat(scale.at(p75)) - parseFloat(scale.at(p25));
		svg.append(element('svg:rect', {
			x: scale.at(p25), width: `${Math.max(0.2, width).toFixed(2)}%`, y: 5,
			height: 14
		}));
		svg.append(element('svg:line', {
			class: 'median', x1: scale.at(p50), x2: scale.at(p50), y1: 3, y2: 21
		}));
	}
	svg.append(element('svg:circle', {cx: scale.at(b.mean), cy: 12, r: 3.5}));
	return svg;
}

function fillBoxes(blocks) {
	const timed = blocks.filter(b => b.times[3] !== null), shown = timed.slice(0, MOST_BOXES);
	by('boxes').hidden = !shown.length;
	if (!shown.length)
		return;
	const scale = new Scale(shown);
	by('boxes-rows').replaceChildren(...shown.map(b => element('div', {class: 'box-row'},
		element('a', {href: `#${b.id}`}, b.where), boxPlot(b, scale))));
	const axis = element('svg:svg', {height: 18, 'aria-hidden': 'true'});
	for (const tick of scale.ticks())
		axis.append(element('svg:text',
			{x: scale.at(tick), y: 13, 'text-anchor': 'middle'},
			time(tick).replace('.00', '')));
	by('boxes-rows').append(element('div', {class: 'box-axis'}, element('span'), axis));
	by('boxes-left').textContent = shown.length < timed.length
		? `The first ${shown.length} of ${timed.length} blocks.` : '';
}

// Which colour: powers of two in steps of a half.
function shade(ratio) {
	const step = Math.min(4, Math.round(Math.abs(Math.log2(ratio)) * 2));
	return `${ratio >= 1 ? 'heat' : 'cool'}-${step}`;
}

function cellWords(b, run, value, usual) {
	const [name, command] = data.runs[run];
	if (value === undefined)
		return `${b.where}, ${name}: not executed. ${command}`;
	const [, frequency, , average, longest, inRun] = value;
	return `${b.where}, ${name}${b.slow.includes(run) ? ', slow' : ''}: ` +
		`${time(inRun)}, usually ${time(usual)}; ${times(frequency)} times ` +
		`${time(average)}, longest ${time(longest)}. ${command}`;
}

function heatRow(b, columns) {
	const values = new Map(b.in.map(v => [v[0], v]));
	const usual = usualTime(b.in);
	const row = element('tr', {},
		element('th', {scope: 'row'},
			element('a', {href: `#${b.id}`, title: b.where, tabindex: -1}, b.where)));
	for (let run = 0; run < columns; run++) {
		const value = values.get(run), isSlow = b.slow.includes(run);
		const kind = value === undefined
			? 'none' : value[5] === null
				? 'unknown' : usual > 0 ? shade(value[5] / usual) : 'heat-0';
		const cell = element('td', {class: kind + (isSlow ? ' slow' : ''), tabindex: -1},
			isSlow ? '!' : '');
		cell.words = () => cellWords(b, run, value, usual);
		row.append(cell);
	}
	return row;
}

// One cell takes part in the order of the Tab key; arrows move from there.
function move(event) {
	const steps = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]};
	const cell = event.target.closest('td'), step = steps[event.key];
	if (!cell || !(step || event.key === 'Home' || event.key === 'End'))
		return;
	const row = cell.parentElement, rows = row.parentElement.rows;
	const column = event.key === 'Home' ? 1 : event.key === 'End'
		? row.cells.length - 1 : cell.cellIndex + step[1];
	const next = rows[row.rowIndex + (step ? step[0] : 0)]?.cells[column];
	event.preventDefault();
	if (next?.tagName !== 'TD')
		return;
	cell.tabIndex = -1;
	next.tabIndex = 0;
	next.focus();
}

function readOut(event) {
	const cell = event.target.closest?.('td');
	if (cell?.words)
		by('heat-readout').textContent = cell.words();
}

function fillHeat(blocks) {
	const timed = blocks.filter(b => b.times[0] !== null), rows = timed.slice(0, MOST_ROWS);
	const columns = Math.min(MOST_COLUMNS, data.runs.length);
	by('heat').hidden = !rows.length || columns < 2;
	if (by('heat').hidden)
		return;
	const table = element('table', {role: 'grid', 'aria-labelledby': 'heat-heading'},
		element('tbody', {}, ...rows.map(b => heatRow(b, columns))));
	table.querySelector('td').tabIndex = 0;
	table.addEventListener('keydown', move);
	for (const event of ['focusin', 'pointerover'])
		table.addEventListener(event, readOut);
	by('heat-scroll').replaceChildren(table);
	const left = [];
	if (rows.length < timed.length)
		left.push(`the first ${rows.length} of ${timed.length} blocks`);
	if (columns < data.runs_total)
		left.push(`the first ${columns} of ${data.runs_total} runs`);
	by('heat-left').textContent = left.length ? `Shown: ${left.join(', ')}.` : '';
}
