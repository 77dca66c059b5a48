/* SPDX-License-Identifier: BSD-3-Clause */
/* The source around one line, as far as it can be read. */
#ifndef COZBPF_RUN_EXCERPT_H
#define COZBPF_RUN_EXCERPT_H

struct excerpt {
	char *of;       /* FILE:LINE that was looked for last; NULL: none was */
	char *text;     /* NULL: it cannot be read */
	unsigned first; /* number of the text's first line */
};

/* Reads the source around @of ("FILE:LINE"), unless it was read already: our file, or else that
 * of process @pid (0: no process). */
void excerpt_read(struct excerpt *x, const char *of, int pid);
void excerpt_deinit(struct excerpt *x);

#endif
