/* SPDX-License-Identifier: BSD-3-Clause */
/* The units that the user has named by --fixed-line: one, or two and with them their couple. */
#ifndef COZBPF_RUN_FIXED_H
#define COZBPF_RUN_FIXED_H

#include <stdint.h>

#include "core/text/errors.h"
#include "core/text/string_list.h"
#include "run/files.h"
#include "run/options.h"

/* Ids in the line map. */
struct fixed {
	const struct string_list *names; /* FIXED_LINES at most */
	uint32_t units[FIXED_LINES];
	int waits[FIXED_LINES]; /* the class of waits that each name is about; -1: none */
	uint32_t couple;        /* 0: fewer than two are named */
};

/* Finds lines and functions. Of waits the line is found, but not the unit: fixed_find_waits(). -1
 * with @e. */
int fixed_find(
    struct fixed *f, struct files *files, const struct string_list *names, struct error *e);
/* The rest, once there is a session. */
int fixed_find_waits(struct fixed *f, struct files *files, struct error *e);

#endif
