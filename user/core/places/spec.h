/* SPDX-License-Identifier: BSD-3-Clause */
/* The language of progress points: [NAME=]SPEC (docs/points.md). Parsing only: user/symbols/
 * resolves. */
#ifndef COZBPF_SPEC_H
#define COZBPF_SPEC_H

#include <stdint.h>

#include "core/text/errors.h"

enum spec_kind {
	SPEC_LINE,       /* file.c:123 */
	SPEC_SYMBOL,     /* [PATH:]SYMBOL[+OFFSET], [PATH:]+ADDRESS, uprobe:PATH:... */
	SPEC_RETURN,     /* uretprobe:PATH:SYMBOL */
	SPEC_USDT,       /* usdt:PATH:PROVIDER:NAME */
	SPEC_TRACEPOINT, /* tracepoint:CATEGORY:NAME */
	SPEC_SAMPLED,    /* sampled:file.c:123 */
};

struct spec {
	enum spec_kind kind;
	/* NAME, or the text of SPEC: the point's name in the profile; without tab and newline */
	char *name;
	char *path; /* binary; NULL: the main executable (SPEC_LINE: every binary in scope) */
	/* SPEC_SYMBOL, SPEC_RETURN; may be demangled ("ns::f(int)", "ns::f"); "": code without a
	 * symbol */
	char *symbol;
	uint64_t offset; /* SPEC_SYMBOL: added to the symbol's address; without one the address */
	char *file;      /* SPEC_LINE, SPEC_SAMPLED */
	uint32_t line;
	char *group, *event; /* SPEC_USDT: provider and name; SPEC_TRACEPOINT: category and name */
};

/* Parses @text. Returns 0, or -1 with @e (status EXIT_USAGE): what is wrong, and how a SPEC
 * looks. */
int spec_parse(const char *text, struct spec *ret, struct error *e);
void spec_deinit(struct spec *s);

/* Why a place of this kind has no arguments, of which one could be the key of a latency, as far as
 * the kind says; NULL: it may have some. */
const char *spec_no_arguments(const struct spec *s);

#endif
