// SPDX-License-Identifier: BSD-3-Clause
/* See gzip.h. */
#include "report/gzip.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define GZIP_WINDOW (15 + 16) /* zlib.h: the largest window; 16 more ask for gzip's header */
#define GZIP_MEMORY 8         /* zlib.h: the default */
#define BLOCK 16384           /* bytes written at a time */

int gzip_init(struct gzip *g, FILE *out)
{
	memset(g, 0, sizeof(*g));
	g->out = out;
	return deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
		   Z_DEFAULT_STRATEGY) == Z_OK
		   ? 0
		   : -ENOMEM;
}

/* Writes until deflate() leaves room: then it has taken all, and with Z_FINISH has ended. */
static void compress_block(struct gzip *g, int flush)
{
	unsigned char block[BLOCK];

	do {
		g->z.next_out = block;
		g->z.avail_out = sizeof(block);
		deflate(&g->z, flush);
		fwrite(block, 1, sizeof(block) - g->z.avail_out, g->out);
	} while (!g->z.avail_out);
}

void gzip_write(struct gzip *g, const void *data, size_t size)
{
	const unsigned char *from = data;

	while (size) {
		size_t n = size < UINT_MAX ? size : UINT_MAX;

		g->z.next_in = from;
		g->z.avail_in = (unsigned)n;
		compress_block(g, Z_NO_FLUSH);
		from += n;
		size -= n;
	}
}

int gzip_end(struct gzip *g)
{
	g->z.avail_in = 0;
	compress_block(g, Z_FINISH);
	deflateEnd(&g->z);
	return ferror(g->out) ? -1 : 0;
}
