/* SPDX-License-Identifier: BSD-3-Clause */
/* What `cozbpf doctor` finds: one finding for each check. Also the pure parsing of what the kernel
 * says about itself. */
#ifndef COZBPF_FINDING_H
#define COZBPF_FINDING_H

#include <stddef.h>
#include <stdint.h>

enum finding_state {
	FINDING_OK,
	FINDING_WARNING, /* profiling works, but something about it is worse or unknown */
	FINDING_MISSING, /* profiling cannot work */
};

struct finding {
	const char *name; /* static */
	enum finding_state state;
	char text[256]; /* lower case, no full stop */
	char hint[512]; /* the command that repairs it, or empty */
};

const char *finding_state_name(enum finding_state s);

/* Sets state and text and clears the hint. */
void finding_set(struct finding *f, enum finding_state s, const char *text, ...)
    __attribute__((format(printf, 3, 4)));
void finding_hint(struct finding *f, const char *hint, ...) __attribute__((format(printf, 2, 3)));

/* "6.18.44-amd64" -> 6, 18. Returns 0, or -1 when the text is no release. */
int parse_kernel_release(const char *release, unsigned *major, unsigned *minor);

/* Writes the names of the capabilities in @wanted that @have lacks, "CAP_BPF, CAP_PERFMON", or
 * nothing. Returns their number. */
unsigned missing_caps(uint64_t have, uint64_t wanted, char *ret, size_t size);

/* The chosen word of "none [integrity] confidentiality"; @ret is empty when no word is chosen. */
void parse_lockdown(const char *text, char *ret, size_t size);

/* Bits of the capabilities that matter here (include/uapi/linux/capability.h). */
#define CAP_BIT_SETGID (1ULL << 6)
#define CAP_BIT_SETUID (1ULL << 7)
#define CAP_BIT_SYS_PTRACE (1ULL << 19)
#define CAP_BIT_SYS_ADMIN (1ULL << 21)
#define CAP_BIT_PERFMON (1ULL << 38)
#define CAP_BIT_BPF (1ULL << 39)

#endif
