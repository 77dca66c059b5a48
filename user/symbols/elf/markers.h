/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: collects the places of markers and groups them by name. */
#ifndef COZBPF_MARKERS_H
#define COZBPF_MARKERS_H

#include "symbols/elf/image.h"

/* Places of markers that are being collected; zeroed is empty. */
struct marker_list {
	struct marker_place *v;
	size_t n, cap;
};
/* Adds a place; 0 or -ENOMEM. @name may hold any bytes of a file. @offset NO_SITE: visits to the
 * place cannot be counted. */
#define NO_SITE UINT64_MAX
int marker_list_add(
    struct marker_list *l, enum marker_kind kind, const char *name, uint64_t offset);
/* Groups the places into markers, as image_find_markers() returns them. 0 or -ENOMEM. */
int marker_list_group(struct marker_list *l, struct image *o, struct marker **ret, size_t *n);
void marker_list_deinit(struct marker_list *l);

#endif
