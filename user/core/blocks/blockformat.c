// SPDX-License-Identifier: BSD-3-Clause
/* Writes runs as text; blockformat.h has the format, and blockread.c the way back. */
#include "core/blocks/blockformat.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/hash.h"

uint64_t block_format_sum(const char *text, size_t n)
{
	return hash_bytes(0, text, n);
}

/* Ends the line @text, which has grown in a stream of its own, with its sum. */
static void put_summed(FILE *out, const char *text, size_t n)
{
	fwrite(text, 1, n, out);
	fprintf(out, "\tsum=%016" PRIx64 "\n", block_format_sum(text, n));
}

void block_format_version(FILE *out)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s\t%d", BLOCK_LOG_TYPE, BLOCK_LOG_VERSION);

	put_summed(out, line, (size_t)n);
}

bool block_format_is_log(const char *text, size_t n)
{
	size_t type = strlen(BLOCK_LOG_TYPE);

	return !memcmp(text, BLOCK_LOG_TYPE, n < type ? n : type);
}

/* What separates fields and lines stands for a blank. */
static void put_text(FILE *out, const char *key, const char *value)
{
	fprintf(out, "\t%s=", key);
	for (; *value; value++)
		putc((unsigned char)*value < ' ' ? ' ' : *value, out);
}

static void put_count(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, "\t%s=%" PRIu64, key, value);
}

/* Whole numbers stay exact. */
static void put_number(FILE *out, double v)
{
	if (!(v > 0) || isinf(v))
		fputs("\t0", out);
	else if (v < 1e15 && v == floor(v))
		fprintf(out, "\t%" PRIu64, (uint64_t)v);
	else
		fprintf(out, "\t%.7g", v);
}

static void put_run(
    FILE *out, uint64_t id, size_t bytes, const struct block_session *s, const struct block_run *r)
{
	fprintf(out, "run\tsession=%016" PRIx64 "\tbytes=%zu", id, bytes);
	put_count(out, "started", r->started_ns);
	fprintf(out, "\tstatus=%d\tended=%d", r->status, r->ended);
	put_count(out, "wall", r->wall_ns);
	put_count(out, "cpu", r->cpu_ns);
	put_count(out, "probed", r->probed_ns);
	put_count(out, "paused", r->paused_ns);
	put_count(out, "blocked", r->blocked_ns);
	put_count(out, "runnable", r->runnable_ns);
	put_count(out, "switches", r->switches);
	put_count(out, "preemptions", r->preemptions);
	put_count(out, "migrations", r->migrations);
	put_count(out, "minor-faults", r->minor_faults);
	put_count(out, "major-faults", r->major_faults);
	put_count(out, "perturb", s->perturb_pct);
	put_count(out, "seed", s->seed);
	put_text(out, "build-id", s->build_id);
	put_text(out, "program", s->program ? s->program : "");
	put_text(out, "command", r->command ? r->command : "");
	putc('\n', out);
}

static int put_place(FILE *out, uint64_t id, size_t index, const struct block_place *p)
{
	char *text = NULL;
	size_t n;
	FILE *line = open_memstream(&text, &n);

	if (!line)
		return -ENOMEM;
	fprintf(line, "place\tsession=%016" PRIx64 "\tindex=%zu", id, index);
	put_text(line, "object", p->object);
	put_text(line, "build-id", p->build_id);
	put_count(line, "start", p->start);
	put_count(line, "end", p->end);
	put_text(line, "function", p->function);
	put_count(line, "offset", p->offset);
	put_text(line, "lines", p->lines ? p->lines : "");
	put_count(line, "calls", p->calls);
	if (fclose(line)) {
		free(text);
		return -ENOMEM;
	}
	put_summed(out, text, n);
	free(text);
	return 0;
}

static void put_figures(FILE *out, const struct block_figures *f)
{
	const char *separator = "\t";

	fprintf(out, "%" PRIu32, f->block);
	put_number(out, f->frequency);
	put_number(out, f->frequency_se);
	put_number(out, f->share);
	fprintf(out, "\t%" PRIu64, f->timed);
	put_number(out, f->timed ? f->min_ns : 0);
	put_number(out, f->timed ? f->max_ns : 0);
	put_number(out, f->timed ? f->avg_ns : 0);
	put_number(out, f->timed ? f->wall_avg_ns : 0);
	for (unsigned i = 0; f->timed && i < BLOCK_CELLS; i++) {
		if (!f->cells[i])
			continue;
		fprintf(out, "%s%u:%" PRIu32, separator, i, f->cells[i]);
		separator = ",";
	}
	putc('\n', out);
}

static int put_body(FILE *out, uint64_t id, const struct block_place *places, size_t first_place,
    size_t n_places, const struct block_figures *figures, size_t n_figures)
{
	for (size_t i = first_place; i < n_places; i++)
		if (put_place(out, id, i, &places[i]))
			return -ENOMEM;
	for (size_t i = 0; i < n_figures; i++)
		put_figures(out, &figures[i]);
	return ferror(out) ? -ENOMEM : 0;
}

/* Lines of the run up to its end line. */
static int put_summed_run(FILE *out, uint64_t id, const struct block_session *session,
    const struct block_run *run, const char *body, size_t bytes)
{
	char *text = NULL;
	size_t n;
	FILE *whole = open_memstream(&text, &n);

	if (!whole)
		return -ENOMEM;
	put_run(whole, id, bytes, session, run);
	fwrite(body, 1, bytes, whole);
	if (fclose(whole)) {
		free(text);
		return -ENOMEM;
	}
	putc('\n', out);
	fwrite(text, 1, n, out);
	fprintf(out, "end\tsum=%016" PRIx64 "\n", block_format_sum(text, n));
	free(text);
	return ferror(out) ? -ENOMEM : 0;
}

int block_format_run(FILE *out, uint64_t id, const struct block_session *session,
    const struct block_run *run, const struct block_place *places, size_t first_place,
    size_t n_places, const struct block_figures *figures, size_t n_figures)
{
	char *body = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&body, &bytes);
	int ret;

	if (!stream)
		return -ENOMEM;
	ret = put_body(stream, id, places, first_place, n_places, figures, n_figures);
	if (fclose(stream))
		ret = -ENOMEM;
	if (!ret)
		ret = put_summed_run(out, id, session, run, body, bytes);
	free(body);
	return ret;
}
