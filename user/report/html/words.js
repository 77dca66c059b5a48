// SPDX-License-Identifier: BSD-3-Clause
// The head of the page: what was profiled, and what the profile says, in sentences, by progress
// point. The tool makes the sentences (user/report/words.c).
'use strict';

function fillSummary() {
	const minute = ns => new Date(ns / 1e6).toISOString().slice(0, 16).replace('T', ' ');
	const started = data.started_ns ? `, ${minute(data.started_ns)} UTC` : '';
	const facts = [count(data.experiments_total, 'experiment'), count(data.samples, 'sample')];
	if (data.runtime_s > 0)
		facts.push(`${data.runtime_s.toFixed(1)} s` +
			(data.runs > 1 ? ` in ${data.runs} runs` : ''));
	for (const [n, one, many] of data.losses)
		facts.push(`${n.toLocaleString('en')} ${n === 1 ? one : many}`);
	if (data.left_out)
		facts.push(`${count(data.left_out, data.unit)} left out for lack of data`);
	const names = data.profiles.map(p => p.split('/').pop()).join(', ');
	Object.assign(document.getElementById('profiles'),
		{textContent: names, title: data.profiles.join(', ')});
	document.title = `cozbpf: ${names}`;
	document.getElementById('summary').textContent = facts.join(', ') + started;
}

function fillWarnings() {
	const warnings = [];
	const rows = data.experiments.reduce((n, e) => n + e.rows.length, 0);
	const total = data.experiments.reduce((n, e) => n + e.total, 0);
	if (data.reason)
		warnings.push(data.reason);
	warnings.push(...data.doubts.map(words => words[0].toUpperCase() + words.slice(1) + '.'));
	if (data.skipped)
		warnings.push(`${count(data.skipped, 'record')} of the profile could not be` +
			` understood and ${data.skipped === 1 ? 'was' : 'were'} skipped.`);
	if (data.series.length < data.series_total)
		warnings.push(`Only the first ${data.series.length} of` +
			` ${count(data.series_total, data.unit)} are here;` +
			' “cozbpf report --json” has them all.');
	if (rows < total)
		warnings.push(`Behind the folds are ${rows.toLocaleString('en')} of` +
			` ${count(total, 'experiment')}; charts and figures rest on all of them.`);
	const list = document.getElementById('warnings');
	list.hidden = !warnings.length;
	list.replaceChildren(...warnings.map(w => element('li', {}, w)));
}

// Where the time of all threads goes, and who ends the leading waits.
function fillWaiting() {
	const {words, lines, leading} = data.waiting ?? {};
	document.getElementById('waiting').hidden = !words;
	if (!words)
		return;
	document.getElementById('waiting-words').textContent =
		`Time of all threads: ${words}.`;
	const title = 'Time on CPU and off CPU, by line', ends = 'Who ends the leading waits';
	const shares = lines.map(([label, on, off, waits]) =>
		[label, percent(on), percent(off), waits]);
	const tables = [scrolled(title, table('values', title,
		['line', 'on CPU', 'off CPU', 'waits'], shares))];
	if (leading.length)
		tables.push(scrolled(ends, table('values', ends,
			['wait', 'off CPU', 'woken by'],
			leading.map(([label, off, by]) => [label, percent(off), by]))));
	document.getElementById('waiting-tables').replaceChildren(...tables);
}

// Which machines differ beyond chance, and the speed of each.
function fillNodes() {
	const {words, speeds, speeds_total: total} = data.nodes ?? {};
	document.getElementById('nodes').hidden = !words;
	if (!words)
		return;
	document.getElementById('nodes-words').replaceChildren(
		...(words.length ? words : ['No node differs by more than chance.'])
			.map(w => element('li', {}, w)));
	const title = 'Time per visit, beside the median node';
	const rows = speeds.map(([node, point, latency, slower, low, high, baselines, differs]) =>
		[node, point + (latency ? ' (latency)' : ''), signed(slower), percent(low),
			percent(high), baselines, differs ? 'yes' : '']);
	const heads = ['node', 'progress point', 'more time', '95 % from', 'to', 'baselines',
		'differs'];
	const left = rows.length < total ? `The first ${rows.length} of ${total}.` : '';
	document.getElementById('nodes-table').replaceChildren(
		fold('The speed of each', () => table('values', title, heads, rows)),
		element('p', {className: 'muted'}, left));
}

// What the lines of a function say, and what they gain together.
function linesBelow(s) {
	const answered = isDecided(s) ? s.lines.filter(isDecided) : [];
	const ret = sentenceList(answered, 5), {n, slope, samples} = togetherOf(s);
	const share = s.samples ? ` with ${percent(samples / s.samples, 0)} of its samples` : '';
	if (n > 1)
		ret.push(element('p', {className: 'muted'}, `${n} lines together:` +
			` slope ${two(slope)}${share}; the function: ${two(s.slope[0])}.`));
	return ret;
}

// The first @most sentences, each with those of the lines below; the rest goes behind a fold.
function sentenceList(series, most) {
	const item = s => element('li', {className: s.verdict},
		element('a', {href: '#' + s.id}, s.words), ...linesBelow(s));
	const list = some => element('ul', {}, ...some.map(item));
	if (series.length <= most)
		return series.length ? [list(series)] : [];
	return [
		list(series.slice(0, most)),
		fold(`and ${series.length - most} more`, () => list(series.slice(most)))
	];
}

function pointSection(series) {
	const {progress, latency} = series[0];
	const now = latency ? data.latencies.find(l => l.point === progress) : null;
	const of = verdict => series.filter(s => s.verdict === verdict && !isBelow(s));
	// As estimate_is_done_with(): nothing more is asked of lines whose function has no effect.
	const isDone = s => s.holder?.verdict === 'no-effect';
	const lacking = series.filter(s => !isDecided(s) && !isDone(s)).length;
	const ret = element('div', {className: 'point-words'},
		element('h3', {}, element('span', {}, latency ? 'latency ' : 'progress point '),
			progress));
	if (now) {
		ret.append(element('p', {},
			`Now ${now.now}; ${Number(now.in_flight.toPrecision(3))} in flight.`));
		ret.append(...now.warnings.map(w => element('p', {className: 'warnings'}, w)));
	}
	// Losses stand at the end of the ranking, the worst one last.
	ret.append(...sentenceList(of('optimize'), 5),
		...sentenceList(of('contention').reverse(), 5),
		...sentenceList(of('no-effect'), 3));
	if (!series.some(isDecided))
		ret.append(element('p', {}, `No ${data.unit} has enough data to be ranked.`));
	if (lacking)
		ret.append(element('p', {className: 'muted'},
			`Not enough data yet for ${count(lacking, data.unit)};` +
				' runs add up in one profile.'));
	return ret;
}

function fillWords() {
	const groups = new Map();
	for (const s of data.series) {
		const key = pointKey(s);
		groups.set(key, [...(groups.get(key) ?? []), s]);
	}
	document.getElementById('sentences')
		.replaceChildren(...[...groups.values()].map(pointSection));
}
