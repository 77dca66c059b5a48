/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What workloads ask of tests/bench/outsider.c: a disk or a TCP server whose service takes as long
 * as is wanted. Its process is no child of the target, so the target's threads are woken from
 * outside.
 */
#ifndef COZBPF_OUTSIDER_H
#define COZBPF_OUTSIDER_H

#include "workload.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#define OUTSIDER_BLOCK 65536
#define OUTSIDER_DISK_BYTES (1ll << 40)
#define OUTSIDER_MESSAGE 64
#define OUTSIDER_DISK "WORK_DISK" /* names in the environment */
#define OUTSIDER_PORT "WORK_PORT"

static inline const char *outsider_tells(const char *name)
{
	const char *told = getenv(name);

	if (!told) {
		fprintf(stderr, "workload: no %s: begin the command with 'outsider %s --'\n", name,
		    strcmp(name, OUTSIDER_DISK) ? "sleep" : "disk");
		exit(1);
	}
	return told;
}

/* The disk, which is one large file; @flags: O_DIRECT or 0. */
static inline int outsider_disk(int flags)
{
	int fd = open(outsider_tells(OUTSIDER_DISK), O_RDWR | O_CLOEXEC | flags);

	if (fd < 0)
		work_fail("the outsider's disk");
	return fd;
}

/* A connection to the server, which answers each message of OUTSIDER_MESSAGE bytes. */
static inline int outsider_connect(void)
{
	struct sockaddr_in server = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)atoi(outsider_tells(OUTSIDER_PORT))),
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&server, sizeof(server)))
		work_fail("the outsider's server");
	return fd;
}

#endif
