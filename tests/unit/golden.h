/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts held against the files of tests/unit/golden/; COZBPF_REGENERATE=1 writes these anew.
 * Included once by a test, after check.h. */
#ifndef COZBPF_GOLDEN_H
#define COZBPF_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* @text against the golden file @name. */
static void check_golden(const char *text, const char *name)
{
	static char want[65536];
	char path[512];
	const char *slash = strrchr(__FILE__, '/');
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/golden/%s", slash ? (int)(slash - __FILE__) : 1,
	    slash ? __FILE__ : ".", name);
	if (getenv("COZBPF_REGENERATE")) {
		f = fopen(path, "w");
		CHECK(f && fputs(text, f) >= 0);
		if (f)
			fclose(f);
		return;
	}
	f = fopen(path, "r");
	CHECK(f);
	if (!f)
		return;
	want[fread(want, 1, sizeof(want) - 1, f)] = 0;
	fclose(f);
	CHECK_STR(text, want);
}

#endif
