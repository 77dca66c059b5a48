// SPDX-License-Identifier: BSD-3-Clause
// Puts the page of blocks together: the head, the pictures, and a card for each block.
'use strict';

data.blocks.forEach((b, i) => b.id = `block-${i}`);

function fillHead() {
	const names = data.logs.map(l => l.split('/').pop()).join(', ');
	document.title = `cozbpf: ${names}`;
	by('logs').textContent = names;
	by('summary').textContent = `${data.summary}. ${count(data.reported, 'block')} of ` +
		`${data.watched.toLocaleString('en')} reach ${data.threshold} %.`;
	const failed = data.failed.slice(0, 20).map(([name, status, ended, command]) =>
		`${name} does not count, ${!ended ? 'cut off' : status < 0
			? `ended by signal ${-status}` : `exit status ${status}`}: ${command}`);
	const notes = [...data.notes, ...failed];
	by('notes').replaceChildren(...notes.map(n => element('li', {}, n)));
	by('notes').hidden = !notes.length;
	by('range-words').textContent = data.once
		? 'longest - shortest of one execution'
		: 'frequency x (longest - shortest)';
}

// What is said of a block's slow runs.
function slowWords(b) {
	if (!b.slow.length)
		return [];
	const timeIn = run => {
		const v = b.in.find(v => v[0] === run);
		return v ? time(v[5]) : 'unknown';
	};
	const runs = b.slow.filter(run => data.runs[run]).slice(0, 20)
		.map(run => `${data.runs[run][0]} (${timeIn(run)})`);
	const others = b.in.filter(v => !b.slow.includes(v[0]));
	const more = b.slow.length > runs.length ? `, and ${b.slow.length - runs.length} more` : '';
	const ret = [others.length
		? `Slow in ${runs.join(', ')}${more}; usually ${time(usualTime(others))}.`
		: `Executed only in ${runs.join(', ')}${more}.`];
	for (const [command, slow, all] of b.inputs.slice(0, 5))
		ret.push(`These are ${slow} of ${count(all, 'run')} of: ${command}`);
	for (const words of b.differences)
		ret.push(`There ${words}.`);
	if (!b.differences.length)
		ret.push(b.few
			? 'Too few runs to tell what else differed there: one slow run takes 20.'
			: 'Nothing else that was measured differed there beyond chance.');
	return ret;
}

// The paper's figure 3: values with the number of runs that had them.
function valueTable(b) {
	const names = ['times', 'shortest', 'average', 'longest'];
	const rows = b.values.map((values, i) => element('tr', {},
		element('th', {scope: 'row'}, names[i]),
		element('td', {}, values.map(([v, n]) =>
			`${i ? time(v) : times(v)}: ${n}`).join(', ') || 'unknown')));
	return element('details', {}, element('summary', {}, 'Values, and in how many runs'),
		element('div', {class: 'scroll'},
			element('table', {class: 'values'}, element('tbody', {}, ...rows))));
}

function card(b, scale) {
	const isTimed = b.times[0] !== null;
	const says = isTimed
		? `Takes ${share(b.significance[0])}${interval(b.significance)} of the CPU time ` +
			`and varies by ${share(b.range[0])}${interval(b.range)}. The variation ` +
			`costs ${share(b.cost)}.`
		: `Never timed; ${(100 * b.samples).toFixed(1)} % of the samples met it.`;
	const root = element('article', {
		class: `card${b.reported ? ' reported' : ''}`, id: b.id, 'data-where': b.where
	});
	root.append(
		element('div', {class: 'head'}, element('h3', {}, b.where)),
		element('p', {class: 'of'}, b.of),
		element('p', {class: 'of'}, (b.frequency === null ? 'How often is not known'
			: `${times(b.frequency)} times at most`) +
			`, in ${b.n} of ${count(data.runs_total, 'run')}`),
		element('p', {class: 'says'}, says));
	const hasMedian = isTimed && b.times[3] !== null;
	if (isTimed && !hasMedian)
		root.append(element('p', {class: 'says'},
			'Short beside its probes: its average comes from samples.'));
	if (hasMedian)
		root.append(boxPlot(b, scale), element('p', {class: 'readout'}, boxWords(b)));
	const slow = slowWords(b);
	if (slow.length)
		root.append(element('ul', {}, ...slow.map(s => element('li', {}, s))));
	root.append(valueTable(b));
	return root;
}

const ORDERS = {
	share: (a, b) => data.blocks.indexOf(a) - data.blocks.indexOf(b),
	cost: (a, b) => (b.cost ?? -1) - (a.cost ?? -1),
	range: (a, b) => (b.range[0] ?? -1) - (a.range[0] ?? -1),
	rare: (a, b) => a.n - b.n,
};

function arrange() {
	const text = by('filter').value.toLowerCase();
	const shown = data.blocks
		.filter(b => `${b.where} ${b.of}`.toLowerCase().includes(text))
		.sort(ORDERS[by('sort').value]);
	const scale = new Scale(shown.length ? shown : [{times: [1, 0, 0, 0, 0, 0, 10]}]);
	by('cards').replaceChildren(...shown.map(b => card(b, scale)));
	by('count').textContent = `${shown.length} of ${count(data.blocks.length, 'block')}`;
	fillBoxes(shown);
	fillHeat(shown);
}

fillHead();
by('controls').addEventListener('input', arrange);
by('controls').addEventListener('submit', event => event.preventDefault());
by('controls').addEventListener('reset', event => {
	event.preventDefault();
	by('sort').value = 'share';
	by('filter').value = '';
	arrange();
});
by('theme').addEventListener('input', setColours);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', setColours);
addEventListener('beforeprint', () => document.documentElement.classList.remove('dark'));
addEventListener('afterprint', setColours);
setColours();
arrange();
if (/^#block-[0-9]+$/.test(location.hash))
	by(location.hash.slice(1))?.scrollIntoView();
document.body.dataset.ready = 'true';
