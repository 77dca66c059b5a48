// SPDX-License-Identifier: BSD-3-Clause
/* Lines of a stream. */
#include "check.h"

#include "core/text/input.h"

/* Lines of all lengths, about the sizes in which a stream is read. */
TEST(lines_are_taken_from_a_stream)
{
	static char text[600000];
	size_t used = 0, lengths[] = {0, 1, 1000, 999, 131072, 131071, 1001, 300000, 5, 1000};
	struct text_input t;
	struct text_line l;
	FILE *in;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(text + used, 'a' + (int)i, lengths[i]);
		used += lengths[i];
		text[used++] = '\n';
	}
	in = fmemopen(text, used - 1, "r"); /* the last line is cut off */
	CHECK_EQ(text_input_init(&t, in, 1000), 0);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		CHECK(text_input_next(&t, &l));
		CHECK_EQ(l.complete, i < 9);
		CHECK_EQ(!l.text, lengths[i] > 1000);
		if (!l.text)
			continue;
		CHECK_EQ(l.n, lengths[i]);
		CHECK_EQ(strlen(l.text), lengths[i]);
		CHECK(!l.n || l.text[l.n - 1] == 'a' + (int)i);
	}
	CHECK(!text_input_next(&t, &l));
	text_input_deinit(&t);
	fclose(in);
}
