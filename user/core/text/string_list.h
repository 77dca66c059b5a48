/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a command line, in their order. */
#ifndef COZBPF_STRING_LIST_H
#define COZBPF_STRING_LIST_H

#include <stddef.h>

struct string_list {
	const char **items; /* the list owns the array; the strings are borrowed */
	size_t n;
};

void string_list_deinit(struct string_list *l);

#endif
