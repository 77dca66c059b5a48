// SPDX-License-Identifier: BSD-3-Clause
/* The job's values are in the environment; see job_output.h. */
#include "cmd/job_output.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text/job_name.h"

int job_output(struct run_options *o, struct error *e)
{
	char host[HOST_NAME_MAX + 1] = "";
	const struct job_values values = {getenv, host};
	const char *node;

	if (!strcmp(o->output, "-")) {
		error_set(e, EXIT_USAGE, "what is measured is appended to a file, not printed");
		return error_hint(e, "name one with -o; a file of this name is './-'");
	}
	if (!gethostname(host, sizeof(host) - 1))
		host[strcspn(host, ".")] = 0;
	node = job_node(&values);
	o->node = node ? strdup(node) : NULL;
	if (node && !o->node)
		return error_set(e, EXIT_OTHER, "out of memory");
	if (job_name_expand(o->output, &values, &o->job_output, e))
		return -1;
	o->output = o->job_output;
	return 0;
}
