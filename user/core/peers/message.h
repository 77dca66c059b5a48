/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What nodes of one run tell each other: one kind of datagram, which holds all of a node's state.
 * So one that is lost needs no repetition of its own. A datagram is authentic (SipHash-2-4 with the
 * run's key), and not secret.
 */
#ifndef COZBPF_PEERS_MESSAGE_H
#define COZBPF_PEERS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* raised with each change of what stands on the wire */
#define PEER_VERSION 1U
#define PEER_MESSAGE_MAX 1200 /* bytes: one packet on any network */
#define PEER_FILE 256         /* bytes of a unit's file, the zero included */
#define PEER_BUILD 64         /* likewise of the words about a build */
#define PEER_UNITS 2          /* that are faster at once */

struct peer_key {
	uint64_t words[2];
};

/* 16 bytes or more, from a file or the environment; white space at the end does not count. False:
 * too few. */
bool peer_key_make(const char *text, size_t n, struct peer_key *ret);

/* A unit of the line map: the number it has at the sender is where to look first. */
struct peer_unit {
	char file[PEER_FILE]; /* empty: there is none */
	uint32_t line, id;
};

/* What the elected node wants: an experiment, by its number; 0: there was none yet. */
struct peer_order {
	uint32_t id;
	bool is_open;
	uint32_t speedup_pct, shift;
	uint64_t settle_ns;
	double period; /* factor on the sampling period */
	struct peer_unit units[PEER_UNITS];
};

/* How a node stands to the experiment whose number it has. */
enum peer_stage {
	PEER_STAGE_NONE,
	PEER_STAGE_OPEN,
	PEER_STAGE_CLOSED,
	PEER_STAGE_REFUSED, /* it has no such unit, or no pause can be asked for */
	N_PEER_STAGE,
};
struct peer_answer {
	uint32_t id;
	enum peer_stage stage;
	bool is_void;         /* messages were missing, or the experiment was spoilt here */
	uint64_t selected_ns; /* executed in the selected unit */
};

struct peer_message {
	uint32_t from, n_nodes;
	uint32_t sequence;         /* of the sender to this receiver, from 1 */
	uint64_t nonce;            /* of the sender, drawn when it began; not 0 */
	uint64_t echo;             /* the receiver's, as the sender knows it; 0: not yet */
	bool has_ended;            /* the sender profiles no more, */
	bool goes_on;              /* but its part of the program goes on */
	bool is_ready;             /* experiments may begin there */
	uint32_t required_id;      /* the experiment in which R is */
	uint64_t required_ns;      /* R of the sender's threads */
	struct peer_order order;   /* the elected node's; else empty */
	struct peer_answer answer; /* to the elected node's */
	char tool[PEER_BUILD], build[PEER_BUILD]; /* of cozbpf; of the program */
};

/* Bytes written to @data, PEER_MESSAGE_MAX at most. */
size_t peer_message_write(
    const struct peer_message *m, const struct peer_key *key, uint8_t data[PEER_MESSAGE_MAX]);

enum peer_read {
	PEER_READ_OK,
	PEER_READ_FOREIGN, /* none of ours, cut off or damaged */
	PEER_READ_VERSION, /* of another version of what stands on the wire: *@ret_version */
	PEER_READ_KEY,     /* not made with our key */
};
/* @n bytes, whatever they are. @ret is filled for PEER_READ_OK only. */
enum peer_read peer_message_read(const uint8_t *data, size_t n, const struct peer_key *key,
    struct peer_message *ret, unsigned *ret_version);

#endif
