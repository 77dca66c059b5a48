/* SPDX-License-Identifier: BSD-3-Clause */
/* How many descriptors a test has open. */
#ifndef COZBPF_TEST_DESCRIPTORS_H
#define COZBPF_TEST_DESCRIPTORS_H

#include <dirent.h>

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

#endif
