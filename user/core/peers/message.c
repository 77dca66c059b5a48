// SPDX-License-Identifier: BSD-3-Clause
/* Messages as bytes, and back; see message.h. Numbers have their lowest byte first. */
#include "core/peers/message.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include <cozbpf/abi.h>
#include <cozbpf/siphash.h>

#define MAGIC 0x50425a43U /* "CZBP" */
#define HEADER 8          /* magic and version, which stay */
#define TAG 8
#define PERIOD_ONE 1000000.0
#define KEY_MIN 16
#define SETTLE_MAX_NS 60000000000ULL

/* Reads or writes: a field is named once for both. */
struct wire {
	uint8_t *to;
	const uint8_t *from;
	size_t at, room;
	bool is_bad;
};

static void number(struct wire *w, uint64_t *value, size_t bytes)
{
	if (w->is_bad || w->room - w->at < bytes) {
		w->is_bad = true;
		return;
	}
	if (w->from)
		*value = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (w->to)
			w->to[w->at + i] = (uint8_t)(*value >> 8 * i);
		else
			*value |= (uint64_t)w->from[w->at + i] << 8 * i;
	}
	w->at += bytes;
}

static void u32(struct wire *w, uint32_t *value)
{
	uint64_t v = *value;

	number(w, &v, 4);
	*value = (uint32_t)v;
}

/* False and true are all that is read. */
static void flag(struct wire *w, bool *value)
{
	uint64_t v = *value;

	number(w, &v, 1);
	w->is_bad |= v > 1;
	*value = v;
}

/* Printable bytes up to a zero in @room; what is read is shown to the user. */
static void text(struct wire *w, char *value, size_t room)
{
	uint64_t n = w->to ? strnlen(value, room - 1) : 0;

	number(w, &n, 2);
	if (w->is_bad || n >= room || w->room - w->at < n) {
		w->is_bad = true;
		return;
	}
	if (w->to)
		memcpy(w->to + w->at, value, n);
	else
		memcpy(value, w->from + w->at, n);
	for (size_t i = 0; w->from && i < n; i++)
		w->is_bad |= iscntrl((unsigned char)value[i]);
	w->at += n;
	if (w->from)
		value[n] = 0;
}

static void order(struct wire *w, struct peer_order *o)
{
	uint32_t period = (uint32_t)lround(o->period * PERIOD_ONE);

	u32(w, &o->id);
	flag(w, &o->is_open);
	u32(w, &o->speedup_pct);
	u32(w, &o->shift);
	number(w, &o->settle_ns, 8);
	u32(w, &period);
	o->period = period / PERIOD_ONE;
	for (size_t i = 0; i < PEER_UNITS; i++) {
		text(w, o->units[i].file, sizeof(o->units[i].file));
		u32(w, &o->units[i].line);
		u32(w, &o->units[i].id);
	}
	/* What the kernel side is given is in its bounds, whoever says it. */
	w->is_bad |= o->speedup_pct > 100 || o->shift > 63 || o->settle_ns > SETTLE_MAX_NS ||
		     (o->id && !(o->period > 0.5 && o->period < 2));
}

static void answer(struct wire *w, struct peer_answer *a)
{
	uint32_t stage = a->stage;

	u32(w, &a->id);
	u32(w, &stage);
	w->is_bad |= stage >= N_PEER_STAGE;
	a->stage = w->is_bad ? PEER_STAGE_NONE : (enum peer_stage)stage;
	flag(w, &a->is_void);
	number(w, &a->selected_ns, 8);
}

static void fields(struct wire *w, struct peer_message *m)
{
	u32(w, &m->from);
	u32(w, &m->n_nodes);
	u32(w, &m->sequence);
	number(w, &m->nonce, 8);
	number(w, &m->echo, 8);
	flag(w, &m->has_ended);
	flag(w, &m->goes_on);
	flag(w, &m->is_ready);
	u32(w, &m->required_id);
	number(w, &m->required_ns, 8);
	order(w, &m->order);
	answer(w, &m->answer);
	text(w, m->tool, sizeof(m->tool));
	text(w, m->build, sizeof(m->build));
	w->is_bad |=
	    !m->nonce || !m->sequence || m->n_nodes > COZBPF_PEERS || m->from >= m->n_nodes;
}

static uint64_t word_of(const uint8_t *data, size_t n)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < n; i++)
		ret |= (uint64_t)data[i] << 8 * i;
	return ret;
}

static uint64_t hash(const struct peer_key *key, const uint8_t *data, size_t n)
{
	const __u64 words[2] = {key->words[0], key->words[1]};
	struct siphash h;
	size_t at = 0;

	siphash_begin(&h, words);
	for (; n - at >= 8; at += 8)
		siphash_word(&h, word_of(data + at, 8));
	return siphash_end(&h, word_of(data + at, n - at) | (uint64_t)(n & 0xff) << 56);
}

bool peer_key_make(const char *chars, size_t n, struct peer_key *ret)
{
	static const struct peer_key first = {{1, 0}}, second = {{2, 0}};

	while (n && isspace((unsigned char)chars[n - 1]))
		n--;
	ret->words[0] = hash(&first, (const uint8_t *)chars, n);
	ret->words[1] = hash(&second, (const uint8_t *)chars, n);
	return n >= KEY_MIN;
}

size_t peer_message_write(
    const struct peer_message *m, const struct peer_key *key, uint8_t data[PEER_MESSAGE_MAX])
{
	struct peer_message copy = *m;
	struct wire w = {.to = data, .room = PEER_MESSAGE_MAX - TAG};
	uint64_t magic = MAGIC, version = PEER_VERSION, tag;

	number(&w, &magic, 4);
	number(&w, &version, 4);
	fields(&w, &copy);
	tag = hash(key, data, w.at);
	w.room += TAG;
	number(&w, &tag, TAG);
	return w.is_bad ? 0 : w.at;
}

enum peer_read peer_message_read(const uint8_t *data, size_t n, const struct peer_key *key,
    struct peer_message *ret, unsigned *ret_version)
{
	struct wire w = {.from = data, .room = n};
	uint64_t magic = 0, version = 0;

	if (n > PEER_MESSAGE_MAX || n < HEADER + TAG)
		return PEER_READ_FOREIGN;
	number(&w, &magic, 4);
	number(&w, &version, 4);
	if (magic != MAGIC)
		return PEER_READ_FOREIGN;
	*ret_version = (unsigned)version;
	if (version != PEER_VERSION)
		return PEER_READ_VERSION;
	w.room = n - TAG;
	if (hash(key, data, w.room) != word_of(data + w.room, TAG))
		return PEER_READ_KEY;
	*ret = (struct peer_message){0};
	fields(&w, ret);
	return w.is_bad || w.at != w.room ? PEER_READ_FOREIGN : PEER_READ_OK;
}
