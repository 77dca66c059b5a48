// SPDX-License-Identifier: BSD-3-Clause
/* Messages to the user; see say.h. */
#include "report/say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/text/printable.h"

int say_error(const struct error *e)
{
	say("error: %s", e->cause);
	if (e->hint[0])
		say("hint: %s", e->hint);
	return e->status;
}

void say(const char *format, ...)
{
	char *text = NULL, *shown = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		shown = printable_text(text);
	if (shown)
		fprintf(stderr, "cozbpf: %s\n", shown);
	free(shown);
	free(text);
}

FILE *say_stdout(void)
{
	return isatty(STDOUT_FILENO) ? printable_open(stdout) : stdout;
}
