/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/code/: how functions of Go begin. */
#ifndef COZBPF_GOENTRY_H
#define COZBPF_GOENTRY_H

#include "symbols/code/decode.h"

/*
 * The best place for a probe of the Go function at @addr: an instruction that the kernel emulates,
 * executed once for each call. *@ret; false: the function does not begin as Go's compiler lets
 * functions begin. Arguments are in their registers there.
 */
bool go_entry_site(struct decoder *d, const struct image *o, uint64_t addr, uint64_t *ret);

#endif
