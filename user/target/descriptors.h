/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit on open files. Each CPU, probe and process attached to takes some; the usual soft limit
 * of 1024 is there for programs that use select(), which cozbpf does not. */
#ifndef COZBPF_DESCRIPTORS_H
#define COZBPF_DESCRIPTORS_H

/* Raises the soft limit of this process to the hard one, as far as the kernel lets it. */
void descriptors_raise(void);
/* In a child that is about to become the user's command: the limit as it was before. */
void descriptors_put_back(void);

#endif
