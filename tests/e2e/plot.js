// SPDX-License-Identifier: BSD-3-Clause
// The pages that plot.sh has made, in a browser: their contents, what controls and keys do, and
// that they ask nothing of the network.
'use strict';
const {holds, judge, same, texts} = require('./page_checks.js');
const dir = process.argv[2] + '/';

// Sets a control as a user does.
const set = (id, value) => `{ const e = document.getElementById('${id}');
	const value = ${JSON.stringify(value)};
	if (e.type === 'checkbox') e.checked = value; else e.value = value;
	e.dispatchEvent(new Event('input', {bubbles: true})); e.value; }`;
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

const dot = name => `[...document.querySelectorAll('.dot')].find(d =>
	d.getAttribute('aria-label').includes('${name}'))`;
const tip = "document.getElementById('overview-tip')";
const target = "document.querySelector(':target')?.dataset.line.split('/').pop()";

// The picture at the head of the page. It starts with the point of the best line.
async function overview(b) {
	same('the page begins with it', await b.value("document.querySelector('main section').id"),
		'overview');
	const choices = "[...document.querySelectorAll('#overview-point option')]";
	const point = await b.value(`${choices}.find(o => o.textContent === 'done').value`);
	await b.value(set('overview-point', point));
	await b.frame();
	same('the list has the same point', await b.value("document.getElementById('point').value"),
		point);
	same('a dot for each line', await b.value("document.querySelectorAll('.dot').length"), 7);
	const places = {};
	for (const name of ['hot.c:7', 'warm.c:4', 'flat.c:5', 'lock.c:3', 'rare.c:2'])
		places[name] = await b.value(`(d => ({x: Number(d.x), y: Number(d.y)}))(
			${dot(name)}.dataset)`);
	const {'hot.c:7': hot, 'warm.c:4': warm, 'flat.c:5': flat, 'lock.c:3': lock} = places;
	holds('the gain goes up', hot.y < warm.y && warm.y < flat.y && flat.y < lock.y);
	holds('the share goes right', flat.x < lock.x && lock.x < hot.x && lock.x === warm.x);
	holds('without a gain: at the foot', places['rare.c:2'].y > lock.y);
	// hot.c:7 has 20 % of the samples and gains 60 %; lock.c:3 loses 30 %.
	const end = await b.value(`(l => ({x: l.x2.baseVal.value, y: l.y2.baseVal.value}))(
		document.querySelector('#overview-picture .guess'))`);
	holds('gain = share ends at 20 % and 20 %', Math.abs(end.x - hot.x) < 1 &&
		Math.abs(end.y - (hot.y + (lock.y - hot.y) * 0.4 / 0.9)) < 8);
	const corners = await b.value(texts('#overview-picture .corner'));
	holds('corners are named', /overlooks/.test(corners[0]) && /not matter/.test(corners[1]));
	const names = await b.value(texts('#overview-picture .name'));
	holds('names are shown', names.some(t => t.includes('onerror')));
	same('as text', await b.value("document.querySelectorAll('#overview img').length"), 0);
	holds('an interval', await b.value(`(l => l.getAttribute('y1') - l.getAttribute('y2') > 5)(
		document.querySelector('.bar-of.contention'))`));
	await b.point(dot('warm.c:4'));
	same('hovering shows figures', await b.value(`${tip}.hidden`), false);
	const figures = await b.value(`[...${tip}.children].map(e => e.textContent)`);
	same('of that line', [figures[0], figures[1], figures[3]],
		['src/warm.c:4', '16.3 % of the samples', 'optimize']);
	holds('with its interval', /^gain \+(29|30)\.\d % \(.* to .*\)$/.test(figures[2]));
	same('and its interval',
		await b.value("document.querySelectorAll('#overview .active').length"), 2);
	await b.point("document.querySelector('h1')");
	same('and away', await b.value(`${tip}.hidden`), true);
	await b.point(dot('lock.c:3'), true);
	same('a click leads to the chart', await b.value(target), 'lock.c:3');
	holds('which comes into sight', await b.value(`(r => r.top >= -1 && r.top < innerHeight)(
		document.querySelector(':target').getBoundingClientRect())`));
	holds('and has the focus',
		await b.value('document.activeElement.id === location.hash.slice(1)'));
	same('not of one that is filtered out', (await b.value(lines)).includes('rare.c:2'), false);
	await b.value('scrollTo(0, 0)');
	await b.frame();
	await b.point(dot('rare.c:2'), true);
	same('but it is brought back', await b.value(target), 'rare.c:2');
	same('at the same point', await b.value("document.getElementById('point').value"), point);
}

async function overviewKeys(b) {
	await b.value("document.getElementById('overview-point').focus()");
	await b.key('Tab');
	const label = "document.activeElement.getAttribute('aria-label')";
	holds('one stop of Tab', /: .* of the samples/.test(await b.value(label)));
	await b.key('Home');
	holds('keys go from the best',
		/^1\. .*hot\.c:7: 20\.0 % of the samples, gain \+[56].*, optimize$/.test(
			await b.value(label)));
	same('which shows figures', await b.value(`${tip}.hidden`), false);
	await b.key('ArrowRight');
	holds('to the next', /^2\. .*warm\.c:4/.test(await b.value(label)));
	await b.key('ArrowUp');
	await b.key('ArrowDown');
	await b.key('Escape');
	same('Esc hides figures', await b.value(`${tip}.hidden`), true);
	await b.key('Tab');
	same('Tab leaves', await b.value("document.activeElement.closest('#overview') === null"),
		true);
	await b.value("document.querySelector('.dot[tabindex=\"0\"]').focus()");
	await b.key('Enter');
	same('Enter leads to the chart', await b.value(target), 'warm.c:4');
	const stops = ".dot[tabindex='0']";
	same('there is one stop', await b.value(`document.querySelectorAll("${stops}").length`), 1);
	await b.send('Accessibility.enable');
	const {nodes} = await b.send('Accessibility.getFullAXTree');
	const links = nodes.filter(n => !n.ignored && n.role?.value === 'link' &&
		/of the samples/.test(n.name?.value));
	same('dots are links with names', links.length, 7);
	await b.value("document.querySelector('#controls button').click()");
	await b.value('scrollTo(0, 0)');
	await b.frame();
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
	await b.point(`${card('hot.c:7')}.querySelector('canvas')`);
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
	const dotColour = "getComputedStyle(document.querySelector('.dot.optimize > *')).fill";
	const dotLight = await b.value(dotColour);
	await b.value(set('theme', 'dark'));
	holds('dots as well', await b.value(dotColour) !== dotLight);
	await b.value(set('theme', ''));
	for (const width of [320, 400, 1280, 2560]) {
		await b.size(width, 900);
		await b.frame();
		holds(`the picture fits at ${width}`,
			await b.value(`(svg => svg.clientWidth === svg.viewBox.baseVal.width)(
				document.querySelector('#overview-picture svg'))`));
		const inside = 'd => d.dataset.x <= d.ownerSVGElement.viewBox.baseVal.width';
		holds(`with its dots at ${width}`,
			await b.value(`[...document.querySelectorAll('.dot')].every(${inside})`));
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
	same('nor a picture', await b.value("document.getElementById('overview').hidden"), true);
	await b.open(dir + 'cut.html');
	holds('little data',
		(await b.value(texts('.point-words')))[0].includes('Not enough data yet'));
	await b.open(dir + 'coz.html');
	same("Coz's profile", [await b.value(lines), await b.value(texts('.badge'))],
		[['coz.c:3'], ['optimize']]);
	same('has no samples, and no picture',
		await b.value("document.getElementById('overview').hidden"), true);
}

// With waits there are two tables more, and a line's share is one of what was executed.
// The sentences of the report in text, and the speed of each node.
async function nodes(b) {
	const report = require('fs').readFileSync(dir + 'nodes.txt', 'utf8').split('\n');
	await b.open(dir + 'nodes.html');
	const words = await b.value(texts('#nodes-words li'));
	same('a node differs at each point',
		words.filter(w => / slower than the median node/.test(w)).length, 3);
	holds('by name, as text', words[0].startsWith('node <b>n3 is 2'));
	holds('as in the report', words.every(w => report.includes(w)));
	await b.value("document.querySelector('#nodes details').open = true");
	await b.frame();
	same('each has its speed', await b.value(
		"[...document.querySelectorAll('#nodes tbody th')].map(c => c.textContent)" +
		'.sort().slice(0, 3).join()'), '<b>n3,<b>n3,<b>n3');
	await b.open(dir + 'equal.html');
	same('nodes that are alike', await b.value(texts('#nodes-words li')),
		['No node differs by more than chance.']);
	await b.open(dir + 'known.html');
	const hidden = "document.getElementById('nodes').hidden";
	same('of one machine nothing is said', await b.value(hidden), true);
}

async function waiting(b) {
	const hidden = "document.getElementById('waiting').hidden";
	const table = n => `[...document.querySelectorAll('#waiting table')[${n}].rows].map(
		r => [...r.cells].map(c => c.textContent.replaceAll(/\\S*\\//g, '')))`;
	await b.open(dir + 'known.html');
	same('no waits, no tables', await b.value(hidden), true);
	await b.open(dir + 'waits.html');
	same('waits have tables', await b.value(hidden), false);
	same('the whole', await b.value(texts('#waiting-words')),
		['Time of all threads: 80 % on CPU, 20 % off CPU: lock 15 %, io 5 %.']);
	const lines = await b.value(table(0));
	same('heads', lines[0], ['line', 'on CPU', 'off CPU', 'waits']);
	same('a line with both', lines.find(r => r[0] === 'hot.c:7').slice(2),
		['75.0 %', 'lock 75.0 %']);
	same('and none', lines.find(r => r[0] === '(no line)').slice(1),
		['0.0 %', '25.0 %', 'io 25.0 %']);
	same('who ends waits', await b.value(table(1)),
		[['wait', 'off CPU', 'woken by'],
			['hot.c:7 [lock]', '75.0 %', 'lock.c:3 (80 %), a timer (20 %)']]);
	const shares = await b.value(`${card('hot.c:7')}.querySelector('.of').textContent`);
	holds('the card has both shares',
		/% of the time on CPU; of that off CPU: lock 75\.0 %/.test(shares));
}

// Functions with the lines that they hold: prog:work has 50 of 80 samples, prog:idle has 10.
async function tree(b) {
	await b.open(dir + 'functions.html');
	const order = ['prog:work', 'hot.c:7', 'warm.c:4', 'lock.c:3', 'prog:idle', 'flat.c:5'];
	same('lines follow their function', await b.value(lines), order);
	same('which both are units', await b.value(texts('.unit')), ['unit', 'unit']);
	const ranks = ['1.', '', '', '2.', '3.', ''];
	const trimmed = selector => `${texts(selector)}.map(t => t.trim())`;
	same('without a rank', await b.value(trimmed('.card .rank')), ranks);
	const outer = '.point-words > ul > li';
	const named = t => /(prog:[a-z]+|[a-z]+\.c:\d+)/.exec(t)[0];
	same('sentences of functions', (await b.value(texts(outer + ' > a'))).map(named),
		['prog:work', 'lock.c:3', 'prog:idle']);
	same('with those of their lines',
		await b.value(`document.querySelectorAll('${outer} > ul > li > a').length`), 3);
	const sums = await b.value(texts(outer + ' > p'));
	same('and their sum', sums.length, 1);
	holds('beside the function',
		/^2 lines together: slope 0\.5[3-7] with 80 % of its samples;/.test(sums[0]) &&
			/; the function: 0\.[56]\d\.$/.test(sums[0]));
	holds('one line lacks data', (await b.value(texts('.point-words')))[0].includes(
		'Not enough data yet for 1 unit;')); // flat.c:6 is done with
	await b.value(`${card('prog:work')}.scrollIntoView({behavior: 'instant'})`);
	await b.frame();
	const rows = await b.value(`[...${card('prog:work')}.querySelector('.values').rows].map(
		r => [...r.cells].map(c => c.textContent))`);
	same('its lines and their sum',
		rows.map(r => r[0].split('/').pop()),
		['line', 'hot.c:7', 'warm.c:4', 'hot.c:8', '2 lines together', 'the function']);
	holds('which adds up', Math.abs(rows[1][1] - -rows[2][1] - rows[4][1]) < 0.011);
	same('shares of the function', rows.map(r => r[4]),
		['of its samples', '60 %', '20 %', '20 %', '80 %', '100 %']);
	same('verdicts of lines', rows.map(r => r[5]), ['verdict', 'optimize', 'optimize',
		'not enough data', '', 'optimize']);
	same('a line alone has no such table',
		await b.value(`${card('lock.c:3')}.querySelector('.values')`), null);
	const of = `${card('hot.c:7')}.querySelector('.of')`;
	same('a line names its function', await b.value(of + ".textContent.split(' · ')[0]"),
		'in prog:work');
	await b.value(of + ".querySelector('a').click()");
	same('and leads to it', await b.value(target), 'prog:work');
	const link = `${card('prog:work')}.querySelectorAll('.values a')`;
	await b.value(`${link}[2].focus()`);
	await b.key('Enter');
	same('the function leads to its line by key, filtered out or not', await b.value(target),
		'hot.c:8');
	same('at its place', await b.value(lines),
		[...order.slice(0, 3), 'hot.c:8', ...order.slice(3), 'flat.c:6']);
	await b.value(set('file', 'prog:work'));
	same('a function is filtered with its lines', await b.value(lines),
		[...order.slice(0, 3), 'hot.c:8']);
	await b.value(set('file', dir + 'src/hot.c'));
	same('a file without functions', await b.value(lines), ['hot.c:7', 'hot.c:8']);
	await b.value("document.querySelector('#controls button').click()");
	await b.value(set('sort', 'impact'));
	same('any order keeps lines below', await b.value(lines), order);
	holds('dots say the function', /hot\.c:7 in prog:work: /.test(
		await b.value(`${dot('hot.c:7')}.getAttribute('aria-label')`)));
	const plot = `${card('hot.c:7')}.querySelector('.plot').getAttribute('aria-label')`;
	holds('charts as well', /hot\.c:7 in prog:work, optimize;/.test(await b.value(plot)));
	await b.value(`${card('prog:work')}.querySelector('.plot').focus()`);
	await b.key('End');
	holds('points of a function', (await b.value(
		`${card('prog:work')}.querySelector('.readout').textContent`))
		.startsWith('function 100 % faster'));
	await b.size(320, 900);
	holds('no sideways scrolling',
		await b.value('document.documentElement.scrollWidth <= innerWidth'));
	await b.size(1280, 900);
}

// 500 lines at 3 points. The limits are generous, since test machines are slow and busy. A page
// that drew all charts at once would take a minute.
async function many(b) {
	const opened = await b.open(dir + 'many.html');
	holds(`1500 charts are there in ${opened} ms`, opened < 10000);
	same('dots up to a limit', await b.value("document.querySelectorAll('.dot').length"), 500);
	await b.value(set('verdict', ''));
	same('all of them', await b.value("document.querySelectorAll('.card').length"), 1500);
	const sort = set('sort', 'impact');
	const sorted = await b.value(
		`{ const t = performance.now(); ${sort}; performance.now() - t; }`);
	// 45 ms here
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

const pages = [look, overview, overviewKeys, filter, readCard, press, restyle, others];
judge([...pages, waiting, nodes, tree, many], ['file://' + dir, 'data:image/png'], 'page: ');
