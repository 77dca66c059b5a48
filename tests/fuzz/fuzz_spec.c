// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any text as a progress point, a scope pattern, a path and the arguments of a static
 * probe. What is parsed has to keep the promises of spec.h. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "core/text/paths.h"
#include "core/places/probe_args.h"
#include "core/places/scope.h"
#include "core/places/spec.h"
#include "core/text/suggest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const char *text)
{
	char *path = strdup(text), *again;

	path_normalise(path);
	again = strdup(path);
	path_normalise(again);
	if (strcmp(path, again) || strlen(path) > strlen(text) ||
	    (*text == '/') != (*path == '/') || strstr(path, "//"))
		abort();
	free(path);
	free(again);
}

static void check_args(enum probe_arch arch, const char *text)
{
	struct cozbpf_arg a;
	struct error e = {0};

	for (unsigned n = 0; n < 3; n++) {
		if (probe_arg_parse(arch, text, n, &a, &e)) {
			if (e.status != EXIT_USAGE || !*e.cause || a.kind != COZBPF_ARG_NONE)
				abort();
		} else if (a.kind < COZBPF_ARG_CONST || a.kind > COZBPF_ARG_MEM || !a.size ||
			   a.size > 8 || a.reg_off > 248) {
			abort();
		}
	}
}

static void check_spec(const struct spec *s)
{
	bool is_line = s->kind == SPEC_LINE || s->kind == SPEC_SAMPLED,
	     is_symbol = s->kind == SPEC_SYMBOL || s->kind == SPEC_RETURN;

	if (is_line     ? !s->file || !*s->file || !s->line
	    : is_symbol ? !s->symbol || (!*s->symbol && s->kind == SPEC_RETURN)
			: !s->group || !*s->group || !s->event || !*s->event)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct scope scope = {0};
	struct error e = {0};
	struct spec s;

	limit_begin();
	memcpy(text, data, size);
	text[size] = 0;
	if (!spec_parse(text, &s, &e)) {
		if (!s.name || !*s.name || strpbrk(s.name, "\t\n"))
			abort();
		check_spec(&s);
		spec_deinit(&s);
	} else if (e.status != EXIT_USAGE || !*e.cause) {
		abort();
	}
	check_path(text);
	check_args(PROBE_X86_64, text);
	check_args(PROBE_ARM64, text);
	scope_has_source(&scope, text);
	if (!scope_match("%", text) || (!strchr(text, '%') && !scope_match(text, text)))
		abort();
	if (suggest_distance(text, text, 3) && strlen(text) <= SUGGEST_NAME)
		abort();
	free(text);
	return 0;
}
