// SPDX-License-Identifier: BSD-3-Clause
// The card of a line and progress point: heading, sentence, chart, source, and folded tables. What
// costs time is made when it is looked at.
'use strict';

// An element with properties and children, which are elements or text. Text is never markup: names
// come from whoever wrote the profile.
function element(tag, properties = {}, ...children) {
	const ret = document.createElement(tag);
	for (const [key, value] of Object.entries(properties)) {
		if (key in ret)
			ret[key] = value;
		else
			ret.setAttribute(key, value);
	}
	ret.append(...children.filter(c => c !== null));
	return ret;
}

function table(className, caption, heads, rows) {
	const head = h => element('th', {scope: 'col'}, h);
	const cell = (c, i) => element(
		i ? 'td' : 'th', i ? {} : {scope: 'row'}, c instanceof Node ? c : String(c));
	return element('table', {className},
		element('caption', {}, caption),
		element('thead', {}, element('tr', {}, ...heads.map(head))),
		element('tbody', {}, ...rows.map(cells => element('tr', {}, ...cells.map(cell)))));
}

function valuesTable(s) {
	const heads =
		['line', 'program', '95 % from', 'to', 'uncorrected', 'experiments', 'visits'];
	const quantiles = s.latencies ? ['mean', 'p50', 'p90', 'p99'] : [];
	const figures = i => quantiles.map((_, q) => time(s.latencies[i][3 * q]));
	const rows = s.points.map((p, i) => [
		percent(p[0], 0), signed(p[1]), percent(p[2]), percent(p[3]), signed(p[4]),
		p[5], p[6], ...figures(i + 1),
	]);
	if (s.latencies)
		rows.unshift(['0 %', '', '', '', '', s.baselines, '', ...figures(0)]);
	return table('values', `Speedups of ${s.label}, and of the program at ${s.progress}`,
		[...heads, ...quantiles], rows);
}

function experimentsTable(s) {
	const all = data.experiments[s.line];
	const heads = [
		'speedup', 'duration', 'visits', 'time per visit', `samples of the ${s.kind}`,
		'run', 'start'
	];
	const rows = [];
	for (const [speedup, ms, samples, run, start, points] of all.rows) {
		for (const [point, visits, begins, ends, flight] of points) {
			if (point !== s.point || (s.latency && begins === undefined))
				continue;
			const row = [
				percent(speedup, 0), time(1e6 * ms), visits,
				visits ? time(1e6 * ms / visits) : '', samples, run + 1,
				start ? start.toFixed(2) + ' s' : ''
			];
			if (s.latency)
				row.push(begins, ends, Number(flight.toPrecision(3)),
					begins ? time(flight * 1e6 * ms / begins) : '');
			rows.push(row);
		}
	}
	const some = all.rows.length < all.total
		? ` (${all.rows.length} of ${all.total}; the profile has them all)`
		: '';
	if (s.latency)
		heads.push('begins', 'ends', 'in flight', 'mean latency');
	const title = `Experiments on ${s.label}, time without delays${some}`;
	return table('values', title, heads, rows);
}

function sourceTable(s) {
	const lines = (s.source?.lines ?? []).filter(([n]) => Math.abs(n - s.number) <= 4);
	if (!lines.length)
		return null;
	const most = Math.max(...s.source.lines.map(l => l[1]), 1);
	const changed = s.source.changed ? '; the file has changed since it was profiled' : '';
	const ret = element('table', {className: 'source'},
		element('caption', {}, `${s.label}: share of all samples${changed}`));
	for (const [number, samples, text] of lines) {
		const share = element('td', {className: 'share'},
			samples && data.samples ? percent(samples / data.samples) : '');
		share.style.setProperty('--share', samples / most);
		const row = element('tr', {className: number === s.number ? 'here' : ''},
			element('th', {scope: 'row'}, String(number)), share,
			element('td', {className: 'text'}, element('code', {}, text || ' ')));
		if (number === s.number)
			row.setAttribute('aria-current', 'true');
		ret.append(row);
	}
	return ret;
}

const linkTo = s => element('a', {href: '#' + s.id}, s.label);

// What may be larger than its place; keys scroll as well.
function scrolled(title, content) {
	const attributes = {className: 'scroll', tabIndex: 0, role: 'region'};
	return element('div', {...attributes, 'aria-label': title}, content);
}

// The lines of a function, what they gain together, and what the function gains.
function linesTable(s) {
	if (!s.lines.length)
		return null;
	const share = samples => s.samples ? percent(samples / s.samples, 0) : '';
	const row = (name, l, verdict) => [name, ...l.slope.map(two), share(l.samples), verdict];
	const rows = s.lines.map(l => row(linkTo(l), l, VERDICTS[l.verdict]));
	const {n, slope, samples} = togetherOf(s);
	if (n > 1)
		rows.push([`${n} lines together`, two(slope), '', '', share(samples), '']);
	rows.push(row('the function', s, VERDICTS[s.verdict]));
	const title = `Lines of ${s.label}`, heads = ['line', 'slope', '95 % from', 'to'];
	return scrolled(title,
		table('values', title, [...heads, 'of its samples', 'verdict'], rows));
}

// A fold that is filled when it is first opened.
function fold(title, fill) {
	const ret = element('details', {}, element('summary', {}, title));
	ret.addEventListener('toggle', () => {
		if (ret.open && ret.children.length === 1)
			ret.append(scrolled(title, fill()));
	});
	return ret;
}

function sentence(s) {
	const [value, low, high] = s.slope;
	const slope = value === null ? '' : `slope ${two(value)}` +
		(low === null ? '' : ` (${two(low)} to ${two(high)})`);
	const figures = [
		slope, s.max > 0 ? `largest gain ${percent(s.max)}` : '',
		s.phase < 0.995 ? `phase factor ${s.phase.toFixed(2)}` : ''
	];
	return figures.filter(t => t).join(' · ');
}

// With waits a unit has a share of what was executed, or of what was waited.
function shareWords(s) {
	if (!data.samples || !s.samples)
		return '';
	if (s.off !== undefined)
		return ` · ${percent(s.off)} of the time off CPU`;
	if (s.on !== undefined)
		return ` · ${percent(s.on)} of the time on CPU` +
			(s.waits ? `; of that off CPU: ${s.waits}` : '');
	return ` · ${percent(s.samples / data.samples)} of the samples`;
}

class Card {
	constructor(s) {
		this.series = s;
		this.chart = null;
		this.active = -1;
		this.plot = element('div', {
			className: 'plot', tabIndex: 0, role: 'group',
			'aria-roledescription': 'chart',
			'aria-label': `${placeOf(s)}, ${VERDICTS[s.verdict]};` +
				' arrow keys go from point to point'
		});
		this.readout = element('p', {className: 'readout', 'aria-live': 'polite'});
		this.rank = element('span', {className: 'rank'});
		const point = `${s.latency ? 'latency' : 'progress point'} ${s.progress}`;
		const share = shareWords(s);
		const below = isBelow(s) ? ' below' : '';
		const attributes = {className: `card ${s.verdict}${below}`, id: s.id};
		const holder = s.holder ? ['in ', linkTo(s.holder), ' · '] : [];
		this.root = element('article', {...attributes, 'aria-labelledby': s.id + '-title'},
			element('div', {className: 'head'},
				element('h3', {id: s.id + '-title', title: s.name},
					this.rank, s.label),
				element('span', {className: 'badge ' + s.verdict},
					VERDICTS[s.verdict])),
			element('p', {className: 'of'}, ...holder,
				`${point} · ${count(s.experiments, 'experiment')}`, share),
			element('p', {className: 'says'}, s.words, element('br'),
				element('span', {className: 'muted'}, sentence(s))),
			this.plot, this.readout);
		this.root.dataset.line = s.name;
		this.root.dataset.point = point;
		this.plot.addEventListener('keydown', event => this.key(event));
		this.plot.addEventListener('blur', () => this.point(-1));
	}

	// Source and folds stay once they are there. The chart goes when it is out of sight, since
	// a canvas takes a megabyte.
	show(scale) {
		this.fill();
		if (this.chart)
			return;
		const canvas = element('canvas', {'aria-hidden': 'true'});
		this.plot.prepend(canvas);
		this.chart = new Chart(canvas, chartConfig(this.series, scale));
	}

	fill() {
		if (!this.filled) {
			const tables = [linesTable(this.series), sourceTable(this.series)];
			this.root.append(...tables.filter(t => t));
			this.root.append(fold('Values', () => valuesTable(this.series)));
			if (data.experiments[this.series.line].total)
				this.root.append(
					fold('Experiments', () => experimentsTable(this.series)));
			this.filled = true;
		}
	}

	hide() {
		this.chart?.canvas.remove();
		this.chart?.destroy();
		this.chart = null;
	}

	key(event) {
		const n = this.series.points.length;
		const at = this.active;
		const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: n - 1}[event.key];
		if (event.key === 'Escape')
			this.point(-1);
		if (to === undefined || !n)
			return;
		event.preventDefault();
		this.point(Math.max(0, Math.min(n - 1, to)));
	}

	point(i) {
		const active = i < 0 ? [] : [{datasetIndex: POINTS, index: i}];
		this.active = i;
		this.readout.textContent = i < 0
			? ''
			: pointWords(this.series, i).join(': ').replace(/: ([^:]*)$/, '; $1');
		if (!this.chart)
			return;
		this.chart.setActiveElements(active);
		this.chart.tooltip.setActiveElements(active, {x: 0, y: 0});
		this.chart.update();
	}

	print(scale) {
		this.fill();
		const src = chartPicture(this.series, scale);
		this.picture = element('img', {src, alt: '', decoding: 'sync'});
		this.plot.append(this.picture);
		return this.picture;
	}

	unprint() {
		this.picture?.remove();
		this.picture = null;
		this.root.hidden = false;
	}
}
