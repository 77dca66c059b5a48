// SPDX-License-Identifier: BSD-3-Clause
/* Fills the page of html/ with an estimate's figures; see html.h. html/ holds the looks, words.c
 * the sentences. */
#include "report/html_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "core/places/waits.h"
#include "report/words.h"

static int compare_names(const void *a, const void *b)
{
	const struct name_item *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	return by_name ? by_name : x->id < y->id ? -1 : 1;
}

static int compare_ids(const void *a, const void *b)
{
	const struct name_item *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

int name_set_init(struct name_set *s, const struct estimate *e, size_t n, bool progress)
{
	size_t kept = 0;

	s->n = 0;
	s->items = calloc(n + 1, sizeof(*s->items));
	if (!s->items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		s->items[i] = (struct name_item){
		    progress ? e->lines[i].progress : e->lines[i].line, (uint32_t)i};
	qsort(s->items, n, sizeof(*s->items), compare_names);
	for (size_t i = 0; i < n; i++) {
		if (!kept || strcmp(s->items[i].name, s->items[kept - 1].name))
			s->items[kept++] = s->items[i];
	}
	s->n = kept;
	/* Of equal names only the first stays. New numbers give ids in the order of first
	 * appearance. */
	qsort(s->items, kept, sizeof(*s->items), compare_ids);
	for (size_t i = 0; i < kept; i++)
		s->items[i].id = (uint32_t)i;
	qsort(s->items, kept, sizeof(*s->items), compare_names);
	return 0;
}

void name_set_deinit(struct name_set *s)
{
	free(s->items);
}

static int compare_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct name_item *)item)->name);
}

uint32_t name_set_find(const struct name_set *s, const char *name)
{
	const struct name_item *found =
	    bsearch(name, s->items, s->n, sizeof(*s->items), compare_name);

	return found ? found->id : NAME_NONE;
}

const char **name_set_order(const struct name_set *s)
{
	const char **ret = calloc(s->n + 1, sizeof(*ret));

	for (size_t i = 0; ret && i < s->n; i++)
		ret[s->items[i].id] = s->items[i].name;
	return ret;
}

/* [mean, its interval's ends, then p50, p90 and p99 alike], in ns */
static void write_figures(struct json *j, const struct latency_figures *f)
{
	const struct latency_figure *all[] = {&f->mean, &f->p50, &f->p90, &f->p99};

	json_open(j, '[');
	for (size_t i = 0; i < 4; i++) {
		json_number(j, all[i]->value);
		json_number(j, all[i]->lo);
		json_number(j, all[i]->hi);
	}
	json_close(j, ']');
}

/* [line speedup, program speedup, its interval's ends, measured speedup, experiments, visits] */
static void write_points(struct json *j, const struct estimate_line *l)
{
	json_key(j, "points");
	json_open(j, '[');
	for (size_t i = 0; i < l->n_points; i++) {
		const struct estimate_point *p = &l->points[i];

		json_open(j, '[');
		json_number(j, p->line_speedup);
		json_number(j, p->program_speedup);
		json_number(j, p->ci_lo);
		json_number(j, p->ci_hi);
		json_number(j, p->raw_program_speedup);
		json_count(j, p->experiments);
		json_count(j, p->visits);
		json_close(j, ']');
	}
	json_close(j, ']');
	if (!l->latencies)
		return;
	json_key(j, "latencies");
	json_open(j, '[');
	for (size_t i = 0; i < 1 + l->n_points; i++)
		write_figures(j, &l->latencies[i]);
	json_close(j, ']');
}

/* What the line promises, or what is missing. */
static void write_words(
    struct json *j, const struct estimate *e, const struct estimate_line *l, const char *label)
{
	char words[2048];

	effect_words(l, label, words, sizeof(words));
	if (!words[0])
		flat_words(l, label, words, sizeof(words));
	if (!words[0])
		shortage_words(e, l, words, sizeof(words));
	json_key_string(j, "words", words);
}

/* Where the profile has waits: the unit's share of all waits, or of all that was executed; and the
 * waits of a line. */
static void write_shares(struct json *j, const struct estimate *e, const struct estimate_line *l)
{
	const struct waiting *w = &e->waiting;
	char words[256];
	size_t length;

	if (!w->off)
		return;
	if (wait_of_unit(l->line, &length) >= 0) {
		json_key_number(j, "off", waiting_share(l->samples, w->off));
		return;
	}
	json_key_number(j, "on", waiting_share(l->samples, w->on));
	for (size_t i = 0; i < w->n; i++) {
		if (!w->lines[i].off || strcmp(w->lines[i].line, l->line) != 0)
			continue;
		line_waits_words(w, &w->lines[i], words, sizeof(words));
		json_key_string(j, "waits", words);
	}
}

static void write_series(struct json *j, const struct estimate *e, const struct estimate_line *l,
    const char *label, uint32_t line, uint32_t point)
{
	json_open(j, '{');
	json_key_count(j, "line", line);
	json_key_count(j, "point", point);
	if (l->holder && l->holder < e->lines + HTML_MAX_SERIES)
		json_key_count(j, "holder", (uint64_t)(l->holder - e->lines));
	json_key(j, "latency");
	json_bool(j, l->is_latency);
	json_key_string(j, "verdict", verdict_name(l->verdict));
	/* As in the report: lines with an answer, lines whose interval is too wide, all others. */
	json_key_count(j, "order",
	    l->verdict != VERDICT_NOT_ENOUGH_DATA ? 0
	    : l->shortage == SHORT_INTERVAL       ? 1
						  : 2);
	json_key(j, "keys");
	json_numbers(j, l->rank_keys, N_SORT_KEYS);
	json_key(j, "slope");
	json_numbers(j, (const double[]){l->slope, l->slope_lo, l->slope_hi}, 3);
	json_key_number(j, "max", l->max_speedup);
	json_key_number(j, "phase", l->phase_factor);
	json_key_count(j, "experiments", l->experiments);
	json_key_count(j, "baselines", l->baselines);
	json_key_count(j, "samples", l->samples);
	write_shares(j, e, l);
	json_key_count(j, "visits", l->visits);
	write_words(j, e, l, label);
	write_points(j, l);
	json_close(j, '}');
}

static void write_latency(struct json *j, const struct estimate_latency *l)
{
	char words[1024];

	json_open(j, '{');
	json_key_string(j, "point", l->name);
	latency_words(&l->now, words, sizeof(words));
	json_key_string(j, "now", words);
	json_key_number(j, "in_flight", l->in_flight);
	json_key(j, "warnings");
	json_open(j, '[');
	for (unsigned n = 0;; n++) {
		latency_warning(l, n, words, sizeof(words));
		if (!words[0])
			break;
		json_string(j, words);
	}
	json_close(j, ']');
	json_close(j, '}');
}

/* [number, what follows 1, what follows other numbers] */
static void write_losses(struct json *j, const struct run_record *totals)
{
	json_key(j, "losses");
	json_open(j, '[');
	for (size_t i = 0; i < n_run_counters; i++) {
		uint64_t n = counter_value(&run_counters[i], totals);

		if (run_counters[i].shown != COUNTER_LOSS || !(n || run_counters[i].always))
			continue;
		json_open(j, '[');
		json_count(j, n);
		json_string(j, run_counters[i].one);
		json_string(j, run_counters[i].many);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void write_doubts(struct json *j, const struct run_record *totals)
{
	char words[512];

	json_key(j, "doubts");
	json_open(j, '[');
	for (size_t i = 0; i < n_run_counters; i++) {
		counter_warning(&run_counters[i], totals, words, sizeof(words));
		if (words[0])
			json_string(j, words);
	}
	json_close(j, ']');
}

static void write_summary(
    struct json *j, const struct profile *p, const struct estimate *e, const struct html_options *o)
{
	json_key(j, "profiles");
	json_open(j, '[');
	for (size_t i = 0; i < o->n_profiles; i++)
		json_string(j, o->profiles[i]);
	json_close(j, ']');
	json_key_string(j, "sort", sort_name(o->sort));
	json_key_string(j, "reason", o->reason);
	json_key_count(j, "started_ns", p->n_runs ? p->runs[0].startup_time_ns : 0);
	json_key_count(j, "runs", e->runs);
	json_key_count(j, "experiments_total", e->experiments);
	json_key_count(j, "samples", e->samples);
	write_losses(j, &e->totals);
	json_key_string(j, "unit", estimate_unit(e));
	json_key_count(j, "left_out", e->n_dropped);
	json_key_count(j, "series_total", e->n_lines);
	json_key_count(j, "skipped", p->n_skipped);
	json_key_number(j, "runtime_s", e->runtime_s);
	write_doubts(j, &e->totals);
}

static int write_names(struct json *j, const char *key, const struct name_set *s, size_t prefix)
{
	const char **names = name_set_order(s);

	if (!names)
		return -ENOMEM;
	json_key(j, key);
	json_open(j, '[');
	for (size_t i = 0; i < s->n; i++) {
		char room[UNIT_ROOM];

		json_string(j, unit_label(names[i], prefix, room));
	}
	json_close(j, ']');
	free(names);
	return 0;
}

/* [label, share on CPU, off CPU, its waits] */
static void write_waiting_line(
    struct json *j, const struct estimate *e, const struct waiting_line *l, size_t prefix)
{
	char words[256];

	json_open(j, '[');
	json_string(j, any_label(e, l->line, prefix));
	json_number(j, l->on_share);
	json_number(j, l->off_share);
	line_waits_words(&e->waiting, l, words, sizeof(words));
	json_string(j, words);
	json_close(j, ']');
}

/* [label, share off CPU, who ended the waits] */
static void write_leading(
    struct json *j, const struct estimate *e, const struct waiting_unit *u, size_t prefix)
{
	char words[8192];

	json_open(j, '[');
	json_string(j, any_label(e, u->unit, prefix));
	json_number(j, waiting_share(u->count, e->waiting.off));
	wakers_words(e, u, prefix, words, sizeof(words));
	json_string(j, words);
	json_close(j, ']');
}

static void write_waiting(struct json *j, const struct estimate *e, size_t prefix)
{
	const struct waiting_unit *leading[WAITING_UNITS];
	const struct waiting *w = &e->waiting;
	size_t n = waiting_leading(w, leading), n_lines = waiting_lines(w);
	char words[256];

	if (!w->off)
		return;
	json_key(j, "waiting");
	json_open(j, '{');
	waiting_words(w, words, sizeof(words));
	json_key_string(j, "words", words);
	json_key(j, "lines");
	json_open(j, '[');
	for (size_t i = 0; i < n_lines && i < WAITING_LINES; i++)
		write_waiting_line(j, e, &w->lines[i], prefix);
	json_close(j, ']');
	json_key(j, "leading");
	json_open(j, '[');
	for (size_t i = 0; i < n; i++)
		write_leading(j, e, leading[i], prefix);
	json_close(j, ']');
	json_close(j, '}');
}

static int write_data(struct json *j, const struct profile *p, const struct estimate *e,
    const struct html_options *o, const struct name_set *lines, const struct name_set *points)
{
	size_t n = e->n_lines < HTML_MAX_SERIES ? e->n_lines : HTML_MAX_SERIES,
	       prefix = common_directories(e);
	int ret;

	json_open(j, '{');
	write_summary(j, p, e, o);
	json_key_count(j, "prefix", prefix);
	ret = write_names(j, "lines", lines, 0);
	if (!ret)
		ret = write_names(j, "labels", lines, prefix);
	if (!ret)
		ret = write_names(j, "points", points, 0);
	json_key(j, "latencies");
	json_open(j, '[');
	for (size_t i = 0; i < e->n_latencies; i++)
		write_latency(j, &e->latencies[i]);
	json_close(j, ']');
	write_waiting(j, e, prefix);
	if (!ret)
		ret = html_machines(j, &e->machines, prefix);
	json_key(j, "series");
	json_open(j, '[');
	for (size_t i = 0; i < n; i++) {
		const struct estimate_line *l = &e->lines[i];
		char room[UNIT_ROOM];

		write_series(j, e, l, unit_label(l->line, prefix, room),
		    name_set_find(lines, l->line), name_set_find(points, l->progress));
	}
	json_close(j, ']');
	if (!ret)
		ret = html_sources(j, p, lines, o);
	if (!ret)
		ret = html_experiments(j, p, lines, points);
	json_close(j, '}');
	return ret;
}

int report_html(
    FILE *out, const struct profile *p, const struct estimate *e, const struct html_options *o)
{
	size_t n = e->n_lines < HTML_MAX_SERIES ? e->n_lines : HTML_MAX_SERIES;
	struct name_set lines = {0}, points = {0};
	struct json j = {.out = out};
	int ret = name_set_init(&lines, e, n, false);

	if (!ret)
		ret = name_set_init(&points, e, n, true);
	if (!ret) {
		fwrite(page_head, 1, sizeof(page_head), out);
		ret = write_data(&j, p, e, o, &lines, &points);
		fwrite(page_tail, 1, sizeof(page_tail), out);
	}
	name_set_deinit(&points);
	name_set_deinit(&lines);
	return ret ? ret : ferror(out) ? -1 : 0;
}
