/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwind tables: from .eh_frame, how to get from a frame of an object's code to its caller's, as
 * rows that the kernel side can search. Rows say what compilers say of ordinary functions on
 * x86-64; where the rule is another one (expressions, other registers) the row is
 * COZBPF_UNWIND_NONE.
 */
#ifndef COZBPF_UNWIND_H
#define COZBPF_UNWIND_H

#include <stddef.h>

#include <cozbpf/abi.h>

#include "symbols/symbols.h"

/*
 * The rows of all code of the object, sorted by file offset, from each row to the next; at most
 * @max, code beyond has none. None for an object without .eh_frame or of another machine: *@n is 0.
 * Another thread may set *@stop: the rest is left out. *@ret is the caller's to free. 0 or -ENOMEM.
 */
int object_unwind_rows(
    struct object *o, size_t max, const bool *stop, struct cozbpf_unwind_row **ret, size_t *n);

#endif
