// SPDX-License-Identifier: BSD-3-Clause
/* Suggestions as a table and as JSON; see suggestions.h. */
#include "report/suggestions.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/text/printable.h"
#include "report/jsonout.h"

#define MAX_NAME 40
#define WHY_SIZE 256

void shell_word(FILE *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_-./:=+@%,";

	if (*text && !text[strspn(text, plain)]) {
		fputs(text, out);
		return;
	}
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc(*text, out);
	}
	putc('\'', out);
}

static int name_width(const struct suggestions *s)
{
	size_t width = strlen("candidate");

	for (size_t i = 0; i < s->n; i++) {
		size_t length = strlen(s->all[i].name);

		if (s->all[i].fault != CANDIDATE_NEVER && length > width)
			width = length;
	}
	return width < MAX_NAME ? (int)width : MAX_NAME;
}

static void print_spread(FILE *out, const struct candidate *c)
{
	if (c->removed_at > 0)
		fprintf(out, "%6s  ", "");
	else
		fprintf(out, "%4.0f %%  ", 100 * fmin(c->spread, c->cpu_spread));
}

static void print_row(FILE *out, const struct suggestions *s, size_t i, int width)
{
	const struct candidate *c = &s->all[i];
	char why[WHY_SIZE], rank[24] = "";

	if (i < s->good)
		snprintf(rank, sizeof(rank), "%zu", i + 1);
	candidate_why(c, &s->all[0], s->watch, why, sizeof(why));
	fprintf(out, "%3s  %-*.*s  %8.0f  ", rank, width, width, c->name, c->rate);
	print_spread(out, c);
	fprintf(out, "%4.0f ns  %s\n", c->cost_ns, why);
	if (i >= s->good)
		return;
	fprintf(out, "%3s  ", "");
	if (c->spec) {
		fputs("-P ", out);
		shell_word(out, c->spec);
	} else {
		fputs("found without -P", out);
	}
	putc('\n', out);
}

int report_suggestions(FILE *to, const struct suggestions *s)
{
	FILE *out = printable_open(to);
	int width = name_width(s);

	fprintf(out, "%s, watched for %.1f s\n", s->program,
	    s->watch->n * (double)CANDIDATE_SLICE_NS / 1e9);
	if (!s->n || s->all[0].fault == CANDIDATE_NEVER) {
		fprintf(out, "nothing was visited that could be a progress point\n");
		printable_close(out, to);
		return ferror(to) ? -1 : 0;
	}
	putc('\n', out);
	fprintf(out, "  #  %-*s  %8s  %6s  %7s  why\n", width, "candidate", "rate/s", "spread",
	    "a visit");
	for (size_t i = 0; i < s->n; i++)
		if (s->all[i].fault != CANDIDATE_NEVER)
			print_row(out, s, i, width);
	fprintf(out,
	    "\nspread: standard deviation of the visits in %" PRIu64
	    " ms, by time or by CPU time, as a share of their mean; a visit: what it costs\n",
	    (uint64_t)(CANDIDATE_SLICE_NS / 1000000));
	printable_close(out, to);
	return ferror(to) ? -1 : 0;
}

static const char *kind_name(enum candidate_kind kind)
{
	switch (kind) {
	case CANDIDATE_MARKER:
		return "marker";
	case CANDIDATE_USDT:
		return "usdt";
	case CANDIDATE_CALL:
		return "system-call";
	case CANDIDATE_FUNCTION:
		break;
	}
	return "function";
}

static void put_number(struct json *j, const char *key, double value)
{
	json_key(j, key);
	json_number(j, value);
}

static void put_candidate(struct json *j, const struct suggestions *s, const struct candidate *c)
{
	char why[WHY_SIZE];

	candidate_why(c, &s->all[0], s->watch, why, sizeof(why));
	json_open(j, '{');
	json_key(j, "name");
	json_string(j, c->name);
	json_key(j, "kind");
	json_string(j, kind_name(c->kind));
	json_key(j, "serves");
	json_bool(j, c->fault == CANDIDATE_SERVES);
	json_key(j, "spec");
	json_string(j, c->spec);
	put_number(j, "rate", c->rate);
	put_number(j, "spread", c->removed_at > 0 ? NAN : c->spread);
	put_number(j, "cpu_spread", c->removed_at > 0 ? NAN : c->cpu_spread);
	put_number(j, "covered", c->removed_at > 0 ? NAN : c->covered);
	put_number(j, "cost_ns", c->cost_ns);
	put_number(j, "score", c->score);
	json_key(j, "why");
	json_string(j, why);
	json_close(j, '}');
}

int report_suggestions_json(FILE *out, const struct suggestions *s)
{
	struct json j = {.out = out};

	json_open(&j, '{');
	json_key(&j, "schema");
	json_string(&j, "cozbpf-suggest/1");
	json_key(&j, "program");
	json_string(&j, s->program);
	put_number(&j, "watched_s", s->watch->n * (double)CANDIDATE_SLICE_NS / 1e9);
	json_key(&j, "stacks");
	json_count(&j, s->stacks);
	json_key(&j, "candidates");
	json_open(&j, '[');
	for (size_t i = 0; i < s->n; i++)
		if (s->all[i].fault != CANDIDATE_NEVER)
			put_candidate(&j, s, &s->all[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
	return ferror(out) ? -1 : 0;
}
