/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/: files in memory. A file can be cut off while it is read, and then a
 * read of what is gone ends the process (SIGBUS). Within a file of this kind such a read yields
 * zeros, and the file is known to have changed.
 */
#ifndef COZBPF_MAPPED_H
#define COZBPF_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

struct mapped {
	void *data; /* NULL: the file is empty */
	size_t size;
	int slot; /* in the table of mapped.c, plus 1; 0: none */
};

/* Maps the whole file behind @fd; what is written stays in memory. @fd stays the caller's. 0 or
 * -errno. */
int mapped_open(struct mapped *m, int fd);
/* Whether the file was cut off, or could not be read, since mapped_open(). */
bool mapped_changed(const struct mapped *m, int fd);
void mapped_close(struct mapped *m);

#endif
