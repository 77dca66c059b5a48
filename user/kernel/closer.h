/* SPDX-License-Identifier: BSD-3-Clause */
/* Closes links of probes while the caller goes on: the kernel takes 30 to 120 ms to close one,
 * which it spends waiting. */
#ifndef COZBPF_CLOSER_H
#define COZBPF_CLOSER_H

struct closer;

/* NULL: no memory. Threads come with the first descriptors. */
struct closer *closer_create(void);

/* Closes @fd some time soon; at once, where there is no thread for that. */
void closer_add(struct closer *c, int fd);

void closer_destroy(struct closer *c); /* when all are closed; accepts NULL */

#endif
