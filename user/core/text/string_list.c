// SPDX-License-Identifier: BSD-3-Clause
/* See string_list.h. */
#include "core/text/string_list.h"

#include <stdlib.h>

void string_list_deinit(struct string_list *l)
{
	free(l->items);
	l->items = NULL;
	l->n = 0;
}
