/* SPDX-License-Identifier: BSD-3-Clause */
/* Between debuginfod.c, which asks, and debuginfod_server.c, which is asked: messages on a socket
 * that keeps their bounds. */
#ifndef COZBPF_RUN_DEBUGINFOD_PRIVATE_H
#define COZBPF_RUN_DEBUGINFOD_PRIVATE_H

#include <stdint.h>

struct fetch_request {
	uint32_t number;
	char build_id[2 * 20 + 1]; /* hex */
};

enum fetch_state { FETCH_COMING, FETCH_DONE, FETCH_FAILED };

/* With FETCH_DONE comes a descriptor. */
struct fetch_reply {
	uint32_t number; /* of the request */
	uint32_t state;
	int32_t err;        /* FETCH_FAILED: errno; ENOSYS: libdebuginfod cannot be loaded */
	uint64_t bytes, of; /* FETCH_COMING; of 0: not known */
};

/* Serves requests until the other end of @socket is closed. */
void fetch_serve(int socket) __attribute__((noreturn));

#endif
