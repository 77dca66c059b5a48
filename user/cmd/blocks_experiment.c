// SPDX-License-Identifier: BSD-3-Clause
/* What would be gained if the slow case of a block were as fast as the usual one; see
 * blocks_experiment.h. */
#include "cmd/blocks_experiment.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/blocks/analyse.h"
#include "core/text/paths.h"
#include "report/say.h"
#include "symbols/elf/privileges.h"

/* one after the other, each of as many runs */
#define LEADERS 3
/* the blocks that these are taken from: some may be in libraries */
#define LEADERS_MOST 20
/* whole runs are units of progress: fewer tell nothing */
#define LEAST_RUNS 20
#define PROFILE "profile.coz"
/* the threshold of reports */
#define THRESHOLD_PCT 5

uint64_t blocks_log_length(const char *log)
{
	struct stat st;

	return stat(log, &st) ? 0 : (uint64_t)st.st_size;
}

/* The first line of the log, which says what it is, and what follows @before. */
static char *read_new(FILE *f, uint64_t before, size_t *ret_n)
{
	char *line = NULL, *text = NULL;
	size_t room = 0, used = 0;
	ssize_t n = getline(&line, &room, f);
	uint64_t from = before > (uint64_t)n ? before : (uint64_t)n;
	struct stat st;

	if (n > 0 && !fstat(fileno(f), &st) && (uint64_t)st.st_size >= from &&
	    !fseeko(f, (off_t)from, SEEK_SET))
		text = malloc((size_t)n + (size_t)((uint64_t)st.st_size - from) + 1);
	if (text) {
		memcpy(text, line, (size_t)n);
		used = fread(text + n, 1, (size_t)((uint64_t)st.st_size - from), f);
		*ret_n = (size_t)n + used;
	}
	free(line);
	return text;
}

static int read_logs(struct block_logs *l, const char *name, uint64_t before, struct error *e)
{
	FILE *f;
	char *text;
	size_t n;
	int err;

	privileges_lower();
	f = fopen(name, "re");
	text = f ? read_new(f, before, &n) : NULL;
	err = text ? block_logs_read(l, text, n, name, e)
		   : error_set(e, EXIT_OTHER, "cannot read '%s': %s", name, strerror(errno));
	privileges_raise();
	if (f)
		fclose(f);
	free(text);
	return err;
}

/* Experiments know steps of 5 %. */
static unsigned gain_pct(const struct block_leader *l)
{
	double pct = 5 * round(20 * (1 - l->typical_ns / l->mean_ns));

	return pct > 100 ? 100 : (unsigned)pct;
}

static int experiment_on(const struct run_options *blocks, const struct string_list *progress,
    const struct block_leader *l)
{
	char *name;
	const char *unit;
	unsigned speedups[] = {0, gain_pct(l)};
	struct run_options o = *blocks;
	int status;

	if (asprintf(&name, "%s+0x%llx", l->place->function, (unsigned long long)l->place->offset) <
	    0)
		return EXIT_OTHER;
	unit = name;
	if (!blocks->quiet)
		say("experiments on %s%s%s, by %u %% faster: its mean is %.3g us, its median %.3g "
		    "us",
		    name, *l->place->lines ? ", " : "", l->place->lines, speedups[1],
		    l->mean_ns / 1e3, l->typical_ns / 1e3);
	o.blocks = NULL;
	o.output = PROFILE;
	o.fixed_lines = (struct string_list){&unit, 1};
	o.progress = *progress;
	o.speedups = speedups;
	o.n_speedups = 2;
	o.end_to_end = !progress->n && !o.pids.n;
	if (o.end_to_end) {
		o.duration_ns = 0;
		o.runs = o.runs < LEAST_RUNS ? LEAST_RUNS : o.runs;
	}
	o.no_spin = o.no_goroutines = false;
	if (blocks->blocks->n_commands)
		o.command = blocks->blocks->commands[0].argv;
	status = run_profile(&o);
	free(name);
	return status;
}

static int fail_no_leader(bool is_elsewhere, struct error *e)
{
	if (is_elsewhere) {
		error_set(e, EXIT_NO_RESULT, "no block of the program itself could be tried");
		return error_hint(e, "experiments find blocks of the program, not of libraries");
	}
	error_set(e, EXIT_NO_RESULT, "no block takes %d %% of a run and varies by as much",
	    THRESHOLD_PCT);
	return error_hint(e, "there is nothing to experiment on; more runs or inputs may differ");
}

/* On the first ones that can be tried. Of several processes each may run another program. */
static int experiment_on_leaders(const struct run_options *blocks,
    const struct string_list *progress, const struct block_analysis *a, struct error *e)
{
	struct block_leader leaders[LEADERS_MOST];
	size_t n = blocks_leading(a, leaders, LEADERS_MOST), tried = 0;
	int status = EXIT_OK;

	for (size_t i = 0; i < n && tried < LEADERS && !status; i++) {
		if (leaders[i].is_elsewhere && blocks->pids.n < 2) {
			if (!blocks->quiet)
				say("no experiments on %s+0x%llx: it is not in the program, but in "
				    "'%s'",
				    leaders[i].place->function,
				    (unsigned long long)leaders[i].place->offset,
				    leaders[i].place->object);
			continue;
		}
		status = experiment_on(blocks, progress, &leaders[i]);
		tried++;
	}
	return tried ? status : fail_no_leader(n, e);
}

int blocks_experiment(
    const struct run_options *blocks, const struct string_list *progress, uint64_t before)
{
	const struct block_analysis_options options = {
	    .threshold_pct = THRESHOLD_PCT, .seed = blocks->seed};
	struct block_analysis a = {0};
	struct block_logs logs;
	struct error e = {0};
	int status;

	block_logs_init(&logs);
	status = read_logs(&logs, blocks->output, before, &e);
	if (!status && block_analyse(&logs, &options, &a))
		status = error_set(&e, EXIT_OTHER, "out of memory");
	if (!status)
		status = block_analysis_reason(&a, &e);
	if (!status)
		status = experiment_on_leaders(blocks, progress, &a, &e);
	if (status < 0)
		status = say_error(&e);
	block_analysis_deinit(&a);
	block_logs_deinit(&logs);
	return status;
}
