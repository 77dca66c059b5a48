// SPDX-License-Identifier: BSD-3-Clause
/* libdebuginfod is loaded when it is needed: it brings some thirty libraries, which other runs do
 * without. */
#include "symbols/elf/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>

static struct {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_set_progressfn) *set_progressfn;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
} library;

static bool (*progress_to)(uint64_t bytes, uint64_t of);

bool debuginfod_load(void)
{
	void *l = dlopen(DEBUGINFOD_SONAME, RTLD_NOW);

	if (!l)
		return false;
	library.begin = dlsym(l, "debuginfod_begin");
	library.end = dlsym(l, "debuginfod_end");
	library.set_progressfn = dlsym(l, "debuginfod_set_progressfn");
	library.find_debuginfo = dlsym(l, "debuginfod_find_debuginfo");
	return library.begin && library.end && library.set_progressfn && library.find_debuginfo;
}

static int on_progress(debuginfod_client *client, long bytes, long of)
{
	bool is_known = of > 0; /* without a size the library counts its turns */

	(void)client;
	return progress_to(
	    is_known && bytes > 0 ? (uint64_t)bytes : 0, is_known ? (uint64_t)of : 0);
}

int debuginfod_fetch(const char *build_id, bool (*progress)(uint64_t bytes, uint64_t of))
{
	debuginfod_client *client = library.begin ? library.begin() : NULL;
	int fd;

	if (!client)
		return -ENOSYS;
	unsetenv(DEBUGINFOD_PROGRESS_ENV_VAR);
	progress_to = progress;
	library.set_progressfn(client, on_progress);
	fd = library.find_debuginfo(client, (const unsigned char *)build_id, 0, NULL);
	library.end(client);
	return fd;
}
