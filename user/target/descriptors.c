// SPDX-License-Identifier: BSD-3-Clause
/* See descriptors.h. */
#include "target/descriptors.h"

#include <stdbool.h>
#include <sys/resource.h>

static struct rlimit before;
static bool raised;

void descriptors_raise(void)
{
	struct rlimit most;

	if (raised || getrlimit(RLIMIT_NOFILE, &before))
		return;
	most = (struct rlimit){before.rlim_max, before.rlim_max};
	raised = !setrlimit(RLIMIT_NOFILE, &most);
}

void descriptors_put_back(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
}
