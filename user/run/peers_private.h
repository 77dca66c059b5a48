/* SPDX-License-Identifier: BSD-3-Clause */
/* What run/peers.c and peers_socket.c share. */
#ifndef COZBPF_RUN_PEERS_PRIVATE_H
#define COZBPF_RUN_PEERS_PRIVATE_H

#include <netinet/in.h>
#include <pthread.h>

#include "core/peers/names.h"
#include "run/peers.h"

#define PEER_LABEL (PEER_HOST + 8)

struct run_peers {
	struct console *console;
	struct session *session;
	struct peer_names names;
	char labels[COZBPF_PEERS][PEER_LABEL];             /* HOST:PORT, for messages */
	struct sockaddr_in6 addresses[COZBPF_PEERS];       /* IPv4 mapped */
	struct cozbpf_address data[COZBPF_PEER_ADDRESSES]; /* where the program's data may go */
	size_t n_data;
	struct peer_key key;
	unsigned self;
	int fd, news; /* of datagrams; an eventfd */
	/* Of the thread; what follows is behind the lock while it runs. */
	pthread_t thread;
	bool is_running, ends;
	pthread_mutex_t lock;
	struct peers core;
	uint64_t said_ns;   /* when all were told last */
	uint64_t looked_ns; /* when the loop looked last; 0: not yet */
	bool says_at_once;
	uint64_t unsent, strangers; /* datagrams that the system did not take; from elsewhere */
	/* Of the loop. */
	uint32_t id;  /* of the experiment that is open here; 0: none is */
	unsigned pct; /* its speedup */
	bool is_led;  /* another node was elected: the last one that was */
	unsigned led_by;
	uint64_t started_ns;
	bool has_told_awaited;
	enum peer_state told[COZBPF_PEERS];
	unsigned told_void;
	char missing[512];
};

/* peers_socket.c: finds the addresses, and binds ours. -1 with @e. */
int run_peers_bind(struct run_peers *p, struct error *e);
/* The key, of --peers-key or of the environment, which forgets it. */
int run_peers_read_key(const char *path, struct peer_key *ret, struct error *e);
/* The node that sends from @from; COZBPF_PEERS: none does. */
unsigned run_peers_find(const struct run_peers *p, const struct sockaddr_in6 *from);

#endif
