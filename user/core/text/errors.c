// SPDX-License-Identifier: BSD-3-Clause
/* Fills struct error; see errors.h. */
#include "core/text/errors.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void error_fill(struct error *e, int status, const char *cause, ...)
{
	va_list args;

	if (!e)
		return;
	e->status = status;
	e->hint[0] = 0;
	va_start(args, cause);
	vsnprintf(e->cause, sizeof(e->cause), cause, args);
	va_end(args);
}

void error_fill_hint(struct error *e, const char *hint, ...)
{
	va_list args;

	if (!e)
		return;
	va_start(args, hint);
	vsnprintf(e->hint, sizeof(e->hint), hint, args);
	va_end(args);
}

int error_hint_files(struct error *e, int err)
{
	if (err == EMFILE)
		error_hint(e, "raise the limit on open files, in the shell that starts cozbpf: "
			      "ulimit -n 65536; or profile fewer processes");
	else if (err == ENFILE)
		error_hint(e, "raise the machine's limit on open files: sysctl fs.file-max");
	return -1;
}
