// SPDX-License-Identifier: BSD-3-Clause
// Counted checks of pages in a browser, for plot.js and blocks-page.js.
'use strict';
const {Browser} = require('./browser.js');
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
const texts = selector =>
	`[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => e.textContent)`;

// Runs the tests in one browser, which may ask for what begins with one of @pages, and ends the
// script. The counts come last.
async function run(tests, pages, name = '') {
	const b = new Browser();
	try {
		await b.start();
		await b.size(1280, 900);
		for (const test of tests)
			await test(b);
		same('no error', b.problems, []);
		const asked = b.requests.filter(r => !pages.some(p => r.startsWith(p)));
		same('nothing but the pages was asked for', asked, []);
	} finally {
		await b.stop();
	}
	console.log(`${name}${passed} passed, ${failed} failed`);
	process.exit(failed ? 1 : 0);
}

function judge(...args) {
	run(...args).catch(e => {
		console.log(e.stack);
		process.exit(1);
	});
}

module.exports = {holds, judge, same, texts};
