// SPDX-License-Identifier: BSD-3-Clause
// Puts the page together: which cards there are, and in which order. Charts are drawn as they come
// into sight.
'use strict';

const cards = new Map(data.series.map(s => [s, new Card(s)]));
const cardOf = new Map([...cards.values()].map(c => [c.root, c]));
let shown = [], common = extent([]);

function scaleOf(s) {
	if (!by('scale').checked)
		return extent([s]);
	// Unknown values may lie anywhere: such a card gets the common scale, or a wider one if
	// needed.
	return isDecided(s) ? common : extent([s, ...shown.filter(isDecided)]);
}

// Charts that have come near the window wait here. Each frame draws some of them, so scrolling goes
// on meanwhile.
const waiting = new Set();
const BUDGET_MS = 8; // of a frame's 16

function drawWaiting() {
	const end = performance.now() + BUDGET_MS;
	for (const card of waiting) {
		waiting.delete(card);
		card.show(scaleOf(card.series));
		if (performance.now() >= end)
			break;
	}
	if (waiting.size)
		requestAnimationFrame(drawWaiting);
}

const watch = new IntersectionObserver(entries => {
	const idle = !waiting.size;
	for (const entry of entries) {
		const card = cardOf.get(entry.target);
		if (entry.isIntersecting) {
			waiting.add(card);
		} else {
			waiting.delete(card);
			card.hide();
		}
	}
	if (idle && waiting.size)
		requestAnimationFrame(drawWaiting);
}, {rootMargin: '400px 0px'});

function redraw() {
	for (const s of shown) {
		const card = cards.get(s);
		if (card.chart) {
			card.hide();
			card.show(scaleOf(s));
		}
	}
}

function arrange() {
	const filter = {
		point: by('point').value,
		file: by('file').value,
		verdict: by('verdict').value,
		least: Number(by('least').value) || 0
	};
	watch.disconnect();
	waiting.clear();
	cards.forEach(c => c.hide());
	shown = data.series.filter(selects(filter)).sort(compare(KEYS.indexOf(by('sort').value)));
	common = extent(shown.filter(isDecided));
	const numbers = ranks(shown);
	by('cards').replaceChildren(...shown.map((s, i) => {
		const card = cards.get(s);
		card.rank.textContent = numbers[i];
		return card.root;
	}));
	shown.forEach(s => watch.observe(cards.get(s).root));
	fillOverview();
	by('count').textContent =
		`${shown.length.toLocaleString('en')} of ${count(data.series.length, 'chart')}`;
}

// The picture of the chosen progress point; of all: of the point that the best line is of.
function fillOverview() {
	const key = KEYS.indexOf(by('sort').value), all = [...data.series].sort(compare(key));
	const point = by('point').value || (all.length ? pointKey(all[0]) : '');
	const series = all.filter(s => pointKey(s) === point);
	by('overview').hidden = !data.samples || !series.length;
	if (by('overview').hidden)
		return;
	by('overview-point').value = point;
	by('overview-of').textContent = series[0].latency
		? `Latency ${series[0].progress}; a gain is the share of the mean saved.`
		: `Progress point ${series[0].progress}.`;
	by('overview-left').textContent = series.length > MOST_DOTS
		? `The first ${MOST_DOTS} of ${count(series.length, data.unit)}.` : '';
	overview.set(series);
}

// Makes a card appear, whatever the filters hide.
function reveal(id) {
	if (by(id))
		return;
	const s = data.series.find(s => s.id === id);
	by('verdict').value = by('file').value = '';
	by('least').value = 0;
	if (by('point').value !== pointKey(s))
		by('point').value = '';
	arrange();
}

// From the picture to the card.
function goTo(id) {
	reveal(id);
	by(id).tabIndex = -1;
	location.hash = id;
	by(id).focus({preventScroll: true});
}

function fillControls() {
	const pointOf = s => s.progress + (s.latency ? ' (latency)' : '');
	const points = new Map(data.series.map(s => [pointKey(s), pointOf(s)]));
	const fileOf = s => s.number ? s.label.replace(/:[0-9]+$/, '') : s.label;
	const files = new Map(data.series.map(s => [s.file, fileOf(s)]));
	for (const [value, text] of points)
		for (const id of ['point', 'overview-point'])
			by(id).append(element('option', {value}, text));
	document.querySelector('.choice').hidden = points.size < 2;
	for (const [value, text] of [...files].sort((a, b) => a[1] < b[1] ? -1 : 1))
		by('file').append(element('option', {value}, text));
	const reset = () => {
		by('sort').value = data.sort;
		by('point').value = by('file').value = '';
		by('least').value = 0;
		by('scale').checked = true;
		by('verdict').value =
			data.series.some(isDecided) ? 'answers' : '';
		arrange();
	};
	by('controls').addEventListener('input', arrange);
	by('overview-point').addEventListener('input', () => {
		by('point').value = by('overview-point').value;
		arrange();
	});
	for (const form of document.querySelectorAll('form'))
		form.addEventListener('submit', event => event.preventDefault());
	by('controls').addEventListener('reset', event => {
		event.preventDefault();
		reset();
	});
	for (const word of document.querySelectorAll('.unit'))
		word.textContent = data.unit;
	const anyLatency = data.series.some(s => s.latency);
	document.querySelectorAll('.of-latency').forEach(e => e.hidden = !anyLatency);
	return reset;
}

function applyTheme() {
	setColours();
	redraw();
}

// Sentences and tables lead to their charts.
function follow(event) {
	const id = event.target.closest?.('a[href^="#chart-"]')?.getAttribute('href').slice(1);
	if (id)
		reveal(id);
}

const MOST_PRINTED = 200; // pictures: 2.6 seconds on a busy machine

// Paper is white; each chart becomes a picture.
function beforePrint() {
	document.documentElement.classList.remove('dark');
	by('unprinted').textContent = shown.length > MOST_PRINTED
		? `The first ${MOST_PRINTED} are printed; the filters choose others.`
		: '';
	shown.forEach((s, i) => {
		const card = cards.get(s);
		card.root.hidden = i >= MOST_PRINTED;
		if (i < MOST_PRINTED)
			card.print(scaleOf(s));
	});
}

function afterPrint() {
	by('unprinted').textContent = '';
	cards.forEach(c => c.unprint());
	applyTheme();
	arrange();
}

const overview = new Overview(by('overview-picture'), by('overview-tip'), goTo);
fillSummary();
fillWarnings();
fillWaiting();
fillNodes();
fillWords();
const reset = fillControls();
by('theme').addEventListener('input', applyTheme);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
document.addEventListener('click', follow);
addEventListener('beforeprint', beforePrint);
addEventListener('afterprint', afterPrint);
applyTheme();
reset();
if (/^#chart-[0-9]+$/.test(location.hash))
	document.getElementById(location.hash.slice(1))?.scrollIntoView();
document.body.dataset.ready = 'true';
