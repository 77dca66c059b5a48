// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf merge`: profiles of several machines or replicas into one. Runs stay apart in it, so a
 * report can tell what was added. */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"
#include "cmd/inputs.h"
#include "cmd/outfile.h"
#include "core/profile/runs.h"
#include "report/say.h"

struct merge_options {
	const char *output;
	struct input_options inputs;
};

static const struct option_entry entries[] = {
    {'o', "output", OPTION_STRING, offsetof(struct merge_options, output), "FILE",
	"where the merged profile goes, in place of what is there; - is standard output"},
    {0, "sum", OPTION_FLAG, offsetof(struct merge_options, inputs.sum), NULL,
	"add up the runs: a small file, with nearly the same answers, that no longer holds single "
	"experiments; very many are added up without it, too"},
    INPUT_ENTRIES(merge_options, inputs),
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "merge",
    .usage = "cozbpf merge -o FILE FILE...",
    .summary = "Puts profiles of one program together: of many machines or replicas, each of which "
	       "does its own experiments. A run that is "
	       "there twice is taken once. A directory stands for the profiles in it.",
    .entries = entries,
    .epilogue = "examples:\n"
		"  cozbpf merge -o all.coz replica-*.coz && cozbpf report all.coz\n"
		"  cozbpf merge -o - a.coz b.coz | cozbpf report -\n",
};

/* In the order of the records: experiments of a run stand together, and so do its samples. */
static int write_runs(FILE *out, const struct profile *p)
{
	size_t experiment = 0, sample = 0, member = 0, node = 0;
	int ret = 0;

	for (size_t run = 0; !ret && run < p->n_runs; run++) {
		ret |= profile_write_startup(out, &p->runs[run]);
		for (; member < p->n_members && p->members[member].run == run; member++)
			ret |= profile_write_member(out, &p->members[member]);
		for (; node < p->n_nodes && p->nodes[node].run == run; node++)
			ret |= profile_write_node(out, &p->nodes[node]);
		for (; experiment < p->n_experiments && p->experiments[experiment].run == run;
		     experiment++)
			ret |= profile_write_experiment(out, &p->experiments[experiment]);
		for (; sample < p->n_samples && p->samples[sample].run == run; sample++)
			ret |= profile_write_samples(out, &p->samples[sample]);
		ret |= profile_write_runtime(out, &p->runs[run]);
	}
	return ret;
}

static int write_file(const char *name, const struct profile *p, struct error *e)
{
	struct outfile f;
	int err;

	if (outfile_check(name, "profile", e) || outfile_open(&f, name, e))
		return -1;
	errno = 0;
	err = write_runs(f.out, p)
		  ? error_set(e, EXIT_OTHER, "cannot write '%s': %s", name, strerror(errno))
		  : 0;
	return outfile_close(&f, err, e);
}

static int merge(const struct merge_options *o, char **names, int n, struct error *e)
{
	struct profile p;
	size_t files;
	int ret;

	profile_init(&p);
	ret = inputs_read(&p, names, n, &o->inputs, &files, e);
	if (!ret)
		ret = write_file(o->output, &p, e);
	if (!ret && strcmp(o->output, "-") != 0)
		printf("%" PRIu64 " run%s, %" PRIu64 " experiment%s from %zu file%s%s: %s\n",
		    profile_runs(&p), profile_runs(&p) == 1 ? "" : "s", profile_experiments(&p),
		    profile_experiments(&p) == 1 ? "" : "s", files, files == 1 ? "" : "s",
		    profile_is_summed(&p) ? ", added up" : "", o->output);
	profile_deinit(&p);
	return ret;
}

int cmd_merge(int argc, char **argv)
{
	struct merge_options o = {0};
	struct error e = {0};
	int first = options_parse(&table, argc, argv, &o, &e), ret = -1;

	if (!first)
		ret = 0;
	else if (first > 0 && !o.output) {
		error_set(&e, EXIT_USAGE, "merge needs -o FILE");
		error_hint(&e, "'-o -' writes to standard output");
	} else if (first == argc) {
		error_set(&e, EXIT_USAGE, "merge needs the profiles to put together");
		error_hint(&e, "write cozbpf merge -o %s FILE...", o.output);
	} else if (first > 0) {
		ret = merge(&o, argv + first, argc - first, &e);
	}
	string_list_deinit(&o.inputs.sources);
	return ret ? say_error(&e) : EXIT_OK;
}
