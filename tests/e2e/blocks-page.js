// SPDX-License-Identifier: BSD-3-Clause
// The pages that blocks-page.sh has made, in a browser: their contents, what controls and keys do,
// and that they ask nothing of the network.
'use strict';
const {holds, judge, same, texts} = require('./page_checks.js');
const dir = process.argv[2] + '/';
const set = (id, value) => `{ const e = document.getElementById('${id}');
	e.value = ${JSON.stringify(value)};
	e.dispatchEvent(new Event('input', {bubbles: true})); e.value; }`;
const cards = "[...document.querySelectorAll('.card')].map(c => c.dataset.where)";
const number = selector => `document.querySelectorAll(${JSON.stringify(selector)}).length`;
const fits = 'document.documentElement.scrollWidth <= innerWidth';

async function look(b) {
	await b.open(dir + 'known.html');
	await b.frame();
	same('ready', await b.value('document.body.dataset.ready'), 'true');
	same('title', await b.value('document.title'), 'cozbpf: known.log');
	holds('summary', (await b.value(texts('#summary')))[0].startsWith(
		'40 runs of pbzip2, 1.00 s of CPU time each; 1 failed'));
	same('the failed run', await b.value(texts('#notes li')),
		['run 41 does not count, exit status 3: ./pbzip2 -k input']);
	same('a card for each block', await b.value(number('.card')), 7);
	same('a box for each', await b.value(number('.box-row')), 7);
	const first = (await b.value(texts('.card')))[0];
	holds('what it takes', /Takes 6\d\.\d % \(.* to .*\) of the CPU time/.test(first));
	holds('its slow runs', /Slow in run \d*8 \(\d+ ms\)/.test(first));
	holds('their input, as text',
		first.includes("These are 4 of 4 runs of: ./pbzip2 -k '<b>odd"));
	holds('what differed', /There threads blocked for 60\d ms, usually 10\d ms/.test(first));
	holds('the box is told in words', /typical \d+ us/.test(await b.value(
		"document.querySelector('.box').getAttribute('aria-label')")));
	same('values of figure 3', await b.value(
		"document.querySelector('.card .values tr:last-child td').textContent"),
		'400 us: 36, 1.20 ms: 4');
}

async function heat(b) {
	same('rows and columns', await b.value(
		"[document.querySelectorAll('#heat tr').length, " +
		"document.querySelector('#heat tr').cells.length]"), [7, 41]);
	same('slow runs are marked', await b.value(
		"[...document.querySelector('#heat tr').cells].flatMap((c, i) => " +
		"c.textContent === '!' ? [i] : [])"), [8, 18, 28, 38]);
	same('not executed', await b.value(
		number('#heat td.none')), 30);
	const readout = "document.getElementById('heat-readout').textContent";
	await b.point("document.querySelector('#heat tr').cells[8]");
	const told = await b.value(readout);
	holds('pointing tells',
		/^compress\.c:1-6, run 8, slow: \d+ ms, usually 2\d\d ms; /.test(told));
	await b.value("document.querySelector('#heat td[tabindex=\"0\"]').focus()");
	await b.key('ArrowRight');
	holds('to the right', (await b.value(readout)).startsWith('compress.c:1-6, run 2: '));
	await b.key('ArrowDown');
	holds('down', (await b.value(readout)).startsWith('compress.c:41-46, run 2: '));
	await b.key('End');
	holds('to the end', (await b.value(readout)).startsWith('compress.c:41-46, run 40: '));
	await b.key('ArrowRight');
	holds('and no further', (await b.value(readout)).startsWith('compress.c:41-46, run 40: '));
	same('one cell is in the order of Tab', await b.value(
		number('#heat td[tabindex=\"0\"]')), 1);
}

async function controls(b) {
	const order = await b.value(cards);
	await b.value(set('sort', 'rare'));
	same('rarest first', (await b.value(cards))[0], 'compress.c:51-56');
	await b.value(set('sort', 'share'));
	same('and back', await b.value(cards), order);
	await b.value(set('filter', 'FUNCTION_2'));
	same('by name', await b.value(cards), ['compress.c:81-86', 'compress.c:71-76']);
	await b.value("document.querySelector('#controls button').click()");
	same('reset', await b.value(cards), order);
	await b.value(set('theme', 'dark'));
	holds('dark', await b.value("document.documentElement.classList.contains('dark')"));
	for (const width of [320, 700, 1280]) {
		await b.size(width, 900);
		holds(`no sideways scrolling at ${width}`, await b.value(fits));
	}
}

// A block that was timed in every other run: what is not known is no time of 0.
async function untimed(b) {
	await b.open(dir + 'untimed.html');
	await b.frame();
	const row = "[...document.querySelectorAll('#heat tr')].find(r => " +
		"r.cells[0].textContent === 'compress.c:1-6')";
	same('cells without a time', await b.value(
		`${row}.querySelectorAll('.unknown').length`), 20);
	same('the others are as usual, or slow', await b.value(`[...${row}.cells].filter(c => ` +
		"/heat-[0-3]|cool-0/.test(c.className)).length"), 20);
	await b.point(`${row}.cells[1]`);
	holds('pointing tells', /run 1: unknown, usually 2\d\d ms; \d+ times unknown, /.test(
		(await b.value(texts('#heat-readout')))[0]));
	holds('usual are those that were timed', /Slow in run .*; usually 2\d\d ms\./.test(
		(await b.value(texts('.card'))).find(c => c.startsWith('compress.c:1-6'))));
}

async function hostile(b) {
	await b.open(dir + 'all.html');
	await b.frame();
	same('all blocks', await b.value(number('.card')), 12);
	same('names are text', await b.value(number('main b, main img')),
		0);
	const all = (await b.value(texts('.card'))).join();
	holds('and shown', all.includes('<img src=x onerror') && all.includes('</script><b>'));
	await b.open(dir + 'known.html', '#block-3');
	holds('a link to a block', await b.value("document.querySelector(':target') !== null"));
}

async function many(b) {
	const opened = await b.open(dir + 'many.html');
	await b.frame();
	holds(`300 runs are there in ${opened} ms`, opened < 10000);
	same('rows up to a limit', await b.value(number('#heat tr')), 40);
	const left = await b.value(texts('#heat-left'));
	holds('which is said', left[0].startsWith('Shown: the first'));
	holds('no sideways scrolling', await b.value(fits));
}

judge([look, heat, controls, untimed, hostile, many], ['file://' + dir]);
