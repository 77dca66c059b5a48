// SPDX-License-Identifier: BSD-3-Clause
/* The report in text: where the time goes, on CPUs and off them, and who ends the waits. */
#include "report/text_private.h"

#include "report/words.h"

static void print_lines(FILE *out, const struct estimate *e, size_t prefix)
{
	const struct waiting *w = &e->waiting;
	char words[256];
	size_t n = waiting_lines(w);

	for (size_t i = 0; i < n && i < WAITING_LINES; i++) {
		const struct waiting_line *l = &w->lines[i];

		line_waits_words(w, l, words, sizeof(words));
		fprintf(out, "  %5.1f %%  %5.1f %%  %s%s%s\n", 100 * l->on_share,
		    100 * l->off_share, any_label(e, l->line, prefix), words[0] ? ": " : "", words);
	}
	if (n > WAITING_LINES)
		fprintf(out, "                    and %zu more\n", n - WAITING_LINES);
}

void text_waiting(FILE *out, const struct estimate *e, size_t prefix)
{
	const struct waiting_unit *leading[WAITING_UNITS];
	const struct waiting *w = &e->waiting;
	size_t n = waiting_leading(w, leading);
	char words[8192];

	if (!w->off)
		return;
	waiting_words(w, words, sizeof(words));
	fprintf(out, "\nwhere the time of all threads goes: %s\n   on CPU  off CPU  line\n", words);
	print_lines(out, e, prefix);
	if (n)
		fprintf(out, "who ends the leading waits\n");
	for (size_t i = 0; i < n; i++) {
		wakers_words(e, leading[i], prefix, words, sizeof(words));
		fprintf(out, "           %5.1f %%  %s: woken by %s\n",
		    100 * waiting_share(leading[i]->count, w->off),
		    any_label(e, leading[i]->unit, prefix), words);
	}
}
