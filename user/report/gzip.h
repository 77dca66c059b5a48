/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes into a stream, compressed as gzip does. Equal bytes give equal files: no time is in them.
 */
#ifndef COZBPF_GZIP_H
#define COZBPF_GZIP_H

#include <stddef.h>
#include <stdio.h>

#define ZLIB_CONST /* it only reads what it compresses */
#include <zlib.h>

struct gzip {
	z_stream z;
	FILE *out;
};

/* 0 or -ENOMEM: then there is nothing to end. @out is borrowed. */
int gzip_init(struct gzip *g, FILE *out);
/* Whether the stream has failed is asked at the end. */
void gzip_write(struct gzip *g, const void *data, size_t size);
/* Writes what is left, and frees. -1 when the stream has failed. */
int gzip_end(struct gzip *g);

#endif
