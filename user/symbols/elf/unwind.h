/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwind tables: how to get from a frame of an object's code to its caller's, read from .eh_frame,
 * as rows that the kernel side can search. Rows hold what compilers say of ordinary functions on
 * x86-64. Where the rule is another one (expressions, other registers) the row is
 * COZBPF_UNWIND_NONE.
 */
#ifndef COZBPF_UNWIND_H
#define COZBPF_UNWIND_H

#include <stddef.h>

#include <cozbpf/abi.h>

#include "symbols/symbols.h"

/*
 * The rows of all code of the object, sorted by file offset; each row holds up to the next one. At
 * most
 * @max rows are made, and code beyond has no rule. *@n is 0 for an object without .eh_frame, for
 * another machine, and for a file that was cut off meanwhile. Another thread may set *@stop, which
 * ends the reading early. *@ret is the caller's to free. 0 or -ENOMEM.
 */
int object_unwind_rows(
    struct object *o, size_t max, const bool *stop, struct cozbpf_unwind_row **ret, size_t *n);

#endif
