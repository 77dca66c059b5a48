// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any bytes as a profile, as people read it: reports in text, and the live view on
 * screens of any size after any keys. Nothing of it moves a cursor or turns the writing. The first
 * bytes say how: width, height, character set, and keys up to a zero. */
#include "limit.h"
#include "profiles.h"

#include "core/estimate/compare.h"
#include "core/profile/line_counts.h"
#include "core/text/printable.h"
#include "report/compare.h"
#include "report/report.h"
#include "report/terminal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_texts(
    const struct profile *p, const struct estimate *e, const struct text_options *o)
{
	struct compare_side side = {p, e};
	struct comparison c;
	struct compare_report r = {"a", "b\x1b[2J", &side, &side, &c};
	struct line_counts counts;
	struct unit_stacks stacks;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *folded;

	require(!report_text(out, e, o), "the report is written");
	require(!report_overview(out, e, o), "the pictures are drawn");
	require(!compare_profiles(&side, &side, &c), "memory suffices");
	compare_text(out, &r, o);
	comparison_deinit(&c);
	folded = printable_open(out);
	require(!line_counts_init(&counts, p), "memory suffices");
	require(!unit_stacks_init(&stacks, p, true), "memory suffices");
	report_folded(folded, &counts, &stacks);
	unit_stacks_deinit(&stacks);
	line_counts_deinit(&counts);
	printable_close(folded, out);
	fclose(out);
	check_printable(text, size);
	free(text);
}

static void check_screen(const struct terminal_screen *s)
{
	for (int i = 0; i < s->width * s->height; i++) {
		uint32_t c = s->cells[i].character;

		if (!c) /* the right half of the one before */
			require(
			    i % s->width && s->cells[i - 1].character, "halves have another one");
		else
			require(is_printable(c) && (s->unicode || c < 0x7f), "a cell is printable");
	}
}

static uint32_t key_of(uint8_t byte)
{
	return byte >= 0x80 && byte < 0x87 ? KEY_IS_UP + (byte - 0x80U) : byte;
}

static void check_view(const struct estimate *e, struct terminal_screen *s, const uint8_t *keys)
{
	struct terminal_view v = {0};
	struct terminal_point point = {e->n_lines ? e->lines[0].progress : "", false, 1.5, 0};
	struct terminal_status status = {.target = e->n_lines ? e->lines[0].line : "\x1b[2J",
	    .experiment = e->n_lines ? e->lines[0].line : NULL,
	    .message = e->n_lines ? e->lines[0].progress : NULL,
	    .points = &point,
	    .n_points = 1,
	    .has_keys = true};

	terminal_note(&v, e);
	while (1) {
		status.source = terminal_looked_at(&v, e);
		terminal_draw(&v, e, &status, s);
		check_screen(s);
		if (!*keys)
			break;
		terminal_press(&v, e, key_of(*keys++));
	}
	terminal_view_deinit(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 3 ? memchr(data + 3, 0, size - 3) : NULL;
	struct estimate_options options = {.seed = 1, .replicates = 20};
	struct terminal_screen screen = {0};
	struct text_options text;
	struct estimate e;
	struct profile p;

	limit_begin();
	if (!end || end - data > 40)
		return 0;
	text = (struct text_options){
	    .width = data[0], .unicode = data[2] & 1, .max_lines = data[2] / 2};
	if (!read_bytes(&p, end + 1, (size_t)(data + size - end - 1))) {
		require(!estimate_profile(&p, &options, &e), "memory suffices");
		check_texts(&p, &e, &text);
		require(!terminal_screen_init(&screen, data[0] + 1, data[1] % 64 + 1, text.unicode),
		    "memory suffices");
		check_view(&e, &screen, data + 3);
		terminal_screen_deinit(&screen);
		estimate_deinit(&e);
	}
	profile_deinit(&p);
	return 0;
}
