/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a report in JSON. */
#ifndef COZBPF_JSON_MACHINES_H
#define COZBPF_JSON_MACHINES_H

#include <cjson/cJSON.h>

#include "core/estimate/machines.h"

/* The nodes of a report, in the order in which profiles name them. NULL: out of memory. The caller
 * owns the array. */
cJSON *json_machines(const struct machines *m);

#endif
