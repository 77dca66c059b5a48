// SPDX-License-Identifier: BSD-3-Clause
/* What to run next, where whole runs are the units: how often, how long that takes, and the words
 * to paste. */
#include "report/ending_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/shell.h"

/* of a message's words to paste; a longer command line is the user's to repeat */
#define MOST_WORDS 900
/* nobody runs a command so often */
#define MOST_RUNS 1000

/* Returns the command line, which the caller frees; NULL: there is none that can be shown. */
static char *command_line(const struct ending_facts *f, uint64_t runs)
{
	char *line = f->again ? strdup(f->again) : NULL, number[24];
	bool done = line != NULL && f->command;

	snprintf(number, sizeof(number), "%" PRIu64, runs);
	done = done && !shell_append(&line, "--end-to-end") && !shell_append(&line, "-n") &&
	       !shell_append(&line, number) && !shell_append(&line, "--");
	for (char *const *word = f->command; done && *word; word++)
		done = !shell_append(&line, *word);
	if (done && strlen(line) <= MOST_WORDS)
		return line;
	free(line);
	return NULL;
}

static void duration_words(uint64_t ns, char *buf, size_t size)
{
	double s = (double)ns / 1e9;

	if (s < 99.5)
		snprintf(buf, size, "%.0f s", fmax(s, 1));
	else
		snprintf(buf, size, "%.0f min", s / 60);
}

void ending_runs_words(const struct ending_facts *f, uint64_t runs, uint64_t ns, const char *before,
    const char *after, char *buf, size_t size)
{
	char *line = command_line(f, runs), time[32];

	duration_words(ns, time, sizeof(time));
	snprintf(buf, size, "%s%" PRIu64 " %sruns take about %s: ", before, runs, after, time);
	if (line)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s", line);
	else
		snprintf(buf + strlen(buf), size - strlen(buf),
		    "the same command line with --end-to-end -n %" PRIu64, runs);
	free(line);
}

void ending_say_more(const struct ending_facts *f, const struct estimate *e, struct ending *g)
{
	uint64_t more = f->is_end_to_end && f->runs ? estimate_more_runs(e) : 0;
	char words[1024];

	if (!more)
		return;
	more = more < MOST_RUNS ? more : MOST_RUNS;
	ending_runs_words(f, more, more * (f->all_runs_ns / f->runs),
	    "runs add up in the profile; ", "more ", words, sizeof(words));
	ending_say(g, "hint: %s", words);
}
