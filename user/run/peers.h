/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other nodes of the run (--peers): a socket, and a thread that each millisecond tells them R
 * and hears theirs, whatever the loop does meanwhile. What it all means is core/peers'.
 *
 * All functions are the loop's to call.
 */
#ifndef COZBPF_RUN_PEERS_H
#define COZBPF_RUN_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment/readings.h"
#include "core/peers/peers.h"
#include "core/places/linemap.h"
#include "core/text/errors.h"

struct console;
struct run_options;
struct session;

struct run_peers;

/* Reads the list and the key, and takes the first address of the list that is this machine's and
 * free. -1 with @e. */
int run_peers_create(
    const struct run_options *o, struct console *console, struct run_peers **ret, struct error *e);
/* Begins to speak; @build names the program's build. */
int run_peers_start(
    struct run_peers *p, struct session *session, const char *build, struct error *e);
/* Tells others that we profile no more, and whether our part of the program goes on. Accepts NULL.
 */
void run_peers_end(struct run_peers *p, bool goes_on);
void run_peers_destroy(struct run_peers *p); /* accepts NULL */

/* Our place in the list, from 0. */
unsigned run_peers_self(const struct run_peers *p);
/* Readable when an order has come; run_peers_leads() takes it. -1 for NULL. */
int run_peers_fd(const struct run_peers *p);

/* Says what became of nodes since the last call. Whether experiments are ours to open: we are
 * elected, and all are there. */
bool run_peers_leads(struct run_peers *p, uint64_t now);

/* The elected node: opens an experiment on all nodes, ours included. */
void run_peers_open(struct run_peers *p, const struct opening *o, const struct line_map *lines);
/* Closes it, waits for what others say of it, and adds what they executed to @snap. False: it does
 * not count. */
bool run_peers_close(struct run_peers *p, struct snapshot *snap);
/* Closes it as one that is void. */
void run_peers_drop(struct run_peers *p);

/* The others: do what is wanted, in @lines. @ret: an experiment that was closed; false: none was.
 */
bool run_peers_follow(
    struct run_peers *p, const struct line_map *lines, struct snapshot *ret, unsigned *ret_pct);

/* Why there were no experiments, in words; NULL: there could have been. */
const char *run_peers_missing(struct run_peers *p);
/* The name of the node that was elected, if ever another one was; NULL: ours was. */
const char *run_peers_elsewhere(struct run_peers *p);
/* What was lost, in words for the log of --verbose and for the end. */
void run_peers_tell_losses(struct run_peers *p);

#endif
