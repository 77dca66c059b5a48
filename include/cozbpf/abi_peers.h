/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Nodes that share their delays (--peers): what the kernel side and the loader share of that. The
 * loaders tell each other R. Data that one node's thread sends to another one's carries the
 * sender's L, in an option of TCP (bpf/peers.bpf.c). Part of abi.h.
 */
#ifndef COZBPF_ABI_PEERS_H
#define COZBPF_ABI_PEERS_H

#include <linux/types.h>

#define COZBPF_PEERS 64           /* nodes of a run */
#define COZBPF_PEER_ADDRESSES 512 /* of theirs */

/*
 * The option: kind and length, a number of ours (RFC 6994), the experiment's number of the run, L
 * in 64 ns, and the lower half of both's SipHash. All numbers have their highest byte first.
 */
#define COZBPF_OPTION_KIND 254
#define COZBPF_OPTION_SIZE 16
#define COZBPF_OPTION_MAGIC 0xc0cf
#define COZBPF_OPTION_SHIFT 6

/* A peer's address, and a connection's: of IPv4 the last word, the others are 0. */
struct cozbpf_address {
	__u32 words[4]; /* in the order of the network */
};

/* The loader's, but for the counters. */
struct cozbpf_peering {
	__u64 key[2];
	__u32 id; /* of the open experiment, the same on all nodes; 0: none is open */
	__u32 pad;
	__u64 sockets; /* connections with peers that were opened */
	__u64 told;    /* options with an L that have come */
	__u64 stale;   /* those of another experiment */
	__u64 forged;  /* those that were not made with our key, or claim too much */
	__u64 joined;  /* waits that such data has ended */
};

/* A connection with a peer. */
struct cozbpf_socket {
	__u64 paid;    /* L of our thread that has sent last */
	__u64 arrived; /* L that has come with the data */
	__u64 arrived_at;
	__u32 epoch; /* of `paid` */
	__u32 arrived_epoch;
};

/* What has made a socket readable on this CPU at last, and when; epoch 0: no data of a peer. Its
 * waiters are woken at once. */
struct cozbpf_arrival {
	__u64 paid, at;
	__u32 epoch, pad;
};
#define COZBPF_ARRIVAL_NS 50000ULL

#endif
