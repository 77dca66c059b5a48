// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any bytes as a profile, as files that programs read: the page, JSON, CSV. No name
 * leaves its place in them. The bytes are the text of a source file, too. */
#include "limit.h"
#include "profiles.h"

#include <cjson/cJSON.h>

#include "report/html.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char data_begin[] = "<script type=\"application/json\" id=\"data\">";

static void check_json(const char *text, size_t size)
{
	cJSON *json = cJSON_ParseWithLength(text, size);
	uint32_t c;

	require(cJSON_IsObject(json), "the JSON is an object");
	cJSON_Delete(json);
	for (size_t i = 0, n; i < size; i += n) {
		n = utf8_character(text + i, size - i, &c);
		/* cJSON indents by tabs; in a string they are escaped. */
		require(n && (c >= 0x20 || c == '\n' || c == '\t'),
		    "the JSON is UTF-8 without control characters");
	}
}

/* The data stands in an element of its own, which nothing in the data ends. */
static void check_page(const struct profile *p, const struct estimate *e, const char *name,
    const struct html_source *source)
{
	struct html_options o = {
	    .profiles = &name, .n_profiles = 1, .sources = source, .n_sources = 1};
	char *text = NULL, *begin, *end;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	require(!report_html(out, p, e, &o), "the page is written");
	fclose(out);
	begin = memmem(text, size, data_begin, sizeof(data_begin) - 1);
	require(begin, "the page has data");
	begin += sizeof(data_begin) - 1;
	/* "<" begins every tag and comment. */
	end = memchr(begin, '<', (size_t)(text + size - begin));
	require(end && !strncmp(end, "</script>", 9), "only its own end ends the data");
	check_json(begin, (size_t)(end - begin));
	free(text);
}

/* No field begins like a formula, unless it is a number; quotes come in pairs. */
static void check_csv(const char *text, size_t size)
{
	bool is_quoted = false, is_first = true;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (is_first && c != '"') {
			require(!strchr("=+@\t\r", c) || !c, "no field is a formula");
			require(c != '-' || (text[i + 1] >= '0' && text[i + 1] <= '9'),
			    "a field with - is a number");
			is_first = false;
		}
		if (c == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && (c == ',' || c == '\n'))
			is_first = true;
	}
	require(!is_quoted, "quotes are closed");
}

static void check_files(const struct estimate *e)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	require(!report_json(out, e), "JSON is written");
	fclose(out);
	check_json(text, size);
	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	require(!report_csv(out, e), "CSV is written");
	fclose(out);
	check_csv(text, size);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct estimate_options options = {.seed = 1, .replicates = 20};
	struct html_source source = {"a.c", (const char *)data, size, size % 2};
	struct estimate e;
	struct profile p;
	char name[32] = "";

	limit_begin();
	if (!read_bytes(&p, data, size)) {
		require(!estimate_profile(&p, &options, &e), "memory suffices");
		memcpy(name, data, size < sizeof(name) - 1 ? size : sizeof(name) - 1);
		if (e.n_lines && strchr(e.lines[0].line, ':'))
			source.file = strndupa(e.lines[0].line,
			    (size_t)(strchr(e.lines[0].line, ':') - e.lines[0].line));
		check_page(&p, &e, name, &source);
		check_files(&e);
		estimate_deinit(&e);
	}
	profile_deinit(&p);
	return 0;
}
