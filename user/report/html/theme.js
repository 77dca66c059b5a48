// SPDX-License-Identifier: BSD-3-Clause
// The colours that the reader has chosen, or the system's; on paper always the light ones.
'use strict';

const by = id => document.getElementById(id);

function setColours() {
	const dark =
		matchMedia('(prefers-color-scheme: dark)').matches && !matchMedia('print').matches;
	document.documentElement.classList.toggle(
		'dark', by('theme').value ? by('theme').value === 'dark' : dark);
}
