// SPDX-License-Identifier: BSD-3-Clause
/* A shell reads the words that were written for it. */
#include "check.h"

#include <errno.h>
#include <unistd.h>

#include "core/text/shell.h"

static const char *const words[] = {"./job", "", "a b", "it's", "$HOME", "*", "~", "-x", "a\nb",
    "\\", "tab\there", "\x01\x7f\xff", "\xc3\xa4", "'", "\"q\"", "#", "a;b|c&d<e>f(g)", "\\x41'"};
#define N (sizeof(words) / sizeof(words[0]))

TEST(words_as_written)
{
	char *line = NULL;

	for (size_t i = 0; i < N; i++)
		CHECK_EQ(shell_append(&line, words[i]), 0);
	CHECK_STR(line,
	    "./job '' 'a b' $'it\\'s' '$HOME' '*' '~' -x $'a\\x0ab' '\\' $'tab\\x09here' "
	    "$'\\x01\\x7f\\xff' $'\\xc3\\xa4' $'\\'' '\"q\"' '#' 'a;b|c&d<e>f(g)' "
	    "$'\\\\x41\\''");
	free(line);
}

/* What bash makes of the line. */
TEST(words_as_read)
{
	char *line = NULL, *command;
	FILE *f;

	if (access("/bin/bash", X_OK))
		return;
	for (size_t i = 0; i < N; i++)
		CHECK_EQ(shell_append(&line, words[i]), 0);
	CHECK(asprintf(&command, "exec /bin/bash -c \"$(cat <<'END'\nprintf '%%s\\0' %s\nEND\n)\"",
		  line) > 0);
	f = popen(command, "r");
	for (size_t i = 0; i < N; i++) {
		char *read = NULL;
		size_t size = 0;

		CHECK(getdelim(&read, &size, 0, f) > 0);
		CHECK_STR(read, words[i]);
		free(read);
	}
	CHECK_EQ(pclose(f), 0);
	free(command);
	free(line);
}

/* Words that were written are read again, and what a shell would do besides is not done. */
TEST(lines_as_split)
{
	char *line = NULL, **read;

	for (size_t i = 0; i < N; i++)
		CHECK_EQ(shell_append(&line, words[i]), 0);
	CHECK_EQ(shell_split(line, &read), 0);
	for (size_t i = 0; i < N; i++)
		CHECK_STR(read[i], words[i]);
	CHECK(!read[N]);
	shell_free(read);
	free(line);
	CHECK_EQ(shell_split(" a\\ b\t\"c $X \\\"d\\n\"'e'f > *  g#h # no word\n", &read), 0);
	CHECK_STR(read[0], "a b");
	CHECK_STR(read[1], "c $X \"d\\nef");
	CHECK_STR(read[2], ">");
	CHECK_STR(read[3], "*");
	CHECK_STR(read[4], "g#h");
	CHECK(!read[5]);
	shell_free(read);
}

TEST(lines_without_words)
{
	static const char *const none[] = {"", "  \t\n", "# all of it", "  #"}, *const open[] = {
										    "a 'b", "\"",
										    "$'\\'",
										    "x\"y\\\""};
	char **read;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		CHECK_EQ(shell_split(none[i], &read), 0);
		CHECK(!read[0]);
		shell_free(read);
	}
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		CHECK_EQ(shell_split(open[i], &read), -EINVAL);
	/* a backslash at the end quotes nothing */
	CHECK_EQ(shell_split("a\\", &read), 0);
	CHECK_STR(read[0], "a\\");
	shell_free(read);
	shell_free(NULL);
}
