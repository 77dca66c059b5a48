/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes a run has: from `--peers`, or from what the job's engine says. All nodes have the
 * same list, and a node's number is its place there.
 */
#ifndef COZBPF_PEERS_NAMES_H
#define COZBPF_PEERS_NAMES_H

#include <cozbpf/abi.h>

#include "core/text/errors.h"

#define PEER_PORT 7411 /* of the first node on a host, where none is given */
#define PEER_HOST 256  /* bytes, the zero included */

struct peer_name {
	char host[PEER_HOST];
	unsigned port;
};

struct peer_names {
	struct peer_name names[COZBPF_PEERS];
	unsigned n;
};

/*
 * "HOST[:PORT],...", where node[1-3,07] stands for node1,node2,node3,node07 and [ADDRESS] is one of
 * IPv6. A host that is there again without a port has the next port. -1 with @e.
 */
int peer_names_parse(struct peer_names *ret, const char *text, struct error *e);

/* getenv() */
typedef const char *peer_lookup(const char *name);
/*
 * By the environment: Slurm names hosts and tasks. Open MPI and MPICH tell how many ranks there
 * are, which will do where all of them are on this host. -1 with @e.
 */
int peer_names_of_job(struct peer_names *ret, peer_lookup *get, struct error *e);

#endif
