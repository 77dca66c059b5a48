// SPDX-License-Identifier: BSD-3-Clause
// The pages that plot.sh has made, in a browser: their contents, what controls and keys do, and
// that they ask nothing of the network.
'use strict';
const {Browser} = require('./browser.js');
const dir = process.argv[2] + '/';
let passed = 0, failed = 0;

function same(what, got, want) {
	if (JSON.stringify(got) === JSON.stringify(want)) {
		passed++;
	} else {
		failed++;
		console.log(`FAIL ${what}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`);
	}
}

const holds = (what, condition) => same(what, Boolean(condition), true);

// Sets a control as a user does.
const set = (id, value) => `{ const e = document.getElementById('${id}');
	const value = ${JSON.stringify(value)};
	if (e.type === 'checkbox') e.checked = value; else e.value = value;
	e.dispatchEvent(new Event('input', {bubbles: true})); e.value; }`;
const texts = selector =>
	`[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => e.textContent)`;
const lines = "[...document.querySelectorAll('.card')].map(c => c.dataset.line.split('/').pop())";
const card = name => `[...document.querySelectorAll('.card')].find(c =>
	c.dataset.line.endsWith('${name}') && c.dataset.point === 'progress point done')`;

async function look(b) {
	await b.open(dir + 'known.html');
	await b.frame();
	same('ready', await b.value('document.body.dataset.ready'), 'true');
	same('title', await b.value('document.title'), 'cozbpf: known.coz');
	holds('summary',
		(await b.value(texts('#summary')))[0].startsWith(
			'232 experiments, 8,000 samples, 60.0 s, 0 lost'));
	const words = await b.value(texts('.point-words'));
	same('a section for each point; a pair counts its visits as well', words.length, 4);
	holds('gain first',
		/hot\.c:7 25 % faster would raise throughput by 1[78]\.\d % \(/.test(
			words.find(w => w.includes('progress point done'))));
	const done = (await b.value(texts('.point-words li')))
		.filter(t => t.includes('throughput') || t.includes('nothing'));
	holds('the loss is contention',
		done.some(t => /lock\.c:3 up would slow the program down, contention/.test(t)));
	holds('the flat one is called flat',
		done.some(t => /flat\.c:5 faster would change nothing/.test(t)));
	holds('latency as it is now',
		words.some(w => /latency request.*Now mean .* p99 /s.test(w)));
	same('names are text',
		await b.value("document.querySelectorAll('#sentences b, #cards b, img').length"),
		0);
	holds('and shown', words.some(w => w.includes('</script><b>other')));
}

async function filter(b) {
	same('answers only', await b.value("document.getElementById('count').textContent"),
		'20 of 26 charts');
	same('ranked by slope', (await b.value(lines)).slice(0, 1), ['hot.c:7']);
	const options = "[...document.querySelectorAll('#point option')]";
	const point = await b.value(`${options}.find(o => o.textContent === 'done').value`);
	await b.value(set('point', point));
	same('order of a point', await b.value(lines), [
		'hot.c:7', 'warm.c:4', '<img src=x onerror=alert(1)>.c:1', 'flat.c:5', 'lock.c:3'
	]);
	same('ranks', (await b.value(texts('.card .rank'))).map(t => t.trim()),
		['1.', '2.', '3.', '4.', '5.']);
	same('verdicts', await b.value(texts('.card .badge')),
		['optimize', 'optimize', 'optimize', 'no effect', 'contention']);
	await b.value(set('sort', 'impact'));
	same('another order', (await b.value(lines))[0], 'hot.c:7');
	await b.value(set('verdict', ''));
	same('all of a point', (await b.value(lines)).length, 7);
	await b.value(set('least', 20));
	same('minimum of experiments', (await b.value(lines)).length, 5);
	await b.value(set('verdict', 'contention'));
	same('contention only', await b.value(lines), ['lock.c:3']);
	await b.value(set('verdict', ''));
	await b.value(set('file', dir + 'src/flat.c'));
	same('a file only', await b.value(lines), ['flat.c:5']);
	same('said', await b.value("document.getElementById('count').textContent"),
		'1 of 26 charts');
	await b.value("document.querySelector('.point-words a').click()");
	await b.frame();
	holds('a sentence leads to its chart, filtered out or not',
		await b.value("location.hash.startsWith('#chart-')") &&
			await b.value('document.querySelector(location.hash) !== null'));
	await b.value("document.querySelector('#controls button').click()");
	same('reset', (await b.value(lines)).length, 20);
}

async function readCard(b) {
	await b.value(`${card('hot.c:7')}.scrollIntoView({behavior: 'instant'})`);
	await b.frame();
	await b.frame();
	holds('a chart is drawn',
		await b.value(
			`${card('hot.c:7')}.querySelector('canvas').toDataURL().length > 5000`));
	const chart = `cardOf.get(${card('hot.c:7')}).chart`;
	same('points', await b.value(`${chart}.data.datasets[3].data.length`), 20);
	holds('regression',
		Math.abs(await b.value(`${chart}.data.datasets[2].data[1].y`) - 0.6) < 0.03);
	holds('the band lies about the points',
		await b.value(`(sets => sets[3].data.every((p, i) => sets[1].data[i + 1].y <= p.y &&
			p.y <= sets[0].data[i + 1].y))(${chart}.data.datasets)`));
	const source = await b.value(
		`[...${card('hot.c:7')}.querySelectorAll('.source tr')].map(r => r.textContent)`);
	same('source around the line', source.length, 6);
	same('heat of the line', source[4], '720.0 %\tseventh(hot);');
	same('heat of its neighbour', source[5], '83.8 %\teighth();');
	holds('markup in the source is text', source[0].includes('</script><script>'));
	same('the line is marked',
		await b.value(`${card('hot.c:7')}.querySelector('[aria-current]').rowIndex`), 4);
	same('a relative name is found',
		await b.value(
			"document.querySelectorAll('.card[data-line=\"src/warm.c:4\"]').length"),
		4);
	await b.value(`${card('hot.c:7')}.querySelectorAll('details').forEach(d => d.open = true)`);
	await b.frame();
	same('values',
		await b.value(`${card('hot.c:7')}.querySelectorAll('.values')[0].rows.length`), 21);
	same('experiments',
		await b.value(`${card('hot.c:7')}.querySelectorAll('.values')[1].rows.length`), 47);
	const latency = card('hot.c:7').replace('progress point done', 'latency request');
	await b.value(`${latency}.scrollIntoView({behavior: 'instant'})`);
	await b.frame();
	await b.frame();
	await b.value(`${latency}.querySelectorAll('details').forEach(d => d.open = true)`);
	await b.frame();
	const heads = `${latency}.querySelector('.values thead tr').cells`;
	same('quantiles in the values',
		(await b.value(`[...${heads}].map(c => c.textContent)`)).slice(-4),
		['mean', 'p50', 'p90', 'p99']);
	same('p99 is drawn',
		await b.value(`cardOf.get(${latency}).chart.data.datasets[4].data.length`), 20);
}

async function press(b) {
	await b.value(`{ const plot = ${card('hot.c:7')}.querySelector('.plot');
		plot.focus({preventScroll: true});
		plot.scrollIntoView({block: 'center', behavior: 'instant'}); }`);
	await b.frame();
	await b.frame();
	for (const key of ['ArrowRight', 'ArrowRight'])
		await b.key(key);
	holds('keys go from point to point',
		/^line 10 % faster: program \+[56]\.\d % \(.*\); 2 experiments, /.test(
			await b.value(`${card('hot.c:7')}.querySelector('.readout').textContent`)));
	same('and show the values',
		await b.value(`cardOf.get(${card('hot.c:7')}).chart.tooltip.opacity`), 1);
	await b.key('End');
	holds('to the last',
		(await b.value(`${card('hot.c:7')}.querySelector('.readout').textContent`))
			.startsWith('line 100 % faster'));
	await b.key('Escape');
	same('and away', await b.value(`${card('hot.c:7')}.querySelector('.readout').textContent`),
		'');
	const box = await b.value(`(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2}))(
		${card('hot.c:7')}.querySelector('canvas').getBoundingClientRect())`);
	await b.send('Input.dispatchMouseEvent', {type: 'mouseMoved', ...box});
	await b.frame();
	same('hovering shows values',
		await b.value(`cardOf.get(${card('hot.c:7')}).chart.tooltip.opacity`), 1);
	// What a screen reader is given: the browser's own accessibility tree.
	await b.send('Accessibility.enable');
	const {nodes} = await b.send('Accessibility.getFullAXTree');
	const named = nodes.filter(n => !n.ignored).map(n => [n.role?.value, n.name?.value]);
	holds('charts have names',
		named.some(([role, name]) => role === 'group' && /hot\.c:7, optimize/.test(name)));
	const controls = ['combobox', 'spinbutton', 'checkbox', 'button'];
	holds('controls have names',
		named.filter(([role]) => controls.includes(role)).every(([, name]) => name));
	holds('headings lead through', named.filter(([role]) => role === 'heading').length > 10);
}

async function restyle(b) {
	const background = 'getComputedStyle(document.body).backgroundColor';
	const colour = `cardOf.get(${card('hot.c:7')}).chart.data.datasets[3].backgroundColor`;
	const light = [await b.value(background), await b.value(colour)];
	await b.colours('dark');
	const dark = [await b.value(background), await b.value(colour)];
	holds('dark as the system is', light[0] !== dark[0] && light[1] !== dark[1]);
	await b.value(set('theme', 'light'));
	same('or as one likes', [await b.value(background), await b.value(colour)], light);
	await b.value(set('theme', ''));
	await b.colours('light');
	for (const width of [400, 1280, 2560]) {
		await b.size(width, 900);
		holds(`no sideways scrolling at ${width}`,
			await b.value('document.documentElement.scrollWidth <= innerWidth'));
	}
	await b.size(1280, 900);
	await b.pdf(dir + 'page.pdf');
	holds('prints', require('fs').statSync(dir + 'page.pdf').size > 50000);
	same('pictures are gone after that',
		await b.value("document.querySelectorAll('.plot img').length"), 0);
}

async function others(b) {
	await b.open(dir + 'none.html');
	holds('a page without an answer says why',
		(await b.value(texts('#warnings')))[0].includes('none of the 77 samples'));
	await b.open(dir + 'cut.html');
	holds('little data',
		(await b.value(texts('.point-words')))[0].includes('Not enough data yet'));
	await b.open(dir + 'coz.html');
	same("Coz's profile", [await b.value(lines), await b.value(texts('.badge'))],
		[['coz.c:3'], ['optimize']]);
}

// 500 lines at 3 points. The limits are generous, since test machines are slow and busy. A page
// that drew all charts at once would take a minute.
async function many(b) {
	const opened = await b.open(dir + 'many.html');
	holds(`1500 charts are there in ${opened} ms`, opened < 10000);
	await b.value(set('verdict', ''));
	same('all of them', await b.value("document.querySelectorAll('.card').length"), 1500);
	const sort = set('sort', 'impact');
	const sorted = await b.value(
		`{ const t = performance.now(); ${sort}; performance.now() - t; }`);
	holds(`sorted in ${sorted.toFixed()} ms`, sorted < 2000);
	const canvases = await b.value(`new Promise(done => {
		let n = 0, most = 0;
		document.getElementById('cards').scrollIntoView({behavior: 'instant'});
		requestAnimationFrame(function step() {
			most = Math.max(most, document.querySelectorAll('canvas').length);
			scrollBy({top: 300, behavior: 'instant'});
			if (++n < 60) requestAnimationFrame(step); else done(most);
		});
	})`);
	holds(`at most ${canvases} charts are alive while scrolling`,
		canvases > 0 && canvases < 60);
	const bytes = require('fs').statSync(dir + 'many.html').size;
	console.log(`page: ${bytes} bytes, open in ${opened} ms, sorted in` +
		` ${sorted.toFixed()} ms, ${canvases} charts alive`);
}

(async () => {
	const b = new Browser();
	try {
		await b.start();
		await b.size(1280, 900);
		for (const test of [look, filter, readCard, press, restyle, others, many])
			await test(b);
		same('no error', b.problems, []);
		const pages = ['file://' + dir, 'data:image/png'];
		const asked = b.requests.filter(r => !pages.some(p => r.startsWith(p)));
		same('nothing but the pages was asked for', asked, []);
	} finally {
		await b.stop();
	}
	console.log(`page: ${passed} passed, ${failed} failed`);
	process.exit(failed ? 1 : 0);
})().catch(e => {
	console.log(e.stack);
	process.exit(1);
});
