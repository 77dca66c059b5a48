// SPDX-License-Identifier: BSD-3-Clause
// A headless Chromium for tests and for scripts/plot-screens.sh: its DevTools protocol over a pipe.
// Needs no port, and no package beside node's own.
'use strict';
const child_process = require('child_process'), fs = require('fs');
const os = require('os'), path = require('path');

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

// The path of a Chromium, or undefined.
function find() {
	return (process.env.CHROMIUM ? [process.env.CHROMIUM] : NAMES)
		.flatMap(name => name.includes('/')
				? [name]
				: process.env.PATH.split(':').map(dir => path.join(dir, name)))
		.find(file => fs.existsSync(file));
}

class Browser {
	constructor() {
		this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cozbpf-browser-'));
		// --no-sandbox: root has none. A request of the page to the network would go to a
		// port where nobody listens.
		const options = [
			'--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars',
			'--remote-debugging-pipe', '--no-first-run', '--force-color-profile=srgb',
			'--font-render-hinting=none', '--proxy-server=http://127.0.0.1:9',
			'--user-data-dir=' + this.dir, 'about:blank'
		];
		this.process = child_process.spawn(find(), options,
			{stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
		this.pending = new Map();
		this.listeners = new Map();
		this.id = 0;
		this.requests = []; // addresses that were asked for
		this.problems = []; // exceptions, errors and violations of the page's policy
		let rest = Buffer.alloc(0);
		this.process.stdio[4].on('data', chunk => {
			rest = Buffer.concat([rest, chunk]);
			for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1))
				this.receive(JSON.parse(rest.subarray(0, end).toString()));
		});
	}

	receive(message) {
		const waiting = this.pending.get(message.id);
		if (waiting) {
			this.pending.delete(message.id);
			if (message.error)
				waiting.reject(new Error(message.error.message));
			else
				waiting.resolve(message.result);
		}
		if (message.method === 'Network.requestWillBeSent')
			this.requests.push(message.params.request.url);
		if (message.method === 'Runtime.exceptionThrown')
			this.problems.push(message.params.exceptionDetails.exception?.description ??
				message.params.exceptionDetails.text);
		if (message.method === 'Log.entryAdded' && message.params.entry.level === 'error')
			this.problems.push(message.params.entry.text);
		this.listeners.get(message.method)?.(message.params);
	}

	send(method, params = {}) {
		const id = ++this.id;
		this.process.stdio[3].write(
			JSON.stringify({id, method, params, sessionId: this.session}) + '\0');
		return new Promise((resolve, reject) => this.pending.set(id, {resolve, reject}));
	}

	once(method) {
		return new Promise(resolve => this.listeners.set(method, params => {
			this.listeners.delete(method);
			resolve(params);
		}));
	}

	async start() {
		const {targetInfos} = await this.send('Target.getTargets');
		const {sessionId} = await this.send('Target.attachToTarget', {
			targetId: targetInfos.find(t => t.type === 'page').targetId,
			flatten: true
		});
		this.session = sessionId;
		for (const domain of ['Page', 'Runtime', 'Network', 'Log'])
			await this.send(domain + '.enable');
		await this.colours('light');
	}

	// Opens a file and waits until its load event is over. Returns the milliseconds that it
	// took.
	async open(file, hash = '') {
		const start = Date.now(), loaded = this.once('Page.loadEventFired');
		await this.send('Page.navigate', {url: 'file://' + path.resolve(file) + hash});
		await loaded;
		return Date.now() - start;
	}

	// The value of an expression, which may be a promise, in the page.
	async value(expression) {
		const ret = await this.send('Runtime.evaluate',
			{expression, returnByValue: true, awaitPromise: true, userGesture: true});
		if (ret.exceptionDetails)
			throw new Error(ret.exceptionDetails.exception?.description ??
				ret.exceptionDetails.text);
		return ret.result.value;
	}

	// Waits until the page has drawn the latest state.
	frame() {
		return this.value(`new Promise(r => requestAnimationFrame(
			() => requestAnimationFrame(() => setTimeout(r, 0))))`);
	}

	async key(key) {
		const codes = {
			ArrowRight: 39, ArrowLeft: 37, ArrowDown: 40, ArrowUp: 38, Home: 36,
			End: 35, Tab: 9, Enter: 13, Escape: 27,
		};
		for (const type of ['rawKeyDown', 'keyUp'])
			await this.send('Input.dispatchKeyEvent',
				{type, key, code: key, windowsVirtualKeyCode: codes[key]});
		await this.frame();
	}

	// The pointer at the middle of an element, which an expression names; with a click.
	async point(expression, isClick = false) {
		const at = await this.value(`(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2}))(
			(${expression}).getBoundingClientRect())`);
		const button = {...at, button: 'left', clickCount: 1};
		await this.send('Input.dispatchMouseEvent', {type: 'mouseMoved', ...at});
		for (const type of isClick ? ['mousePressed', 'mouseReleased'] : [])
			await this.send('Input.dispatchMouseEvent', {type, ...button});
		await this.frame();
	}

	async size(width, height, scale = 1) {
		await this.send('Emulation.setDeviceMetricsOverride',
			{width, height, deviceScaleFactor: scale, mobile: false});
		await this.frame();
	}

	// Without smooth scrolling, which would move elements while a test aims at them.
	async colours(scheme) {
		const features = [
			{name: 'prefers-color-scheme', value: scheme},
			{name: 'prefers-reduced-motion', value: 'reduce'},
		];
		await this.send('Emulation.setEmulatedMedia', {features});
		await this.frame();
	}

	async screenshot(file) {
		const {data} = await this.send('Page.captureScreenshot', {format: 'png'});
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
	}

	async pdf(file) {
		const {data} = await this.send('Page.printToPDF', {preferCSSPageSize: true});
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
	}

	async stop() {
		const ended = new Promise(resolve => this.process.once('exit', resolve));
		this.process.kill('SIGKILL');
		await ended;
		// Chromium's children write for a moment longer.
		fs.rmSync(
			this.dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
	}
}

module.exports = {Browser, find};
