/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes that share their delays: their lists, their messages, and what they make of them, over a
 * network that loses, delays, doubles and swaps datagrams, and that hostile ones come from. Each
 * node's clock has an origin of its own. The seeds are fixed, so each run is the same.
 */
#include "check.h"

#include <cozbpf/siphash.h>

#include "core/experiment/rng.h"
#include "core/peers/names.h"
#include "core/peers/peers.h"

#define MS 1000000ULL

static const struct peer_key key = {{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL}};

/* The published vectors of SipHash-2-4: messages of 15 and of 8 bytes, 00 01 02 ... */
TEST(siphash)
{
	struct siphash h;

	siphash_begin(&h, (const __u64 *)key.words);
	siphash_word(&h, 0x0706050403020100ULL);
	CHECK(siphash_end(&h, 0x0f0e0d0c0b0a0908ULL) == 0xa129ca6149be45e5ULL);
	siphash_begin(&h, (const __u64 *)key.words);
	siphash_word(&h, 0x0706050403020100ULL);
	CHECK(siphash_end(&h, 8ULL << 56) == 0x93f5f5799a932462ULL);
}

static void check_names(const char *text, const char *expected)
{
	char got[1024] = "";
	struct peer_names l;
	struct error e = {0};

	if (peer_names_parse(&l, text, &e))
		snprintf(got, sizeof(got), "%s", e.cause);
	for (unsigned i = 0; !e.status && i < l.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s:%u", i ? " " : "",
		    l.names[i].host, l.names[i].port);
	CHECK_STR(got, expected);
}

TEST(lists)
{
	check_names("a,b", "a:7411 b:7411");
	check_names("a:1,b:65535", "a:1 b:65535");
	check_names("a,a,b,a", "a:7411 a:7412 b:7411 a:7413");
	check_names(
	    "node[08-10,2]-ib:9,x", "node08-ib:9 node09-ib:9 node10-ib:9 node2-ib:9 x:7411");
	check_names("[::1]:5,[::1]:6,[fe80::2]", "::1:5 ::1:6 fe80::2:7411");
	check_names("a", "a run of one node has no peers");
	check_names("", "a list of nodes has one of 0 characters");
	check_names("a,,b", "a list of nodes has one of 0 characters");
	check_names("a:0,b", "'a:0' has no port");
	check_names("a:70000,b", "'a:70000' has no port");
	check_names("a:1x,b", "'a:1x' has no port");
	check_names("a:1,a:1", "the list of nodes has 'a:1' twice");
	check_names("n[1-,b", "'n[1-,b' has a bracket that is not closed");
	check_names("n[3-1]", "'3-1' is no range of nodes");
	check_names("n[a]", "'a' is no range of nodes");
	check_names("n[1-1000000]", "more than 64 nodes are named");
	check_names("[::1,b", "'[::1,b' is no address");
}

static const char *const *environment;

static const char *look_up(const char *name)
{
	for (const char *const *v = environment; *v; v += 2)
		if (!strcmp(*v, name))
			return v[1];
	return NULL;
}

static void check_job(const char *const *set, const char *expected)
{
	char got[1024] = "";
	struct peer_names l;
	struct error e = {0};

	environment = set;
	if (peer_names_of_job(&l, look_up, &e))
		snprintf(got, sizeof(got), "%s", e.cause);
	for (unsigned i = 0; !e.status && i < l.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s:%u", i ? " " : "",
		    l.names[i].host, l.names[i].port);
	CHECK_STR(got, expected);
}

#define ENVIRONMENT(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(lists_of_engines)
{
	check_job(ENVIRONMENT("SLURM_STEP_NODELIST", "n[1-3]", "SLURM_STEP_TASKS_PER_NODE",
		      "2(x2),1", "SLURM_NODELIST", "other"),
	    "n1:7411 n1:7412 n2:7411 n2:7412 n3:7411");
	check_job(ENVIRONMENT("SLURM_NODELIST", "a", "SLURM_TASKS_PER_NODE", "2"), "a:7411 a:7412");
	check_job(ENVIRONMENT("SLURM_NODELIST", "a"), "a run of one node has no peers");
	check_job(ENVIRONMENT("OMPI_COMM_WORLD_SIZE", "2", "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
		      "SLURM_NODELIST", "a"),
	    "127.0.0.1:7411 127.0.0.1:7412");
	check_job(ENVIRONMENT("PMI_SIZE", "3", "MPI_LOCALNRANKS", "3"),
	    "127.0.0.1:7411 127.0.0.1:7412 127.0.0.1:7413");
	check_job(ENVIRONMENT("PMI_SIZE", "3", "MPI_LOCALNRANKS", "2"),
	    "the job has ranks on other hosts, which its environment does not name");
	check_job(ENVIRONMENT("HOME", "/"), "no engine of jobs has named the nodes");
}

TEST(keys)
{
	struct peer_key a, b;

	CHECK(!peer_key_make("0123456789abcde \n\n", 18, &a));
	CHECK(peer_key_make("0123456789abcdef\n", 17, &a));
	CHECK(peer_key_make("0123456789abcdef", 16, &b));
	CHECK(a.words[0] == b.words[0] && a.words[1] == b.words[1] && a.words[0] != a.words[1]);
	CHECK(peer_key_make("0123456789abcdeg", 16, &b) && a.words[0] != b.words[0]);
}

static struct peer_message example(void)
{
	struct peer_message m = {.from = 1,
	    .n_nodes = 3,
	    .sequence = 77,
	    .nonce = 0x1122334455667788ULL,
	    .echo = 5,
	    .is_ready = true,
	    .required_id = 9,
	    .required_ns = 123456789012ULL,
	    .order = {.id = 9,
		.is_open = true,
		.speedup_pct = 75,
		.shift = 19,
		.settle_ns = 20 * MS,
		.period = 0.985,
		.units = {{"src/a.c", 17, 3}, {"f", 0, 4}}},
	    .answer = {8, PEER_STAGE_CLOSED, true, 42},
	    .tool = "0.1.0",
	    .build = "0123456789abcdef"};

	return m;
}

TEST(messages_come_back_as_they_were)
{
	struct peer_message m = example(), got;
	uint8_t data[PEER_MESSAGE_MAX];
	size_t n = peer_message_write(&m, &key, data);
	unsigned version;

	CHECK(n > 100 && n < 300);
	CHECK_EQ(peer_message_read(data, n, &key, &got, &version), PEER_READ_OK);
	CHECK_EQ(got.from, 1);
	CHECK_EQ(got.required_ns, 123456789012LL);
	CHECK_NEAR(got.order.period, 0.985, 1e-9);
	CHECK_STR(got.order.units[0].file, "src/a.c");
	CHECK_EQ(got.order.units[1].id, 4);
	CHECK_EQ(got.answer.stage, PEER_STAGE_CLOSED);
	CHECK_STR(got.build, "0123456789abcdef");
	memset(m.order.units[0].file, 'x', PEER_FILE - 1);
	memset(m.order.units[1].file, 'y', PEER_FILE - 1);
	n = peer_message_write(&m, &key, data);
	CHECK(n && peer_message_read(data, n, &key, &got, &version) == PEER_READ_OK);
	CHECK_EQ(strlen(got.order.units[1].file), PEER_FILE - 1);
}

/* Whatever comes: it is not taken, and nothing beyond its bytes is read (the sanitizer looks). */
TEST(damaged_messages)
{
	const struct peer_key other = {{1, 2}};
	struct peer_message m = example(), got;
	uint8_t data[PEER_MESSAGE_MAX], *exact;
	size_t n = peer_message_write(&m, &key, data), taken = 0;
	struct rng rng = {7};
	unsigned version;

	CHECK_EQ(peer_message_read(data, n, &other, &got, &version), PEER_READ_KEY);
	for (size_t i = 0; i < 8 * n; i++) {
		data[i / 8] ^= (uint8_t)(1 << i % 8);
		taken += peer_message_read(data, n, &key, &got, &version) == PEER_READ_OK;
		data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (size_t i = 0; i < n; i++) {
		exact = malloc(i + 1);
		memcpy(exact, data, i);
		taken += peer_message_read(exact, i, &key, &got, &version) == PEER_READ_OK;
		free(exact);
	}
	for (int i = 0; i < 20000; i++) {
		size_t size = rng_below(&rng, PEER_MESSAGE_MAX + 200);

		exact = malloc(size + 1);
		for (size_t j = 0; j < size; j++)
			exact[j] = (uint8_t)rng_next(&rng);
		if (i % 2 && size > 8)
			memcpy(exact, data, 8);
		taken += peer_message_read(exact, size, &key, &got, &version) == PEER_READ_OK;
		free(exact);
	}
	CHECK_EQ(taken, 0);
	data[4]++;
	CHECK_EQ(peer_message_read(data, n, &key, &got, &version), PEER_READ_VERSION);
	CHECK_EQ(version, PEER_VERSION + 1);
}

/* With the right key, too, a node may be told what must not reach the kernel side. */
TEST(authentic_messages_out_of_bounds)
{
	struct peer_message m, got;
	uint8_t data[PEER_MESSAGE_MAX];
	unsigned version;
	size_t n;

	for (int i = 0; i < 9; i++) {
		m = example();
		m.order.speedup_pct = i == 0 ? 101 : 75;
		m.order.shift = i == 1 ? 64 : 19;
		m.order.settle_ns = i == 2 ? UINT64_MAX : 1;
		m.order.period = i == 3 ? 0.1 : i == 4 ? 100 : 1;
		m.from = i == 5 ? 3 : 1;
		m.n_nodes = i == 6 ? 65 : 3;
		m.sequence = i != 7;
		m.answer.stage = i == 8 ? (enum peer_stage)N_PEER_STAGE : PEER_STAGE_OPEN;
		n = peer_message_write(&m, &key, data);
		CHECK(!n || peer_message_read(data, n, &key, &got, &version) == PEER_READ_FOREIGN);
	}
	m = example();
	strcpy(m.order.units[0].file, "a\033[2Jb");
	n = peer_message_write(&m, &key, data);
	CHECK(!n || peer_message_read(data, n, &key, &got, &version) == PEER_READ_FOREIGN);
}

#define NODES 4
#define FLIGHT 4096

/* A network in which time passes by milliseconds. */
struct datagram {
	uint64_t at;
	unsigned from, to;
	size_t n;
	uint8_t data[PEER_MESSAGE_MAX];
};

struct net {
	struct peers nodes[NODES];
	bool is_down[NODES];
	struct datagram flight[FLIGHT];
	size_t n_flight, sent;
	uint64_t ms;
	unsigned loss_pct, twice_pct, jitter_ms;
	bool is_hostile;
	struct rng rng;
};

static uint64_t now_at(const struct net *net, unsigned i)
{
	return (net->ms + 1000000 * i) * MS;
}

static void begin_net(struct net *net, unsigned loss_pct, unsigned jitter_ms, const char *odd_build)
{
	memset(net, 0, sizeof(*net));
	net->rng.state = 11;
	net->loss_pct = loss_pct;
	net->jitter_ms = jitter_ms;
	net->ms = 1000;
	for (unsigned i = 0; i < NODES; i++) {
		const struct peers_config c = {.n = NODES,
		    .self = i,
		    .key = key,
		    .nonce = 1000 + i,
		    .tool = "test",
		    .build = odd_build && i == 2 ? odd_build : "build"};

		peers_init(&net->nodes[i], &c);
		net->nodes[i].is_here = true;
	}
}

static void send_one(struct net *net, unsigned from, unsigned to, const uint8_t *data, size_t n)
{
	struct datagram *d = &net->flight[net->n_flight];

	if (net->n_flight == FLIGHT || rng_below(&net->rng, 100) < net->loss_pct)
		return;
	*d = (struct datagram){.at = net->ms + rng_below(&net->rng, net->jitter_ms + 1),
	    .from = from,
	    .to = to,
	    .n = n};
	memcpy(d->data, data, n);
	net->n_flight++;
	net->sent++;
}

static void send_all(struct net *net, unsigned i)
{
	uint8_t data[PEER_MESSAGE_MAX];

	for (unsigned to = 0; to < NODES; to++) {
		size_t n = net->is_down[i] ? 0 : peers_write(&net->nodes[i], to, data);

		if (!n)
			continue;
		send_one(net, i, to, data, n);
		if (rng_below(&net->rng, 100) < net->twice_pct)
			send_one(net, i, to, data, n);
	}
}

/* Bytes of chance, messages with another key, old messages: from the addresses of peers. */
static void attack(struct net *net)
{
	const struct peer_key other = {{3, 4}};
	struct peer_message m = example();
	uint8_t data[PEER_MESSAGE_MAX];
	unsigned from = (unsigned)rng_below(&net->rng, NODES), to = (from + 1) % NODES;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)rng_next(&net->rng);
	send_one(net, from, to, data, rng_below(&net->rng, sizeof(data)));
	m.from = from;
	m.n_nodes = NODES;
	send_one(net, from, to, data, peer_message_write(&m, &other, data));
	/* of a former run: the key is right, and both nonces are others */
	strcpy(m.tool, "test");
	strcpy(m.build, "build");
	send_one(net, from, to, data, peer_message_write(&m, &key, data));
}

/* One millisecond passes. */
static void step(struct net *net)
{
	for (unsigned i = 0; i < NODES; i++)
		send_all(net, i);
	if (net->is_hostile)
		attack(net);
	net->ms++;
	for (size_t i = 0; i < net->n_flight; i++) {
		struct datagram *d = &net->flight[i];

		if (d->at > net->ms)
			continue;
		if (!net->is_down[d->to])
			peers_take(&net->nodes[d->to], d->from, d->data, d->n, now_at(net, d->to));
		*d = net->flight[--net->n_flight];
		i--;
	}
	for (unsigned i = 0; i < NODES; i++)
		if (!net->is_down[i])
			peers_tick(&net->nodes[i], now_at(net, i));
}

static void steps(struct net *net, unsigned n)
{
	while (n--)
		step(net);
}

/* What a node that is not elected does with an order. */
static void follow(struct net *net, unsigned i)
{
	struct peers *p = &net->nodes[i];
	const struct peer_order *o = peers_order(p);

	if (o->id && o->is_open && p->own.answer.id != o->id)
		peers_opened(p, o->id);
	if (o->id && !o->is_open && p->own.answer.id == o->id &&
	    p->own.answer.stage == PEER_STAGE_OPEN)
		peers_closed(p, o->id, false, 100 * i);
}

static void steps_followed(struct net *net, unsigned n)
{
	while (n--) {
		step(net);
		for (unsigned i = 0; i < NODES; i++)
			if (!net->is_down[i] && !peers_is_elected(&net->nodes[i]))
				follow(net, i);
	}
}

/* An experiment of 500 ms, which node @leader opens. */
static enum peers_verdict experiment(
    struct net *net, unsigned leader, unsigned *ret_peer, uint64_t *ret_selected)
{
	struct peers *p = &net->nodes[leader];
	const struct peer_order order = {.speedup_pct = 50, .period = 1};
	uint64_t counted = now_at(net, leader) + 20 * MS;
	enum peers_verdict ret = PEERS_WAITS;

	peers_open(p, &order);
	steps_followed(net, 500);
	peers_close(p);
	*ret_peer = UINT32_MAX;
	for (int i = 0; i < 50 && ret == PEERS_WAITS; i++) {
		steps_followed(net, 1);
		ret = peers_judge(p, counted, ret_peer, ret_selected);
	}
	return ret;
}

static struct net net;

TEST(they_meet_and_elect)
{
	begin_net(&net, 0, 0, NULL);
	CHECK(!peers_is_ready(&net.nodes[0]));
	steps(&net, 5);
	for (unsigned i = 0; i < NODES; i++) {
		CHECK(peers_is_ready(&net.nodes[i]));
		CHECK_EQ(peers_elected(&net.nodes[i]), 0);
	}
}

TEST(the_greatest_delay_is_everybodys)
{
	begin_net(&net, 0, 0, NULL);
	steps(&net, 5);
	peers_require(&net.nodes[1], 3, 5 * MS);
	peers_require(&net.nodes[3], 3, 7 * MS);
	peers_require(&net.nodes[0], 2, 90 * MS);
	steps(&net, 1);
	CHECK_EQ(peers_required(&net.nodes[2], 3), 7 * MS);
	CHECK_EQ(peers_required(&net.nodes[3], 3), 5 * MS);
	CHECK_EQ(peers_required(&net.nodes[2], 2), 90 * MS);
	CHECK_EQ(peers_required(&net.nodes[2], 0), 0);
}

TEST(an_experiment_of_all)
{
	uint64_t selected;
	unsigned peer;

	begin_net(&net, 0, 1, NULL);
	steps(&net, 5);
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_GOOD);
	CHECK_EQ(selected, 600);
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_GOOD);
	CHECK_EQ(net.nodes[3].own.answer.id, 2);
}

/* Below the bound experiments count, though what is lost is told of; above it none does. Of 500
 * messages of each of twelve ways 3 % are lost: more than 10 % are at no seed. */
TEST(losses)
{
	uint64_t selected;
	unsigned peer, good = 0;

	begin_net(&net, 3, 0, NULL);
	steps(&net, 50);
	for (int i = 0; i < 10; i++)
		good += experiment(&net, 0, &peer, &selected) == PEERS_GOOD;
	CHECK_EQ(good, 10);
	CHECK_NEAR(net.nodes[0].peer[2].lost, 0.03 * (double)net.nodes[2].peer[0].sent, 60);
	begin_net(&net, 30, 0, NULL);
	steps(&net, 50);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_MISSING);
}

/* Messages that overtake each other are late; what comes twice is taken once. */
TEST(late_and_double_messages)
{
	uint64_t selected, received;
	unsigned peer;

	begin_net(&net, 0, 20, NULL);
	steps(&net, 50);
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_MISSING);
	CHECK(net.nodes[0].peer[1].late > 100);
	begin_net(&net, 0, 0, NULL);
	net.twice_pct = 5;
	steps(&net, 50);
	received = net.nodes[0].peer[1].received;
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_GOOD);
	CHECK_NEAR(net.nodes[0].peer[1].received - received, 501, 3);
	CHECK(net.nodes[0].peer[1].late > 5);
}

/* Four nodes, of which the first has just opened an experiment; returns from when on it counts. */
static uint64_t begin_open(void)
{
	const struct peer_order order = {.speedup_pct = 50, .period = 1};
	uint64_t counted;

	begin_net(&net, 0, 0, NULL);
	steps(&net, 5);
	counted = now_at(&net, 0) + 20 * MS;
	peers_open(&net.nodes[0], &order);
	return counted;
}

TEST(a_node_that_says_nothing_for_a_while)
{
	uint64_t selected, counted;
	unsigned peer = 0;

	counted = begin_open();
	steps_followed(&net, 200);
	net.is_down[2] = true;
	steps_followed(&net, 40);
	net.is_down[2] = false;
	steps_followed(&net, 300);
	peers_close(&net.nodes[0]);
	steps_followed(&net, 5);
	CHECK_EQ(peers_judge(&net.nodes[0], counted, &peer, &selected), PEERS_MISSING);
	/* All have seen it. */
	CHECK(net.nodes[1].own.answer.is_void && net.nodes[3].own.answer.is_void);
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_GOOD);
}

TEST(a_node_that_joins_late)
{
	uint64_t selected, counted;
	unsigned peer = 0;

	counted = begin_open();
	steps(&net, 25);
	steps_followed(&net, 300);
	peers_close(&net.nodes[0]);
	steps_followed(&net, 5);
	CHECK_EQ(peers_judge(&net.nodes[0], counted, &peer, &selected), PEERS_LATE);
}

/* A node dies, the elected one at that: the experiment is void, the next one elects and goes on. */
TEST(a_node_dies)
{
	uint64_t selected;
	unsigned peer;

	begin_net(&net, 0, 0, NULL);
	steps(&net, 5);
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_GOOD);
	net.is_down[3] = true;
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_WAITS);
	steps_followed(&net, 600);
	CHECK_EQ(net.nodes[0].peer[3].state, PEER_DEAD);
	CHECK_EQ(peers_judge(&net.nodes[0], UINT64_MAX, &peer, &selected), PEERS_DIED);
	CHECK_EQ(peer, 3);
	CHECK(peers_is_ready(&net.nodes[0]));
	CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_GOOD);
	net.is_down[0] = true;
	steps_followed(&net, 1100);
	CHECK(peers_is_elected(&net.nodes[1]));
	CHECK_EQ(peers_elected(&net.nodes[2]), 1);
	CHECK_EQ(experiment(&net, 1, &peer, &selected), PEERS_GOOD);
	CHECK_EQ(net.nodes[2].own.answer.id, 4);
	/* It was only stopped: it is there again. */
	net.is_down[0] = false;
	steps(&net, 5);
	CHECK_EQ(peers_elected(&net.nodes[1]), 0);
	CHECK(net.nodes[0].last_id == 4);
}

TEST(a_node_that_ends)
{
	begin_net(&net, 0, 0, NULL);
	steps(&net, 5);
	peers_end(&net.nodes[0], false);
	steps(&net, 2);
	CHECK_EQ(net.nodes[1].peer[0].state, PEER_ENDED);
	CHECK(peers_is_elected(&net.nodes[1]) && peers_is_ready(&net.nodes[1]));
	/* Its part of the program would not be held back. */
	peers_end(&net.nodes[3], true);
	steps(&net, 2);
	CHECK(!peers_is_ready(&net.nodes[1]));
}

TEST(nobody_begins_before_all_can)
{
	begin_net(&net, 0, 0, NULL);
	net.nodes[2].is_here = false;
	steps(&net, 50);
	CHECK(!peers_is_ready(&net.nodes[0]));
	net.nodes[2].is_here = true;
	steps(&net, 2);
	CHECK(peers_is_ready(&net.nodes[0]));
}

TEST(hostile_datagrams)
{
	uint64_t selected;
	unsigned peer;

	begin_net(&net, 0, 0, NULL);
	net.is_hostile = true;
	steps(&net, 50);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(experiment(&net, 0, &peer, &selected), PEERS_GOOD);
	for (unsigned i = 0; i < NODES; i++) {
		CHECK(net.nodes[i].foreign > 300);
		CHECK(net.nodes[i].forged > 300);
		CHECK(net.nodes[i].replayed > 300);
		CHECK(net.nodes[i].last_id == (i ? 4 : 4));
		CHECK_EQ(peers_required(&net.nodes[i], 9), 0);
	}
}

TEST(another_build_is_refused)
{
	begin_net(&net, 0, 0, "another");
	steps(&net, 50);
	CHECK_EQ(net.nodes[0].peer[2].state, PEER_REFUSED);
	CHECK_STR(net.nodes[0].peer[2].why, "it runs another build of the program");
	CHECK(!peers_is_ready(&net.nodes[0]) && !peers_is_ready(&net.nodes[2]));
}

TEST(another_key_or_version_is_told)
{
	const struct peer_key other = {{3, 4}};
	struct peer_message m = example();
	uint8_t data[PEER_MESSAGE_MAX];
	size_t n = peer_message_write(&m, &other, data);

	begin_net(&net, 0, 0, NULL);
	peers_take(&net.nodes[0], 1, data, n, now_at(&net, 0));
	CHECK_STR(net.nodes[0].peer[1].why, "it has another key");
	data[4] = 9;
	peers_take(&net.nodes[0], 1, data, n, now_at(&net, 0));
	CHECK_STR(net.nodes[0].peer[1].why, "it speaks version 9, and this cozbpf version 1");
	CHECK_EQ(net.nodes[0].peer[1].state, PEER_AWAITED);
	/* Who is there is not put in doubt by what others write. */
	steps(&net, 5);
	peers_take(&net.nodes[0], 1, data, n, now_at(&net, 0));
	CHECK_EQ(net.nodes[0].peer[1].state, PEER_ALIVE);
	CHECK_STR(net.nodes[0].peer[1].why, "");
}
