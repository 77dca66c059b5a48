/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of one run, as one of them sees them: who is there, who is elected, what R is, which
 * experiment is open, and whether messages were missing meanwhile. Knows no socket and no clock:
 * it is given datagrams and the time, and writes datagrams. Clocks of different nodes are never
 * compared: each time here is this node's own.
 *
 * The living node with the lowest number is elected. It opens and closes experiments for all.
 */
#ifndef COZBPF_PEERS_H
#define COZBPF_PEERS_H

#include <cozbpf/abi.h>

#include "core/peers/message.h"

/* so long a node may say nothing before it is taken for dead, */
#define PEERS_DEAD_NS 1000000000ULL
/* and so long within an experiment that counts */
#define PEERS_SILENT_NS 30000000ULL
/* of the messages of one node within an experiment that counts, lost and late ones */
#define PEERS_MISSING_PCT 10

enum peer_state {
	PEER_AWAITED, /* nothing authentic has come of it, or it has not heard us */
	PEER_ALIVE,
	PEER_DEAD,    /* it has said nothing for PEERS_DEAD_NS */
	PEER_ENDED,   /* it said that it has ended */
	PEER_REFUSED, /* it is authentic, and cannot be of this run: `why` */
};

struct peer {
	enum peer_state state;
	/* why it was refused, or what came from its address that is not authentic; empty: nothing
	 */
	char why[128];
	/* its last message, where it is alive */
	struct peer_message says;
	uint64_t nonce; /* 0: not known */
	uint64_t heard_ns;
	uint32_t sent; /* messages to it */
	/* of it: messages that came, that did not, and that came behind a later one */
	uint64_t received, lost, late;
	/* when the experiment opened: these, and whether it was alive; since then: for how long it
	 * has said nothing at most, and when it was first heard to be in the experiment */
	uint64_t received_before, lost_before, late_before, silent_ns, joined_ns;
	bool was_alive;
};

struct peers_config {
	unsigned n, self; /* nodes, and which of them we are */
	struct peer_key key;
	uint64_t nonce; /* not 0, and another one for each start */
	const char *tool, *build;
};

/* Of members that are not private it is said that they are to be read. */
struct peers {
	struct peers_config config;
	/* to be read */
	struct peer peer[COZBPF_PEERS];
	struct peer_message own;
	/* all nodes have been alive at once; what is elected elsewhere can be done here, which is
	 * to be set */
	bool is_complete, is_here;
	/* to be read: datagrams that were dropped: no messages of ours, made with another key, or
	 * from former runs */
	uint64_t foreign, forged, replayed;
	uint32_t last_id;
};

void peers_init(struct peers *p, const struct peers_config *config);

/* A datagram from the address of node @from. True: it said something new about experiments, so
 * what we say is to be sent at once. */
bool peers_take(struct peers *p, unsigned from, const uint8_t *data, size_t n, uint64_t now);
/* What we have to say to node @to: bytes, 0 for ourselves. */
size_t peers_write(struct peers *p, unsigned to, uint8_t data[PEER_MESSAGE_MAX]);
/* To be called about every millisecond: who has not been heard for too long? */
void peers_tick(struct peers *p, uint64_t now);

/* The node that is elected, as far as we know. */
unsigned peers_elected(const struct peers *p);
bool peers_is_elected(const struct peers *p);
/* Whether experiments may open: all nodes have been there, none is refused, and no part of the
 * program goes on without us. */
bool peers_is_ready(const struct peers *p);
/* The greatest R that others have told in experiment @id. */
uint64_t peers_required(const struct peers *p, uint32_t id);
/* Tells ours. */
void peers_require(struct peers *p, uint32_t id, uint64_t required_ns);

/* Of the elected node: all others are to open an experiment, whose number is returned, and to close
 * it. */
uint32_t peers_open(struct peers *p, const struct peer_order *order);
void peers_close(struct peers *p);

enum peers_verdict {
	PEERS_WAITS, /* not all have closed it yet */
	PEERS_GOOD,
	PEERS_DIED,    /* a node has gone meanwhile; */
	PEERS_MISSING, /* too many of its messages were lost or late, or of ours there; */
	PEERS_LATE,    /* it was not in the experiment when visits began to count; */
	PEERS_REFUSED, /* it has no such unit */
};
/*
 * After peers_close(): whether the experiment counts. *@ret_peer is the node it does not count for.
 * *@ret_selected_ns: what others have executed in the unit. @counted_ns: when visits began to
 * count.
 */
enum peers_verdict peers_judge(
    const struct peers *p, uint64_t counted_ns, unsigned *ret_peer, uint64_t *ret_selected_ns);

/* Of the others: what the elected node wants; its `id` is 0 while it wants nothing. */
const struct peer_order *peers_order(const struct peers *p);
/* We are in that experiment; have closed it; or cannot open it. @is_void and
 * @selected_ns are of the close. */
void peers_opened(struct peers *p, uint32_t id);
void peers_refuse(struct peers *p, uint32_t id);
void peers_closed(struct peers *p, uint32_t id, bool is_void, uint64_t selected_ns);

/* We profile no more; our part of the program may go on. */
void peers_end(struct peers *p, bool goes_on);

#endif
