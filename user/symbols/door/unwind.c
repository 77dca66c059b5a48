// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers for unwind tables. */
#include <stdlib.h>
#include <string.h>

#include "symbols/door/object.h"

static int read_rows(struct image *image, void *arg, struct out *out, struct error *e)
{
	const size_t *max = arg;
	struct cozbpf_unwind_row *rows;
	size_t n;

	if (image_unwind_rows(image, *max, &rows, &n))
		return error_set(e, EXIT_OTHER, "out of memory");
	put_bytes(out, rows, n * sizeof(*rows));
	return 0;
}

/* The kernel side searches the rows by halves. */
static bool are_good(const struct cozbpf_unwind_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].kind > COZBPF_UNWIND_LAST || (i && rows[i].lo <= rows[i - 1].lo))
			return false;
	return true;
}

int object_unwind_rows(struct object *o, size_t max, const bool *stop,
    struct cozbpf_unwind_row **ret, size_t *n, struct error *e)
{
	const struct question q = {read_rows, &max, .stop = stop};
	struct cozbpf_unwind_row *rows;
	size_t count;
	struct in in;

	*ret = NULL;
	*n = 0;
	if (object_ask(o, &q, &in, e))
		return -1;
	count = in.n / sizeof(*rows);
	rows = calloc(count + 1, sizeof(*rows));
	if (rows && count <= max)
		memcpy(rows, get_bytes(&in, count * sizeof(*rows)), count * sizeof(*rows));
	in.bad |= !rows || count > max || !are_good(rows, count);
	if (object_answered(o, &in, e)) {
		free(rows);
		return -1;
	}
	*ret = rows;
	*n = count;
	return 0;
}
