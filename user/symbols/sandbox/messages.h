/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/sandbox/: what goes between a reader and us. */
#ifndef COZBPF_MESSAGES_H
#define COZBPF_MESSAGES_H

#include <limits.h>
#include <stdint.h>

/* Before the bytes of an answer. */
struct frame {
	uint32_t is_error; /* then the bytes are a struct error */
	uint32_t is_filtered;
	uint64_t size;
};

/* A request is a path with its zero. The answer to it has a descriptor with it, or a reason. */
#define REQUEST_SIZE (2 * PATH_MAX)
struct opened {
	char why[256];
};

/* Room for one descriptor beside a message. */
union one_descriptor {
	char bytes[64];
	long align;
};

#endif
