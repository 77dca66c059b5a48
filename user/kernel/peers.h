/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that share their delays, on the kernel side (bpf/peers.bpf.c). Of these functions
 * session_follow() alone may be called while another thread uses the session. */
#ifndef COZBPF_KERNEL_PEERS_H
#define COZBPF_KERNEL_PEERS_H

#include "kernel/session.h"

/* Delays travel with the data to and from these addresses, under the run's key. */
struct peering_config {
	uint64_t key[2];
	const struct cozbpf_address *addresses;
	size_t n;
};
/* Of a session whose configuration has `peers`. Connections that are made from now on tell L; -1
 * with @e: none will. */
int session_start_peering(struct session *s, const struct peering_config *c, struct error *e);

/* The experiment that session_open_experiment() opens next has this number on all nodes; 0: none
 * is open. */
void session_set_peering_id(struct session *s, uint32_t id);
/* R follows that of other nodes, @others_ns, where experiment @id is open. Returns R. */
uint64_t session_follow(struct session *s, uint32_t id, uint64_t others_ns);

/* What has been counted so far. */
const struct cozbpf_peering *session_peering(const struct session *s);

#endif
