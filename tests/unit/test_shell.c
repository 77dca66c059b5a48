// SPDX-License-Identifier: BSD-3-Clause
/* A shell reads the words that were written for it. */
#include "check.h"

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
