/* SPDX-License-Identifier: BSD-3-Clause */
/* The language of progress points: [NAME=]SPEC (design.md section 11). Parsing only; resolving is
 * user/symbols/'s. */
#ifndef COZBPF_SPEC_H
#define COZBPF_SPEC_H

#include <stdint.h>

#include "core/text/errors.h"

enum spec_kind {
	SPEC_LINE,       /* file.c:123 */
	SPEC_SYMBOL,     /* SYMBOL, PATH:SYMBOL[+OFFSET], uprobe:PATH:SYMBOL[+OFFSET] */
	SPEC_RETURN,     /* uretprobe:PATH:SYMBOL */
	SPEC_USDT,       /* usdt:PATH:PROVIDER:NAME */
	SPEC_TRACEPOINT, /* tracepoint:CATEGORY:NAME */
	SPEC_SAMPLED,    /* sampled:file.c:123 */
};

struct spec {
	enum spec_kind kind;
	char *name; /* NAME, or the text of SPEC; what the profile calls the point; never contains a
		       tab or newline */
	char *path; /* binary; NULL: the main executable (for SPEC_LINE: every binary in scope) */
	char *symbol;    /* SPEC_SYMBOL, SPEC_RETURN; may be demangled ("ns::f(int)", "ns::f") */
	uint64_t offset; /* SPEC_SYMBOL: added to the symbol's address */
	char *file;      /* SPEC_LINE, SPEC_SAMPLED */
	uint32_t line;
	char *group, *event; /* SPEC_USDT: provider and name; SPEC_TRACEPOINT: category and name */
};

/* Parses @text. 0, or -1 with @e (status EXIT_USAGE) that says what is wrong with it and how a SPEC
 * looks. */
int spec_parse(const char *text, struct spec *ret, struct error *e);
void spec_deinit(struct spec *s);

/* Why a place of this kind has no arguments, of which one could be the key of a latency, as far as
 * the kind says; NULL: it may have some. */
const char *spec_no_arguments(const struct spec *s);

#endif
