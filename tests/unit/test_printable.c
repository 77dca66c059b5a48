// SPDX-License-Identifier: BSD-3-Clause
/* What names from the target look like on a terminal. */
#include "check.h"

#include "core/text/printable.h"

static void check_text(const char *text, const char *shown)
{
	char *ret = printable_text(text);

	CHECK_STR(ret, shown);
	free(ret);
}

TEST(text)
{
	check_text("", "");
	check_text("/srv/app (deleted)", "/srv/app (deleted)");
	check_text("/srv/\x1b[2Japp", "/srv/\\x1b[2Japp");
	check_text("a\ncozbpf: error: b\r\t\x07", "a\\x0acozbpf: error: b\\x0d\\x09\\x07");
	check_text("\x7f\x01", "\\x7f\\x01");
	check_text("caf\xc3\xa9 \xe2\x96\x84 \xf0\x9f\x98\x80",
	    "caf\xc3\xa9 \xe2\x96\x84 \xf0\x9f\x98\x80");
}

TEST(eight_bits)
{
	check_text("\xc2\x9b.31m", "\\xc2\\x9b.31m"); /* CSI as one character */
	/* the same for 8-bit terminals; not UTF-8 */
	check_text("\x9b.31m \xff", "\\x9b.31m \\xff");
	check_text("\xc3", "\\xc3"); /* cut short */
	check_text("\xe2\x96", "\\xe2\\x96");
	/* an overlong form, a surrogate, a number that is too high */
	check_text("\xc0\xaf", "\\xc0\\xaf");
	check_text("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	check_text("\xed\xa0\x80", "\\xed\\xa0\\x80");
	check_text("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	/* turns the direction of writing */
	check_text(".\xe2\x80\xae.\xe2\x81\xa6.", ".\\xe2\\x80\\xae.\\xe2\\x81\\xa6.");
}

TEST(stream)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n), *out = printable_open(to);

	CHECK(out != to);
	fputs("a\tb\n\x1b]0;c\x07\n\xe2", out);
	fflush(out);
	fputs("\x96\x84 end", out); /* the other part of a character */
	printable_close(out, to);
	fputs("!\n", to);
	fclose(to);
	CHECK_STR(text, "a\tb\n\\x1b]0;c\\x07\n\xe2\x96\x84 end!\n");
	free(text);
}
