// SPDX-License-Identifier: BSD-3-Clause
// The picture at the head of the page: each line's share of the samples against its gain, at one
// progress point. The gain is the slope, as in user/report/overview.h, which draws it in text.
'use strict';

const MOST_DOTS = 500;    // in the picture; a circle costs little, an element that is focused more
const MOST_NAMES = 12;    // beside dots, as far as there is room
const NAME_LENGTH = 28;   // characters
const NAME_COLUMNS = 6.6; // px of a character, about
const REACH = 18;        // px: a finger is not precise
const EDGE = {left: 52, right: 14, top: 28, bottom: 40, strip: 20};

const svg = (tag, attributes = {}, ...children) => {
	const ret = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [key, value] of Object.entries(attributes))
		ret.setAttribute(key, value);
	ret.append(...children);
	return ret;
};

const shareOf = s => data.samples ? Math.min(1, s.samples / data.samples) : 0;
// As overview_places(): an answer, or an interval that is only too wide for one.
const isPlaced = s => s.order < 2 && s.slope.every(v => v !== null);
const isRanked = s => isPlaced(s) && isDecided(s);

// 1, 2 or 5 times a power of ten; about five steps to the range.
function stepOf(range) {
	const ten = 10 ** Math.floor(Math.log10(range / 5)), times = range / 5 / ten;
	return ten * [1, 2, 5, 10].find(n => times <= n + 1e-9);
}

// To whole halves of a step.
function scaleTo(low, high) {
	const step = stepOf(high - low), half = step / 2;
	return {
		lo: Math.floor(low / half + 1e-9) * half,
		hi: Math.ceil(high / half - 1e-9) * half, step
	};
}

// From the intervals of lines with an answer: values that are not known may lie anywhere. Without
// an answer the values have to do.
function overviewScales(series) {
	const ranked = series.filter(isRanked);
	const values = series.filter(isPlaced).map(s => s.slope[0]);
	const low = ranked.length ? ranked.map(s => s.slope[1]) : values;
	const high = ranked.length ? ranked.map(s => s.slope[2]) : values;
	const gain = scaleTo(
		Math.max(-1, Math.min(0, ...low)), Math.min(1, Math.max(0.1, ...high)));
	gain.lo = Math.min(gain.lo, -gain.step / 2);
	return {share: scaleTo(0, Math.max(0.01, ...series.map(shareOf))), gain};
}

function ticks({lo, hi, step}) {
	const ret = [];
	for (let i = Math.ceil(lo / step - 1e-9); i <= Math.floor(hi / step + 1e-9); i++)
		ret.push(i * step);
	return ret;
}

function overviewWords(s) {
	const [gain, lo, hi] = s.slope;
	const share = `${percent(shareOf(s))} of the samples`;
	return isPlaced(s)
		? [share, `gain ${signed(gain)} (${percent(lo)} to ${percent(hi)})`,
			VERDICTS[s.verdict]]
		: [share, VERDICTS[s.verdict]];
}

function shortName(s) {
	const name = s.label.split('/').pop();
	return name.length > NAME_LENGTH ? '…' + name.slice(1 - NAME_LENGTH) : name;
}

class Overview {
	// @go is called with the id of the chart that was chosen.
	constructor(root, tip, go) {
		Object.assign(this, {root, tip, go, dots: [], at: 0});
		root.addEventListener('keydown', event => this.key(event));
		root.addEventListener('pointermove', event => this.show(this.nearest(event)));
		root.addEventListener('focusin', event => this.focus(event.target.closest('a')));
		root.addEventListener('click', event => this.click(event));
		for (const type of ['pointerleave', 'focusout'])
			root.addEventListener(type, () => this.show(null));
		// Asking for the width would lay out all cards first.
		new ResizeObserver(([entry]) => {
			const width = Math.floor(entry.contentRect.width);
			if (width && width !== this.width) {
				this.width = width;
				this.draw();
			}
		}).observe(root);
	}

	// The lines of one progress point, best first.
	set(series) {
		this.series = series.slice(0, MOST_DOTS);
		this.numbers = ranks(this.series);
		this.draw();
	}

	draw() {
		const {width} = this;
		if (!width || !this.series?.length)
			return;
		this.hasStrip = this.series.some(s => !isPlaced(s));
		this.height = Math.max(280, Math.min(440, Math.round(width * 0.5)));
		this.bottom = this.height - EDGE.bottom - (this.hasStrip ? EDGE.strip : 0);
		Object.assign(this, {scales: overviewScales(this.series), boxes: []});
		const active = document.activeElement?.closest?.('#overview-picture a')?.dataset.id;
		const picture = svg('svg', {
			viewBox: `0 0 ${width} ${this.height}`, role: 'group',
			'aria-roledescription': 'chart',
			'aria-label': 'Share of the samples against gain;' +
				` arrow keys go from ${data.unit} to ${data.unit},` +
				' Enter to its chart'
		});
		picture.append(this.axes(), this.corners(), this.bars());
		this.dots = this.series.map((s, i) => this.dot(s, i));
		// The best ones on top; the order of keys is that of this.dots.
		picture.append(...[...this.dots].reverse(), this.names());
		this.root.replaceChildren(picture);
		this.stop(Math.max(0, this.dots.findIndex(d => d.dataset.id === active)));
		if (active)
			this.dots[this.at].focus({preventScroll: true});
		else
			this.show(null);
	}

	x(share) {
		return EDGE.left + share / this.scales.share.hi *
			(this.width - EDGE.left - EDGE.right);
	}

	// Values beyond the scale lie at its edge.
	y(gain) {
		const {lo, hi} = this.scales.gain;
		const at = Math.max(lo, Math.min(hi, gain));
		return EDGE.top + (hi - at) / (hi - lo) * (this.bottom - EDGE.top);
	}

	text(x, y, anchor, className, text) {
		return svg('text', {x, y, 'text-anchor': anchor, class: className}, text);
	}

	line(x1, y1, x2, y2, className) {
		return svg('line', {x1, y1, x2, y2, class: className});
	}

	axes() {
		const {share, gain} = this.scales, right = this.width - EDGE.right;
		const ret = svg('g', {'aria-hidden': 'true'});
		const digits = step => step < 0.00999 ? 1 : 0;
		for (const v of ticks(gain))
			ret.append(
				this.line(EDGE.left, this.y(v), right, this.y(v),
					Math.abs(v) < gain.step / 2 ? 'zero' : 'grid'),
				this.text(EDGE.left - 6, this.y(v) + 4, 'end', 'tick',
					percent(v, digits(gain.step))));
		const room = Math.ceil(48 * ticks(share).length / (right - EDGE.left));
		ticks(share).forEach((v, i) => {
			ret.append(this.line(this.x(v), EDGE.top, this.x(v), this.bottom,
				i ? 'grid' : 'zero'));
			if (i % room === 0)
				ret.append(this.text(Math.min(this.x(v), right - 8),
					this.height - EDGE.bottom + 15, 'middle', 'tick',
					percent(v, digits(share.step))));
		});
		const end = Math.min(share.hi, gain.hi);
		ret.append(this.line(this.x(0), this.y(0), this.x(end), this.y(end), 'guess'),
			this.text(right, this.height - 6, 'end', 'axis',
				'share of the samples →'),
			this.text(4, this.height - 6, 'start', 'axis', '↑ gain'));
		if (this.hasStrip)
			ret.append(this.text(EDGE.left - 6, this.bottom + EDGE.strip - 5, 'end',
				'tick', 'not yet'));
		return ret;
	}

	// The words for the two corners, the first above the plot. They keep their place, and names
	// of lines go elsewhere.
	corners() {
		const ret = svg('g', {'aria-hidden': 'true'}), isWide = this.width > 480;
		const write = (x, y, anchor, text) => {
			ret.append(this.text(x, y, anchor, 'corner', text));
			this.take(x, y, anchor, text);
		};
		write(EDGE.left, EDGE.top - 12, 'start', isWide
			? 'little time, much gain: a usual profiler overlooks it'
			: 'little time, much gain: overlooked');
		write(this.width - EDGE.right - 4, Math.min(this.y(0) + 16, this.bottom - 6), 'end',
			isWide ? 'much time, no gain: hot, and does not matter'
			       : 'hot, does not matter');
		return ret;
	}

	bars() {
		const ret = svg('g', {'aria-hidden': 'true'});
		for (const s of [...this.series].reverse().filter(isPlaced)) {
			const x = this.x(shareOf(s)), [, lo, hi] = s.slope;
			const bar = this.line(x, this.y(lo), x, this.y(hi), 'bar-of ' + s.verdict);
			bar.dataset.id = s.id;
			ret.append(bar);
		}
		return ret;
	}

	// A triangle: contention, or a value beyond the scale.
	mark(s, x, y) {
		const {lo, hi} = this.scales.gain, value = s.slope[0];
		const down = s.verdict === 'contention' || value < lo;
		const size = isRanked(s) ? 6 : 4.5;
		if (!isPlaced(s) || (!down && value <= hi))
			return svg('circle', {cx: x, cy: y, r: size});
		const d = down ? size : -size;
		return svg('path', {d: `M${x - size} ${y - d}h${2 * size}l${-size} ${2 * d}z`});
	}

	dot(s, i) {
		const x = this.x(shareOf(s));
		const y = isPlaced(s) ? this.y(s.slope[0]) : this.bottom + EDGE.strip - 9;
		const number = isRanked(s) ? this.numbers[i] : '';
		const ret = svg('a', {
			href: '#' + s.id, class: 'dot ' + s.verdict, tabindex: -1,
			'aria-label': `${number}${placeOf(s)}: ${overviewWords(s).join(', ')}`
		}, this.mark(s, x, y));
		Object.assign(ret.dataset, {id: s.id, index: i, x, y});
		if (isPlaced(s))
			this.boxes.push([x - 7, y - 7, x + 7, y + 7]);
		return ret;
	}

	// Takes the place of a text, if nothing else has it.
	take(x, y, anchor, text) {
		const width = NAME_COLUMNS * text.length;
		const left = anchor === 'end' ? x - width : x;
		const box = [left, y - 11, left + width, y + 3];
		const meets = b =>
			b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3];
		if (left < EDGE.left || left + width > this.width || this.boxes.some(meets))
			return false;
		this.boxes.push(box);
		return true;
	}

	// Names beside dots: gains first, then losses, then what is hot without an effect.
	names() {
		const ret = svg('g', {'aria-hidden': 'true', class: 'names'});
		const of = verdict => this.series.filter(s => isRanked(s) && s.verdict === verdict);
		const hot = of('no-effect').sort((a, b) => b.samples - a.samples);
		const all = [...of('optimize'), ...of('contention').reverse(), ...hot];
		for (const s of all.slice(0, MOST_NAMES)) {
			const {x, y} = this.dots[this.series.indexOf(s)].dataset;
			const name = shortName(s);
			const place = [
				[Number(x) + 10, Number(y) + 4, 'start'],
				[Number(x) - 10, Number(y) + 4, 'end']
			].find(p => this.take(...p, name));
			if (place)
				ret.append(this.text(...place, 'name', name));
		}
		return ret;
	}

	// The one dot that Tab leads to.
	stop(i) {
		this.dots[this.at]?.setAttribute('tabindex', -1);
		this.at = i;
		this.dots[i]?.setAttribute('tabindex', 0);
	}

	key(event) {
		const n = this.dots.length;
		const to = {
			ArrowRight: this.at + 1, ArrowDown: this.at + 1, ArrowLeft: this.at - 1,
			ArrowUp: this.at - 1, Home: 0, End: n - 1
		}[event.key];
		if (event.key === 'Escape')
			this.show(null);
		if (to === undefined || !n)
			return;
		event.preventDefault();
		this.dots[Math.max(0, Math.min(n - 1, to))].focus({preventScroll: true});
	}

	focus(dot) {
		if (dot)
			this.stop(Number(dot.dataset.index));
		this.show(dot);
	}

	// Dots may cover each other, so the nearest one counts; null: none is near.
	nearest(event) {
		const frame = this.root.getBoundingClientRect(), scale = frame.width / this.width;
		const far = d => Math.hypot(event.clientX - frame.left - scale * d.dataset.x,
			event.clientY - frame.top - scale * d.dataset.y);
		let ret = null, least = REACH;
		for (const dot of this.dots) {
			const distance = far(dot);
			if (distance < least)
				[ret, least] = [dot, distance];
		}
		this.root.classList.toggle('near', ret !== null);
		return ret;
	}

	click(event) {
		// Enter is a click without a place.
		const dot = event.detail ? this.nearest(event) : event.target.closest('a');
		if (event.ctrlKey || event.metaKey || event.shiftKey)
			return;
		event.preventDefault();
		event.stopPropagation();
		if (dot)
			this.go(dot.dataset.id);
	}

	// The figures of a dot beside it; null: of none.
	show(dot) {
		for (const e of this.root.querySelectorAll('.active'))
			e.classList.remove('active');
		this.tip.hidden = !dot;
		if (!dot)
			return;
		const s = this.series[dot.dataset.index];
		for (const e of this.root.querySelectorAll(`[data-id="${s.id}"]`))
			e.classList.add('active');
		const scale = this.root.clientWidth / this.width;
		this.tip.replaceChildren(element('strong', {}, placeOf(s)),
			...overviewWords(s).map(text => element('span', {}, text)));
		this.tip.style.left = 0; // its width is then its own
		const x = scale * dot.dataset.x, y = scale * dot.dataset.y;
		const {offsetWidth, offsetHeight} = this.tip;
		const left = Math.min(x + 12, this.root.clientWidth - offsetWidth);
		this.tip.style.left = Math.max(0, left) + 'px';
		this.tip.style.top =
			(y > offsetHeight + 14 ? y - offsetHeight - 12 : y + 14) + 'px';
	}
}
