// SPDX-License-Identifier: BSD-3-Clause
/* Nodes that differ, as the page shows them: the sentences of the report in text, and a table. */
#include "report/html_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

/* The sentences: a line of @text each, which is taken apart. */
static void write_words(struct json *j, char *text)
{
	char *left, *line = strtok_r(text, "\n", &left);

	json_key(j, "words");
	json_open(j, '[');
	for (; line; line = strtok_r(NULL, "\n", &left))
		json_string(j, line);
	json_close(j, ']');
}

/* [node, progress point, whether a latency, time per visit beyond the median node's, its interval's
 * ends, baselines, whether the node differs beyond chance] */
static void write_speed(struct json *j, const struct machines *m, const struct machine_speed *s)
{
	json_open(j, '[');
	json_string(j, m->names[s->machine]);
	json_string(j, s->progress);
	json_bool(j, s->is_latency);
	json_number(j, s->slower);
	json_number(j, s->lo);
	json_number(j, s->hi);
	json_count(j, s->baselines);
	json_bool(j, s->differs);
	json_close(j, ']');
}

int html_machines(struct json *j, const struct machines *m, size_t prefix)
{
	size_t length;
	char *text = NULL;
	FILE *out;

	if (m->n < 2)
		return 0;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	machines_words(out, m, prefix);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	json_key(j, "nodes");
	json_open(j, '{');
	write_words(j, text);
	json_key_count(j, "speeds_total", m->n_speeds);
	json_key(j, "speeds");
	json_open(j, '[');
	for (size_t i = 0; i < m->n_speeds && i < HTML_MAX_NODES; i++)
		write_speed(j, m, &m->speeds[i]);
	json_close(j, ']');
	json_close(j, '}');
	free(text);
	return 0;
}
