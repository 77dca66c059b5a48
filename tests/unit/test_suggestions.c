// SPDX-License-Identifier: BSD-3-Clause
/* The list of `cozbpf suggest`, as a table and as JSON; its -P are pasted into a shell. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "report/suggestions.h"

static struct candidate_watch watched;
static struct candidate all[3];
static struct suggestions list = {
    .program = "serve\033[2Jr", .watch = &watched, .all = all, .stacks = 100};

static void begin(void)
{
	static const struct candidate three[] = {{.kind = CANDIDATE_CALL,
						     .name = "sys_exit_write",
						     .spec = "tracepoint:syscalls:sys_exit_write",
						     .what = "writes",
						     .weight = 1,
						     .cost_ns = 25},
	    {.kind = CANDIDATE_FUNCTION,
		.name = "f\033[1m",
		.spec = "/opt/$(reboot)'x:f",
		.what = "function",
		.weight = 0.5,
		.share = 0.4,
		.cost_ns = 640},
	    {.kind = CANDIDATE_USDT, .name = "a:never", .spec = "", .what = "static probe"}};

	memcpy(all, three, sizeof(all));
	watched.n = CANDIDATE_SLICES;
	for (unsigned i = 0; i < watched.n; i++) {
		watched.cpu_ns[i] = CANDIDATE_SLICE_NS;
		all[0].slices[i] = 100;
		all[1].slices[i] = 200;
	}
	list.n = 3;
	list.good = candidates_rank(all, 3, &watched);
}

static char *print(int (*report)(FILE *out, const struct suggestions *s))
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	CHECK_EQ(report(out, &list), 0);
	fclose(out);
	return ret;
}

TEST(table)
{
	char *text;

	begin();
	text = print(report_suggestions);
	CHECK(strstr(text, "  1  sys_exit_write "));
	CHECK(strstr(text, " -P tracepoint:syscalls:sys_exit_write\n"));
	CHECK(strstr(text, "function above 40 % of the work; steady; 2.00 per sys_exit_write\n"));
	CHECK(strstr(text, " -P '/opt/$(reboot)'\\''x:f'\n"));
	CHECK(!strchr(text, '\033'));
	CHECK(!strstr(text, "never"));
	free(text);
}

/* What cannot serve has no rank and no -P; a marker needs none. */
TEST(what_cannot_serve)
{
	char *text;

	begin();
	for (unsigned i = 0; i < watched.n; i++)
		all[0].slices[i] = 1;
	all[1].kind = CANDIDATE_MARKER;
	all[1].spec = NULL;
	list.good = candidates_rank(all, 3, &watched);
	text = print(report_suggestions);
	CHECK(strstr(text, "below 20 visits a second\n"));
	CHECK(!strstr(text, "-P trace"));
	CHECK(strstr(text, "found without -P\n"));
	free(text);
}

TEST(nothing)
{
	char *text;

	begin();
	memset(all[0].slices, 0, sizeof(all[0].slices));
	memset(all[1].slices, 0, sizeof(all[1].slices));
	list.good = candidates_rank(all, 3, &watched);
	text = print(report_suggestions);
	CHECK(strstr(text, "nothing was visited"));
	free(text);
	list.n = list.good = 0;
	text = print(report_suggestions);
	CHECK(strstr(text, "nothing was visited"));
	free(text);
}

TEST(as_json)
{
	char *text;
	cJSON *root, *first;

	begin();
	text = print(report_suggestions_json);
	root = cJSON_Parse(text);
	CHECK(root);
	CHECK_STR(cJSON_GetStringValue(cJSON_GetObjectItem(root, "schema")), "cozbpf-suggest/1");
	CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(root, "candidates")), 2);
	first = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "candidates"), 0);
	CHECK_STR(cJSON_GetStringValue(cJSON_GetObjectItem(first, "name")), "sys_exit_write");
	CHECK_NEAR(cJSON_GetNumberValue(cJSON_GetObjectItem(first, "rate")), 1000, 1);
	CHECK(cJSON_IsTrue(cJSON_GetObjectItem(first, "serves")));
	cJSON_Delete(root);
	free(text);
}
