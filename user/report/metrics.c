// SPDX-License-Identifier: BSD-3-Clause
/* The text format of Prometheus; see metrics.h. All samples of a metric stand together, as the
 * format wants it. */
#include "report/metrics.h"

#include <math.h>
#include <string.h>

#include "core/text/utf8.h"
#include "report/words.h"

struct writer {
	FILE *out;
	const struct metrics_facts *f;
	const struct estimate *e;
	const struct estimate_line *units[METRICS_UNITS];
	size_t n_units;
};

#define REPLACEMENT 0xfffd

/* Of a label: UTF-8, which names of the target's need not be. Returns its bytes. */
static size_t next_character(const char *s, uint32_t *ret)
{
	size_t n = utf8_character(s, strnlen(s, 4), ret);

	if (!n)
		*ret = REPLACEMENT;
	return n ? n : 1;
}

static bool is_same_label(const char *a, const char *b)
{
	uint32_t x, y;

	while (*a && *b) {
		a += next_character(a, &x);
		b += next_character(b, &y);
		if (x != y)
			return false;
	}
	return *a == *b;
}

/* Control characters are legal in a label. */
static void print_escaped(FILE *out, const char *s)
{
	size_t n;
	uint32_t c;

	for (; *s; s += n) {
		n = next_character(s, &c);
		if (c == REPLACEMENT) {
			fputs("\uFFFD", out);
		} else if (*s == '\n') {
			fputs("\\n", out);
		} else {
			fprintf(out, "%s%.*s", *s == '"' || *s == '\\' ? "\\" : "", (int)n, s);
		}
	}
}

static void print_label(FILE *out, const char *before, const char *name, const char *value)
{
	fprintf(out, "%s%s=\"", before, name);
	print_escaped(out, value);
	putc('"', out);
}

static void print_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_target(const struct writer *w, const char *name)
{
	fputs(name, w->out);
	print_label(w->out, "{", "target", w->f->target);
	print_label(w->out, ",", "profile", w->f->profile);
}

/* Without a locale's decimal comma: the tool sets none for numbers. */
static void print_value(FILE *out, double v)
{
	fprintf(out, "} %.10g\n", v);
}

static void print_one(
    const struct writer *w, const char *name, const char *type, const char *help, double value)
{
	print_head(w->out, name, type, help);
	print_target(w, name);
	print_value(w->out, value);
}

static double slope(const struct writer *w, const struct estimate_line *l)
{
	(void)w;
	return l->slope;
}

static double slope_lower(const struct writer *w, const struct estimate_line *l)
{
	(void)w;
	return l->slope_lo;
}

static double slope_upper(const struct writer *w, const struct estimate_line *l)
{
	(void)w;
	return l->slope_hi;
}

static double gain(const struct writer *w, const struct estimate_line *l)
{
	(void)w;
	return example_gain(l);
}

static double share(const struct writer *w, const struct estimate_line *l)
{
	return w->e->samples ? (double)l->samples / (double)w->e->samples : NAN;
}

static double verdict(const struct writer *w, const struct estimate_line *l)
{
	(void)w;
	return l->verdict == VERDICT_OPTIMIZE ? 1 : l->verdict == VERDICT_CONTENTION ? -1 : 0;
}

static const struct {
	const char *name, *help;
	double (*of)(const struct writer *w, const struct estimate_line *l);
} of_units[] = {
    {"cozbpf_slope", "Program speedup per line speedup, by regression through 0.", slope},
    {"cozbpf_slope_lower", "Lower end of the slope's 95 % interval.", slope_lower},
    {"cozbpf_slope_upper", "Upper end of the slope's 95 % interval.", slope_upper},
    {"cozbpf_gain_25_ratio", "Time per visit that is saved when the unit is 25 % faster.", gain},
    {"cozbpf_samples_ratio", "The unit's part of all samples.", share},
    {"cozbpf_verdict", "1: worth optimizing, 0: no effect, -1: faster makes it slower.", verdict},
};

static void print_unit(const struct writer *w, const char *metric, size_t i, double value)
{
	const struct estimate_line *l = w->units[i];

	print_target(w, metric);
	print_label(w->out, ",", "point", l->progress);
	print_label(w->out, ",", "kind", l->is_latency ? "latency" : "throughput");
	print_label(w->out, ",", "unit", l->line);
	print_value(w->out, value);
}

static void print_units(const struct writer *w)
{
	for (size_t m = 0; w->n_units && m < sizeof(of_units) / sizeof(*of_units); m++) {
		print_head(w->out, of_units[m].name, "gauge", of_units[m].help);
		for (size_t i = 0; i < w->n_units; i++) {
			double value = of_units[m].of(w, w->units[i]);

			if (isfinite(value))
				print_unit(w, of_units[m].name, i, value);
		}
	}
}

/* Prometheus refuses a whole file in which two series have the same labels. */
static bool is_same_series(const struct estimate_line *a, const struct estimate_line *b)
{
	return a->is_latency == b->is_latency && is_same_label(a->line, b->line) &&
	       is_same_label(a->progress, b->progress);
}

/* Whether unit @l, which has a verdict, is among the first ones of its point. */
static bool is_told(const struct writer *w, const struct estimate_line *l)
{
	size_t before = 0;

	for (size_t i = 0; i < w->n_units; i++) {
		if (is_same_series(w->units[i], l))
			return false;
		before += estimate_same_point(w->units[i], l);
	}
	return before < METRICS_OF_POINT && w->n_units < METRICS_UNITS &&
	       strlen(l->line) <= METRICS_NAME;
}

static void choose(struct writer *w)
{
	for (size_t i = 0; w->e && i < w->e->n_lines; i++)
		if (estimate_is_decided(&w->e->lines[i]) && is_told(w, &w->e->lines[i]))
			w->units[w->n_units++] = &w->e->lines[i];
}

int report_metrics(FILE *out, const struct metrics_facts *f, const struct estimate *e)
{
	struct writer w = {.out = out, .f = f, .e = e};

	choose(&w);
	print_one(&w, "cozbpf_start_time_seconds", "gauge",
	    "When cozbpf began to watch, since the epoch.", f->started_s);
	print_one(
	    &w, "cozbpf_series_total", "counter", "Series of experiments.", (double)f->series);
	print_one(&w, "cozbpf_series_seconds_total", "counter",
	    "Time in series: what experiments have taken of all time.", f->series_s);
	print_one(&w, "cozbpf_refusals_total", "counter",
	    "How often load or a command said that nothing is to be measured.",
	    (double)f->refusals);
	print_one(&w, "cozbpf_experiments_total", "counter", "Experiments that count.",
	    (double)f->experiments);
	print_units(&w);
	return ferror(out) ? -1 : 0;
}
