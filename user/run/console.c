// SPDX-License-Identifier: BSD-3-Clause
/* Messages, the progress line and the report at the end. The live view is in console_view.c. */
#include "run/console.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/text/printable.h"
#include "report/report.h"
#include "report/say.h"
#include "run/console_private.h"

#define PROGRESS_NS 500000000ULL /* between two progress lines */

int console_init(struct console *c, const struct console_options *o, struct error *e)
{
	*c = (struct console){.o = *o};
	return console_plan(c, e);
}

void console_deinit(struct console *c)
{
	console_close(c);
	view_destroy(c->view);
	c->view = NULL;
}

static void clear_line(const struct console *c)
{
	if (c->progress_shown)
		fputs("\r\033[K", stderr);
}

void console_say(const struct console *c, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	if (c->o.quiet)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text && !(console_is_open(c) && view_keep(c->view, text))) {
		clear_line(c);
		say("%s", text);
	}
	free(text);
}

static bool shows_progress(const struct console *c)
{
	const char *terminal = getenv("TERM");

	return !c->o.quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") &&
	       !console_is_open(c);
}

void console_clear_progress(struct console *c)
{
	clear_line(c);
	c->progress_shown = false;
}

static void show_line(struct console *c, const char *text)
{
	char *shown = printable_text(text); /* paths are the target's */
	struct winsize size = {0};
	int columns;

	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	columns = size.ws_col > 20 ? size.ws_col - 1 : 79;
	fprintf(stderr, "\r\033[K%.*s", columns, shown ? shown : "");
	free(shown);
	fflush(stderr);
	c->progress_shown = true;
}

void console_progress(struct console *c, const struct console_status *s, uint64_t now)
{
	uint64_t visits = 0, seconds = (now - s->started_ns) / 1000000000ULL;
	char text[400], rest[40] = "";

	if (now < c->progress_at_ns || !shows_progress(c))
		return;
	c->progress_at_ns = now + PROGRESS_NS;
	for (size_t i = 0; i < s->n_points; i++)
		visits += s->points[i].is_sampled ? 0 : s->points[i].visits;
	if (s->rests_ns)
		snprintf(rest, sizeof(rest), ", resting for %" PRIu64 " s",
		    (uint64_t)(s->rests_ns / 1000000000ULL));
	snprintf(text, sizeof(text),
	    "cozbpf: %" PRIu64 ":%02" PRIu64 "  run %u  %" PRIu64 " experiments, %" PRIu64
	    " visits, %" PRIu64 " samples in scope%s%s",
	    seconds / 60, seconds % 60, s->run, s->experiments, visits, s->in_scope, rest,
	    s->leader);
	show_line(c, text);
}

void console_waits(struct console *c, const char *text)
{
	char line[400];

	if (!shows_progress(c))
		return;
	snprintf(line, sizeof(line), "cozbpf: %s", text);
	show_line(c, line);
}

void console_report(const struct console *c, const struct estimate *e)
{
	struct text_options text = {.max_lines = 20};
	struct winsize size = {0};
	FILE *other;

	setlocale(LC_CTYPE, "");
	text.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (isatty(STDERR_FILENO) && !ioctl(STDERR_FILENO, TIOCGWINSZ, &size))
		text.width = size.ws_col;
	report_text(stderr, e, &text);
	other = c->view ? view_terminal(c->view, &text.width) : NULL;
	if (other) {
		report_text(other, e, &text);
		fclose(other);
	}
}
