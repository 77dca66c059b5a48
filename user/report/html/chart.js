// SPDX-License-Identifier: BSD-3-Clause
// What Chart.js draws for a line: points, interval band and regression, in the colours of page.css.
'use strict';

Chart.defaults.animation = false;
Chart.defaults.font.family = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const POINTS = 3; // number of the dataset that can be pointed at

function colours() {
	const style = getComputedStyle(document.documentElement);
	return name => style.getPropertyValue('--' + name).trim();
}

function datasets(s, colour) {
	const main = colour(s.verdict), filled = s.verdict !== 'not-enough-data';
	const band = s.points.filter(p => p[2] !== null);
	const last = s.points.length ? s.points[s.points.length - 1][0] : 1;
	const [slope] = s.slope;
	const edge = which => ({
		data: band.length ? [{x: 0, y: 0}, ...band.map(p => ({x: p[0], y: p[which]}))] : [],
		showLine: true, borderWidth: 0, pointRadius: 0, pointHitRadius: 0,
		pointHoverRadius: 0, order: 3,
	});
	return [
		{...edge(3), fill: '+1', backgroundColor: main + '38'},
		edge(2),
		{
			data: slope === null ? [] : [{x: 0, y: 0}, {x: last, y: slope * last}],
			showLine: true, borderColor: main, borderWidth: 2, borderDash: [6, 4],
			pointRadius: 0, pointHitRadius: 0, pointHoverRadius: 0, order: 2,
		},
		{
			data: s.points.map(p => ({x: p[0], y: p[1]})),
			backgroundColor: filled ? main : colour('card'), borderColor: main,
			borderWidth: 1.5, pointRadius: 4, pointHoverRadius: 7,
			pointHoverBorderWidth: 2.5,
			pointStyle: s.verdict === 'contention' ? 'triangle' : 'circle', order: 1,
			clip: 8,
		},
		{
			data: s.latencies
				? s.points.map((p, i) => ({x: p[0], y: quantileGain(s, i, 3)}))
					.filter(p => p.y !== null)
				: [],
			backgroundColor: 'transparent', borderColor: colour('axis'),
			borderWidth: 1.5, pointRadius: 4, pointHitRadius: 0, pointHoverRadius: 4,
			pointStyle: 'rectRot', order: 2, clip: 8,
		},
	];
}

function axis(colour, title, step) {
	return {
		type: 'linear',
		title: {display: true, text: title, color: colour('muted'), font: {size: 12}},
		ticks: {
			color: colour('muted'), stepSize: step, font: {size: 11},
			callback: v => Math.round(100 * v) + ' %',
		},
		grid: {
			color: ({tick}) => tick.value === 0 ? colour('axis') : colour('rule'),
			borderColor: colour('axis'),
		},
	};
}

function chartConfig(s, scale) {
	const colour = colours();
	const x = Math.max(0.1, ...s.points.map(p => p[0]));
	const gain = s.latency ? 'mean latency saved' : 'program speedup';
	const words = item => pointWords(s, item.dataIndex);
	return {
		type: 'scatter',
		data: {datasets: datasets(s, colour)},
		options: {
			maintainAspectRatio: false,
			layout: {padding: {right: 8, top: 6}},
			scales: {
				x: {
					...axis(colour, s.kind + ' speedup', x > 0.5 ? 0.25 : 0.1),
					min: 0, max: Math.min(1, x + 0.02),
				},
				y: {
					...axis(colour, gain, scale.step),
					min: scale.min, max: scale.max,
				},
			},
			interaction: {mode: 'nearest', axis: 'x', intersect: false},
			plugins: {
				legend: {display: false},
				tooltip: {
					filter: item => item.datasetIndex === POINTS,
					displayColors: false, backgroundColor: colour('tip'),
					titleColor: colour('tip-text'),
					bodyColor: colour('tip-text'),
					titleFont: {size: 12}, bodyFont: {size: 12},
					callbacks: {
						title: ([item]) => item ? words(item)[0] : '',
						label: item => words(item).slice(1),
					},
				},
			},
		},
	};
}

// A picture of the chart for the printer, which gets no canvas outside the screen.
function chartPicture(s, scale) {
	const canvas = document.createElement('canvas');
	canvas.width = 560;
	canvas.height = 230;
	const config = chartConfig(s, scale);
	Object.assign(config.options, {responsive: false, devicePixelRatio: 2});
	const chart = new Chart(canvas, config), ret = canvas.toDataURL('image/png');
	chart.destroy();
	return ret;
}
