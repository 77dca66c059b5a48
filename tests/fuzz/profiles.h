/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzzers of profiles share: reading bytes, and looking at what was written of them. */
#ifndef COZBPF_FUZZ_PROFILES_H
#define COZBPF_FUZZ_PROFILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/profile/profile.h"
#include "core/text/utf8.h"

static inline void require(bool cond, const char *what)
{
	if (cond)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

/* 0, or -1 when the bytes are refused. @p is to be freed in any case. */
static inline int read_bytes(struct profile *p, const void *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	struct error e;
	int ret;

	profile_init(p);
	if (!in)
		return -1;
	ret = profile_read(p, in, "fuzz", &e);
	fclose(in);
	return ret;
}

static inline void write_all(FILE *out, const struct profile *p)
{
	for (size_t run = 0; run < p->n_runs; run++) {
		profile_write_startup(out, &p->runs[run]);
		for (size_t i = 0; i < p->n_members; i++) {
			if (p->members[i].run == run)
				profile_write_member(out, &p->members[i]);
		}
		for (size_t i = 0; i < p->n_experiments; i++) {
			if (p->experiments[i].run == run)
				profile_write_experiment(out, &p->experiments[i]);
		}
		for (size_t i = 0; i < p->n_samples; i++) {
			if (p->samples[i].run == run)
				profile_write_samples(out, &p->samples[i]);
		}
		profile_write_runtime(out, &p->runs[run]);
	}
}

static inline bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static inline void check_round_trip(const struct profile *p)
{
	struct profile again;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write_all(out, p);
	fclose(out);
	require(!read_bytes(&again, text, size), "what was written is a profile");
	require(!again.n_skipped, "what was written is understood");
	require(again.n_experiments == p->n_experiments && again.n_samples == p->n_samples &&
		    again.n_runs == p->n_runs && again.n_members == p->n_members,
	    "nothing is lost");
	for (size_t i = 0; i < p->n_samples; i++)
		require(same_text(again.samples[i].stacks, p->samples[i].stacks) &&
			    same_text(again.samples[i].wakers, p->samples[i].wakers),
		    "waits are kept");
	for (size_t i = 0; i < p->n_experiments; i++) {
		require(again.experiments[i].duration_ns == p->experiments[i].duration_ns,
		    "durations are kept");
		require(
		    again.experiments[i].n_points == p->experiments[i].n_points, "points are kept");
	}
	profile_deinit(&again);
	free(text);
}

/* Neither a control character nor one that turns the direction of writing. */
static inline bool is_printable(uint32_t c)
{
	static const uint32_t turns[] = {0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b,
	    0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069};

	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++)
		if (c == turns[i])
			return false;
	return c >= 0x20 && (c < 0x7f || c > 0x9f);
}

/* Text for a terminal. */
static inline void check_printable(const char *text, size_t size)
{
	uint32_t c;

	for (size_t i = 0, n; i < size; i += n) {
		n = utf8_character(text + i, size - i, &c);
		require(n, "what is printed is UTF-8");
		require(c == '\n' || c == '\t' || is_printable(c), "what is printed is printable");
	}
}

#endif
