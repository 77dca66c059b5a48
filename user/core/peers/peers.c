// SPDX-License-Identifier: BSD-3-Clause
/* What nodes know of each other; see peers.h. */
#include "core/peers/peers.h"

#include <stdio.h>
#include <string.h>

void peers_init(struct peers *p, const struct peers_config *config)
{
	*p = (struct peers){.config = *config};
	p->own = (struct peer_message){
	    .from = config->self, .n_nodes = config->n, .nonce = config->nonce};
	p->own.order.period = 1;
	snprintf(p->own.tool, sizeof(p->own.tool), "%s", config->tool);
	snprintf(p->own.build, sizeof(p->own.build), "%s", config->build);
	p->is_complete = config->n == 1;
}

static bool is_other(const struct peers *p, unsigned i)
{
	return i < p->config.n && i != p->config.self;
}

/* From an address that is a peer's comes what is not authentic. Others may write that address on
 * it, so it tells why a peer is awaited, and no more. */
static void suspect(struct peer *from, const char *why)
{
	if (from->state == PEER_AWAITED)
		snprintf(from->why, sizeof(from->why), "%s", why);
}

static bool take_bytes(
    struct peers *p, struct peer *from, const uint8_t *data, size_t n, struct peer_message *ret)
{
	unsigned version = 0;
	char why[sizeof(from->why)];

	switch (peer_message_read(data, n, &p->config.key, ret, &version)) {
	case PEER_READ_OK:
		return true;
	case PEER_READ_VERSION:
		snprintf(why, sizeof(why), "it speaks version %u, and this cozbpf version %u",
		    version, PEER_VERSION);
		suspect(from, why);
		p->foreign++;
		return false;
	case PEER_READ_KEY:
		suspect(from, "it has another key");
		p->forged++;
		return false;
	case PEER_READ_FOREIGN:
		p->foreign++;
		return false;
	}
	return false;
}

/* Whether an authentic message can be of this run. */
static bool fits(struct peers *p, struct peer *from, const struct peer_message *m)
{
	const char *what = m->n_nodes != p->config.n      ? "it has another list of peers"
			   : strcmp(m->tool, p->own.tool) ? "it is another cozbpf"
							  : "it runs another build of the program";

	if (m->n_nodes == p->config.n && !strcmp(m->tool, p->own.tool) &&
	    !strcmp(m->build, p->own.build))
		return true;
	from->state = PEER_REFUSED;
	snprintf(from->why, sizeof(from->why), "%s", what);
	return false;
}

/* Messages of former runs have the right key, but not the number that we have drawn. */
static bool is_of_now(struct peers *p, struct peer *from, const struct peer_message *m)
{
	bool is_met = from->state != PEER_AWAITED;

	if (is_met && m->nonce != from->nonce) {
		p->replayed++;
		return false;
	}
	from->nonce = m->nonce;
	if (m->echo == p->config.nonce)
		return true;
	p->replayed += is_met || m->echo;
	return false;
}

/* False: a later one has come before. */
static bool take_sequence(struct peer *from, uint32_t sequence)
{
	uint32_t ahead = sequence - from->says.sequence;

	if (from->state == PEER_AWAITED) {
		from->received++;
		return true;
	}
	if (!ahead || ahead > UINT32_MAX / 2) {
		/* It was counted as lost, if it is not there twice. */
		from->late++;
		from->lost -= from->lost > from->lost_before;
		return false;
	}
	from->lost += ahead - 1;
	from->received++;
	return true;
}

static void note_silence(struct peer *from, uint64_t now)
{
	uint64_t silent = now > from->heard_ns ? now - from->heard_ns : 0;

	if (silent > from->silent_ns)
		from->silent_ns = silent;
}

static void complete(struct peers *p)
{
	for (unsigned i = 0; i < p->config.n; i++)
		if (is_other(p, i) && p->peer[i].state != PEER_ALIVE)
			return;
	p->is_complete = true;
}

/* Whether a message tells of experiments what the one before did not. */
static bool is_news(const struct peer_message *was, const struct peer_message *is)
{
	return was->order.id != is->order.id || was->order.is_open != is->order.is_open ||
	       was->answer.id != is->answer.id || was->answer.stage != is->answer.stage ||
	       was->has_ended != is->has_ended;
}

bool peers_take(struct peers *p, unsigned i, const uint8_t *data, size_t n, uint64_t now)
{
	struct peer *from = &p->peer[i < COZBPF_PEERS ? i : 0];
	struct peer_message m;
	bool ret;

	if (!is_other(p, i) || !take_bytes(p, from, data, n, &m))
		return false;
	if (m.from != i) {
		p->foreign++;
		return false;
	}
	if (from->state == PEER_REFUSED || !is_of_now(p, from, &m) || !fits(p, from, &m) ||
	    !take_sequence(from, m.sequence))
		return false;
	ret = is_news(&from->says, &m);
	note_silence(from, now);
	from->heard_ns = now;
	from->says = m;
	from->why[0] = 0;
	from->state = m.has_ended ? PEER_ENDED : PEER_ALIVE;
	if (m.order.id > p->last_id)
		p->last_id = m.order.id;
	if (m.answer.id == p->own.order.id && m.answer.stage == PEER_STAGE_OPEN && !from->joined_ns)
		from->joined_ns = now;
	complete(p);
	return ret;
}

size_t peers_write(struct peers *p, unsigned to, uint8_t data[PEER_MESSAGE_MAX])
{
	struct peer_message m = p->own;

	if (!is_other(p, to))
		return 0;
	m.sequence = ++p->peer[to].sent;
	m.echo = p->peer[to].nonce;
	m.is_ready = p->is_complete && p->is_here;
	return peer_message_write(&m, &p->config.key, data);
}

void peers_tick(struct peers *p, uint64_t now)
{
	for (unsigned i = 0; i < p->config.n; i++) {
		struct peer *peer = &p->peer[i];

		if (!is_other(p, i) || peer->state != PEER_ALIVE)
			continue;
		note_silence(peer, now);
		if (now > peer->heard_ns && now - peer->heard_ns >= PEERS_DEAD_NS)
			peer->state = PEER_DEAD;
	}
}

unsigned peers_elected(const struct peers *p)
{
	for (unsigned i = 0; i < p->config.self; i++)
		if (p->peer[i].state == PEER_ALIVE)
			return i;
	return p->config.self;
}

bool peers_is_elected(const struct peers *p)
{
	return peers_elected(p) == p->config.self;
}

bool peers_is_ready(const struct peers *p)
{
	for (unsigned i = 0; i < p->config.n; i++) {
		const struct peer *peer = &p->peer[i];

		if (is_other(p, i) && (peer->state == PEER_REFUSED ||
					  (peer->state == PEER_ALIVE && !peer->says.is_ready) ||
					  (peer->state == PEER_ENDED && peer->says.goes_on)))
			return false;
	}
	return p->is_complete;
}

uint64_t peers_required(const struct peers *p, uint32_t id)
{
	uint64_t ret = 0;

	for (unsigned i = 0; id && i < p->config.n; i++) {
		const struct peer *peer = &p->peer[i];

		if (is_other(p, i) && peer->state == PEER_ALIVE && peer->says.required_id == id &&
		    peer->says.required_ns > ret)
			ret = peer->says.required_ns;
	}
	return ret;
}

void peers_require(struct peers *p, uint32_t id, uint64_t required_ns)
{
	p->own.required_id = id;
	p->own.required_ns = required_ns;
}

/* What is counted from now on is of the experiment that opens. */
static void begin_counting(struct peers *p)
{
	peers_require(p, 0, 0);
	for (unsigned i = 0; i < p->config.n; i++) {
		struct peer *peer = &p->peer[i];

		peer->received_before = peer->received;
		peer->lost_before = peer->lost;
		peer->late_before = peer->late;
		peer->silent_ns = 0;
		peer->joined_ns = 0;
		peer->was_alive = peer->state == PEER_ALIVE;
	}
}

/* Of the experiment that was counted last: whether messages of @peer were missing. */
static bool was_missing(const struct peer *peer)
{
	uint64_t missing = peer->lost - peer->lost_before + peer->late - peer->late_before,
		 all = peer->received - peer->received_before + missing;

	return missing * 100 > all * PEERS_MISSING_PCT || peer->silent_ns > PEERS_SILENT_NS;
}

uint32_t peers_open(struct peers *p, const struct peer_order *order)
{
	begin_counting(p);
	p->own.order = *order;
	p->own.order.id = ++p->last_id;
	p->own.order.is_open = true;
	p->own.answer = (struct peer_answer){0};
	return p->last_id;
}

void peers_close(struct peers *p)
{
	p->own.order.is_open = false;
}

static enum peers_verdict judge_peer(const struct peer *peer, uint32_t id, uint64_t counted_ns)
{
	const struct peer_answer *a = &peer->says.answer;

	if (!peer->was_alive)
		return PEERS_GOOD;
	if (peer->state != PEER_ALIVE)
		return PEERS_DIED;
	if (a->id != id || (a->stage != PEER_STAGE_CLOSED && a->stage != PEER_STAGE_REFUSED))
		return PEERS_WAITS;
	if (a->stage == PEER_STAGE_REFUSED)
		return PEERS_REFUSED;
	if (!peer->joined_ns || peer->joined_ns > counted_ns)
		return PEERS_LATE;
	return a->is_void || was_missing(peer) ? PEERS_MISSING : PEERS_GOOD;
}

enum peers_verdict peers_judge(
    const struct peers *p, uint64_t counted_ns, unsigned *ret_peer, uint64_t *ret_selected_ns)
{
	enum peers_verdict ret = PEERS_GOOD;

	*ret_selected_ns = 0;
	for (unsigned i = 0; i < p->config.n; i++) {
		enum peers_verdict one = is_other(p, i)
					     ? judge_peer(&p->peer[i], p->own.order.id, counted_ns)
					     : PEERS_GOOD;

		if (one == PEERS_GOOD) {
			*ret_selected_ns +=
			    p->peer[i].was_alive ? p->peer[i].says.answer.selected_ns : 0;
			continue;
		}
		*ret_peer = i;
		if (one == PEERS_WAITS)
			return one;
		ret = one;
	}
	return ret;
}

const struct peer_order *peers_order(const struct peers *p)
{
	static const struct peer_order none;
	unsigned elected = peers_elected(p);

	return elected == p->config.self ? &none : &p->peer[elected].says.order;
}

void peers_opened(struct peers *p, uint32_t id)
{
	begin_counting(p);
	p->own.order = (struct peer_order){.period = 1};
	p->own.answer = (struct peer_answer){.id = id, .stage = PEER_STAGE_OPEN};
}

void peers_refuse(struct peers *p, uint32_t id)
{
	p->own.answer = (struct peer_answer){.id = id, .stage = PEER_STAGE_REFUSED};
}

void peers_closed(struct peers *p, uint32_t id, bool is_void, uint64_t selected_ns)
{
	for (unsigned i = 0; i < p->config.n; i++)
		is_void |= is_other(p, i) && p->peer[i].was_alive &&
			   (p->peer[i].state != PEER_ALIVE || was_missing(&p->peer[i]));
	p->own.answer = (struct peer_answer){
	    .id = id, .stage = PEER_STAGE_CLOSED, .is_void = is_void, .selected_ns = selected_ns};
}

void peers_end(struct peers *p, bool goes_on)
{
	p->own.has_ended = true;
	p->own.goes_on = goes_on;
	p->own.order.is_open = false;
}
