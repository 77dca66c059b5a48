// SPDX-License-Identifier: BSD-3-Clause
/* Profiles named on the command line, and the orders of --sort; see inputs.h. */
#include "cmd/inputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int parse_sort(const char *name, enum sort_key *ret, struct error *e)
{
	static const char *const names[] = {
	    [SORT_SLOPE] = "slope", [SORT_MAX] = "max", [SORT_PAYBACK] = "payback", [SORT_IMPACT] = "impact"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i])) {
			*ret = (enum sort_key)i;
			return 0;
		}
	}
	error_set(e, EXIT_USAGE, "unknown sort key '%s'", name);
	return error_hint(e, "the keys are slope, max, payback and impact");
}

static int read_file(struct profile *p, const char *name, struct error *e)
{
	FILE *in = fopen(name, "re");
	int ret;

	if (!in) {
		int err = errno;

		error_set(e, EXIT_OTHER, "cannot open '%s': %s", name, strerror(err));
		if (err == ENOENT)
			error_hint(e, "'cozbpf -- cmd' profiles a command and writes %s", DEFAULT_PROFILE);
		return -1;
	}
	ret = profile_read(p, in, name, e);
	fclose(in);
	return ret;
}

int inputs_read(struct profile *p, char **names, int n, struct error *e)
{
	int ret = n ? 0 : read_file(p, DEFAULT_PROFILE, e);

	for (int i = 0; i < n && !ret; i++)
		ret = read_file(p, names[i], e);
	if (!ret && p->n_skipped)
		fprintf(stderr, "cozbpf: warning: %zu record%s not understood and skipped\n", p->n_skipped, p->n_skipped == 1 ? "" : "s");
	return ret;
}
