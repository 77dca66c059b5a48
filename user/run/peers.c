// SPDX-License-Identifier: BSD-3-Clause
/* See peers.h. */
#include "run/peers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/experiment/verdict.h"
#include "kernel/peers.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/options.h"
#include "run/peers_private.h"

/* between two looks of the thread; R is told as often while an experiment is open, */
#define TICK_NS 1000000ULL
/* if this leaves no more datagrams than these in a second: many nodes are told less often */
#define SEND_NS 50000ULL
/* between experiments */
#define REST_NS 10000000ULL
/* datagrams that are taken in a tick: ten for each node; whoever sends more does not keep us busy
 */
#define TAKEN_EACH 10
/* for which all others may take to close an experiment */
#define CLOSE_NS 150000000ULL
/* before a node is said to be missing */
#define AWAIT_NS 10000000000ULL
#define TIMES_END 3
/* of an experiment that others open: how long it may take is theirs to know */
#define PLANNED_NS 3600000000000ULL
/* the loop looks each 250 ms; one that has not for so long stands still */
#define STILL_NS 2000000000ULL

static void say_all(struct run_peers *p, uint64_t now)
{
	uint8_t data[PEER_MESSAGE_MAX];

	for (unsigned i = 0; i < p->names.n; i++) {
		size_t n = peers_write(&p->core, i, data);

		if (n && sendto(p->fd, data, n, 0, (const struct sockaddr *)&p->addresses[i],
			     sizeof(p->addresses[i])) != (ssize_t)n)
			p->unsent++;
	}
	p->said_ns = now;
	p->says_at_once = false;
}

/* Which node a datagram is of. The address tells; a machine with several may use another one, and
 * then the message itself says whose it is, which its key has to prove. */
static unsigned sender(
    struct run_peers *p, const struct sockaddr_in6 *from, const uint8_t *data, size_t n)
{
	unsigned ret = run_peers_find(p, from);

	if (ret < p->names.n)
		return ret;
	if (n > 8 && data[8] < p->names.n)
		return data[8];
	p->strangers++;
	return COZBPF_PEERS;
}

static void hear_all(struct run_peers *p, uint64_t now)
{
	const uint64_t one = 1;
	bool is_news = false;

	for (unsigned i = 0; i < TAKEN_EACH * p->names.n; i++) {
		uint8_t data[PEER_MESSAGE_MAX + 1];
		struct sockaddr_in6 from;
		socklen_t size = sizeof(from);
		ssize_t n =
		    recvfrom(p->fd, data, sizeof(data), MSG_TRUNC, (struct sockaddr *)&from, &size);
		unsigned node;

		if (n < 0)
			break;
		if ((size_t)n > sizeof(data))
			n = (ssize_t)sizeof(data);
		node = sender(p, &from, data, (size_t)n);
		is_news |= node < p->names.n && peers_take(&p->core, node, data, (size_t)n, now);
	}
	if (is_news && write(p->news, &one, sizeof(one)) < 0)
		p->unsent++;
}

static bool is_due(const struct run_peers *p, uint64_t now)
{
	uint64_t often = SEND_NS * p->names.n, between = !p->core.own.required_id ? REST_NS
							 : often > TICK_NS        ? often
										  : TICK_NS;

	/* A tick is never exact: without a quarter of slack every other one would be left out. */
	return p->says_at_once || now - p->said_ns + TICK_NS / 4 >= between;
}

static void tick(struct run_peers *p)
{
	uint64_t now = monotonic_ns();
	uint32_t id = p->core.own.required_id;

	hear_all(p, now);
	/* A loop that stands still closes no experiment: the others go on without us. */
	if (p->looked_ns && now - p->looked_ns > STILL_NS)
		return;
	if (id)
		peers_require(
		    &p->core, id, session_follow(p->session, id, peers_required(&p->core, id)));
	peers_tick(&p->core, now);
	if (is_due(p, now))
		say_all(p, now);
}

static void *speak(void *peers)
{
	const struct sched_param urgent = {.sched_priority = 1};
	struct run_peers *p = peers;
	struct timespec next;

	/* The program's threads may have all CPUs. Where it is not allowed it is done without. */
	pthread_setschedparam(pthread_self(), SCHED_RR, &urgent);
	clock_gettime(CLOCK_MONOTONIC, &next);
	pthread_mutex_lock(&p->lock);
	while (!p->ends) {
		tick(p);
		pthread_mutex_unlock(&p->lock);
		next.tv_nsec += (long)TICK_NS;
		if (next.tv_nsec >= 1000000000L) {
			next.tv_nsec -= 1000000000L;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		/* After a stop no ticks are made up for. */
		if (monotonic_ns() >
		    (uint64_t)next.tv_sec * 1000000000ULL + (uint64_t)next.tv_nsec + 10 * TICK_NS)
			clock_gettime(CLOCK_MONOTONIC, &next);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static const char *look_up(const char *name)
{
	return getenv(name);
}

static int name_all(struct run_peers *p, const struct run_options *o, struct error *e)
{
	if (!strcmp(o->peers, "job") ? peer_names_of_job(&p->names, look_up, e)
				     : peer_names_parse(&p->names, o->peers, e))
		return -1;
	for (unsigned i = 0; i < p->names.n; i++)
		snprintf(p->labels[i], sizeof(p->labels[i]), "%s:%u", p->names.names[i].host,
		    p->names.names[i].port);
	return 0;
}

int run_peers_create(
    const struct run_options *o, struct console *console, struct run_peers **ret, struct error *e)
{
	struct run_peers *p = calloc(1, sizeof(*p));
	pthread_mutexattr_t inherits;

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	p->console = console;
	p->fd = -1;
	/* The thread is urgent, and the loop is not. */
	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&p->lock, &inherits);
	pthread_mutexattr_destroy(&inherits);
	p->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret = p;
	if (p->news < 0)
		return error_set(e, EXIT_OTHER, "cannot wait for nodes: %s", strerror(errno));
	return name_all(p, o, e) || run_peers_read_key(o->peers_key, &p->key, e) ||
		       run_peers_bind(p, e)
		   ? -1
		   : 0;
}

/* Without it waits for a peer's data count as waits for anybody's. */
static void start_peering(struct run_peers *p)
{
	const struct peering_config c = {
	    .key = {p->key.words[0], p->key.words[1]}, .addresses = p->data, .n = p->n_data};
	struct error e;

	if (session_start_peering(p->session, &c, &e))
		console_say(p->console,
		    "warning: delays do not travel with the program's data: %s; gains that need "
		    "two nodes come out too small",
		    e.cause);
}

int run_peers_start(
    struct run_peers *p, struct session *session, const char *build, struct error *e)
{
	struct peers_config c = {.n = p->names.n, .self = p->self, .key = p->key, .build = build};
	sigset_t every, before;
	int err;

	c.tool = COZBPF_VERSION " " COZBPF_BUILD;
	p->session = session;
	if (getrandom(&c.nonce, sizeof(c.nonce), 0) != sizeof(c.nonce) || !c.nonce)
		return error_set(e, EXIT_OTHER, "the system has no random numbers");
	peers_init(&p->core, &c);
	start_peering(p);
	p->started_ns = monotonic_ns();
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	err = pthread_create(&p->thread, NULL, speak, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return error_set(e, EXIT_OTHER, "cannot start a thread: %s", strerror(err));
	p->is_running = true;
	console_say(p->console, "node %u of %u, '%s'", p->self + 1, p->names.n, p->labels[p->self]);
	return 0;
}

void run_peers_end(struct run_peers *p, bool goes_on)
{
	if (!p || !p->is_running)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	peers_end(&p->core, goes_on);
	for (int i = 0; i < TIMES_END; i++)
		say_all(p, monotonic_ns());
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	p->is_running = false;
}

void run_peers_destroy(struct run_peers *p)
{
	if (!p)
		return;
	run_peers_end(p, false);
	pthread_mutex_destroy(&p->lock);
	if (p->fd >= 0)
		close(p->fd);
	if (p->news >= 0)
		close(p->news);
	free(p);
}

unsigned run_peers_self(const struct run_peers *p)
{
	return p->self;
}

int run_peers_fd(const struct run_peers *p)
{
	return p ? p->news : -1;
}

static void tell_state(struct run_peers *p, unsigned i)
{
	const struct peer *peer = &p->core.peer[i];

	p->told[i] = peer->state;
	switch (peer->state) {
	case PEER_ALIVE:
		console_say(p->console, "node '%s' is there", p->labels[i]);
		break;
	case PEER_DEAD:
		console_say(p->console,
		    "warning: node '%s' says nothing any more: the experiment is void, the others "
		    "go on",
		    p->labels[i]);
		break;
	case PEER_ENDED:
		console_say(p->console, "node '%s' has ended%s", p->labels[i],
		    peer->says.goes_on ? ", but not its part of the program: no more experiments"
				       : "");
		break;
	case PEER_REFUSED:
		console_say(p->console,
		    "warning: node '%s' is refused: %s; there will be no "
		    "experiments",
		    p->labels[i], peer->why);
		break;
	case PEER_AWAITED:
		break;
	}
}

static const char *why_awaited(const struct peer *peer)
{
	return peer->why[0] ? peer->why : "nothing has come from it";
}

static void tell_awaited(struct run_peers *p)
{
	p->has_told_awaited = true;
	for (unsigned i = 0; i < p->names.n; i++)
		if (i != p->self && p->core.peer[i].state == PEER_AWAITED)
			console_say(p->console,
			    "warning: no experiments yet: node '%s' is not there: %s", p->labels[i],
			    why_awaited(&p->core.peer[i]));
}

bool run_peers_leads(struct run_peers *p, uint64_t now)
{
	uint64_t taken;
	bool is_ready, ret;

	if (read(p->news, &taken, sizeof(taken)) < 0)
		taken = 0;
	pthread_mutex_lock(&p->lock);
	p->core.is_here = true;
	p->looked_ns = now;
	for (unsigned i = 0; i < p->names.n; i++)
		if (i != p->self && p->core.peer[i].state != p->told[i])
			tell_state(p, i);
	if (!p->core.is_complete && !p->has_told_awaited && now - p->started_ns > AWAIT_NS)
		tell_awaited(p);
	is_ready = peers_is_ready(&p->core);
	ret = is_ready && peers_is_elected(&p->core);
	if (is_ready && !ret) {
		p->is_led = true;
		p->led_by = peers_elected(&p->core);
	}
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static void begin(struct run_peers *p, const struct opening *o, uint32_t id)
{
	session_open_experiment(p->session, o);
	session_set_peering_id(p->session, id);
	peers_require(&p->core, id, 0);
	p->id = id;
}

static void end(struct run_peers *p, struct snapshot *ret)
{
	session_set_peering_id(p->session, 0);
	session_close_experiment(p->session, ret);
	peers_require(&p->core, 0, 0);
	p->id = 0;
}

static void name_unit(const struct line_map *m, uint32_t id, struct peer_unit *ret)
{
	if (!id)
		return;
	snprintf(ret->file, sizeof(ret->file), "%s", m->lines[id].file);
	ret->line = m->lines[id].line;
	ret->id = id;
}

void run_peers_open(struct run_peers *p, const struct opening *o, const struct line_map *lines)
{
	struct peer_order order = {.speedup_pct = o->speedup_pct,
	    .shift = o->shift,
	    .settle_ns = o->settle_ns,
	    .period = o->period};

	name_unit(lines, o->line, &order.units[0]);
	name_unit(lines, o->other, &order.units[1]);
	pthread_mutex_lock(&p->lock);
	begin(p, o, peers_open(&p->core, &order));
	say_all(p, monotonic_ns());
	pthread_mutex_unlock(&p->lock);
}

static void tell_void(struct run_peers *p, enum peers_verdict why, unsigned peer)
{
	static const char *const words[] = {[PEERS_WAITS] = "did not close it",
	    [PEERS_GOOD] = "was there",
	    [PEERS_DIED] = "has gone",
	    [PEERS_MISSING] = "missed messages, or was missed, or spoilt it",
	    [PEERS_LATE] = "opened it late",
	    [PEERS_REFUSED] = "has no such line"};

	/* That it has ended is said. */
	if (p->core.peer[peer].state != PEER_ENDED && !p->told_void++)
		console_say(p->console, "an experiment is void: node '%s' %s (said once)",
		    p->labels[peer], words[why]);
}

bool run_peers_close(struct run_peers *p, struct snapshot *snap)
{
	const struct timespec pause = {0, (long)TICK_NS / 2};
	enum peers_verdict verdict;
	uint64_t until, selected_ns;
	unsigned peer = p->self;

	pthread_mutex_lock(&p->lock);
	end(p, snap);
	peers_close(&p->core);
	say_all(p, monotonic_ns());
	until = monotonic_ns() + CLOSE_NS;
	/* The thread hears the answers. No experiment is open: nobody waits for us meanwhile. */
	while ((verdict = peers_judge(&p->core, snap->counted_ns, &peer, &selected_ns)) ==
		   PEERS_WAITS &&
	       monotonic_ns() < until) {
		p->says_at_once = true;
		pthread_mutex_unlock(&p->lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	snap->selected_ns += selected_ns;
	if (verdict != PEERS_GOOD)
		tell_void(p, verdict, peer);
	return verdict == PEERS_GOOD;
}

void run_peers_drop(struct run_peers *p)
{
	struct snapshot ignored;

	pthread_mutex_lock(&p->lock);
	if (p->id)
		end(p, &ignored);
	peers_close(&p->core);
	p->says_at_once = true;
	pthread_mutex_unlock(&p->lock);
}

/* The unit that another node has named; 0: there is none here. All have the same build, so mostly
 * it has the same number. */
static uint32_t find_unit(const struct line_map *m, const struct peer_unit *u)
{
	const char *last = NULL;
	bool matches = false;

	if (u->id < m->n_lines && m->lines[u->id].file && m->lines[u->id].line == u->line &&
	    !strcmp(m->lines[u->id].file, u->file))
		return u->id;
	for (uint32_t id = 1; id < m->n_lines; id++) {
		const struct source_line *l = &m->lines[id];

		if (l->file != last) {
			last = l->file;
			matches = last && !strcmp(last, u->file);
		}
		if (matches && l->line == u->line && !l->wait && !l->is_couple)
			return id;
	}
	return 0;
}

/* False: this node cannot open it. */
static bool as_opening(
    const struct peer_order *order, const struct line_map *m, struct opening *ret)
{
	*ret = (struct opening){.speedup_pct = order->speedup_pct,
	    .shift = order->shift,
	    .settle_ns = order->settle_ns,
	    .period = order->period,
	    .line = find_unit(m, &order->units[0])};
	if (order->units[1].file[0])
		ret->other = find_unit(m, &order->units[1]);
	if (!ret->line || (order->units[1].file[0] && !ret->other))
		return false;
	ret->unit = ret->line;
	ret->n_lines = 1 + m->lines[ret->line].n_lines;
	ret->n_others = ret->other ? 1 + m->lines[ret->other].n_lines : 0;
	return true;
}

static void follow_open(
    struct run_peers *p, const struct peer_order *order, const struct line_map *lines)
{
	struct opening o;

	if (!as_opening(order, lines, &o)) {
		peers_refuse(&p->core, order->id);
	} else {
		peers_opened(&p->core, order->id);
		begin(p, &o, order->id);
	}
	p->says_at_once = true;
}

static void follow_close(struct run_peers *p, unsigned pct, struct snapshot *ret)
{
	uint32_t id = p->id;
	struct verdicts none = {0};
	const struct judged judged = {ret, pct, PLANNED_NS, SPOILT_NOT};
	bool is_void;

	end(p, ret);
	is_void = verdict_window(&none, &judged) != SPOILT_NOT;
	peers_closed(&p->core, id, is_void, ret->selected_ns);
	p->says_at_once = true;
}

bool run_peers_follow(
    struct run_peers *p, const struct line_map *lines, struct snapshot *ret, unsigned *ret_pct)
{
	const struct peer_order *order;
	bool closes;

	pthread_mutex_lock(&p->lock);
	order = peers_order(&p->core);
	closes = p->id && (order->id != p->id || !order->is_open);
	*ret_pct = p->pct;
	if (closes)
		follow_close(p, p->pct, ret);
	if (!p->id && order->is_open && order->id && order->id != p->core.own.answer.id) {
		p->pct = order->speedup_pct;
		follow_open(p, order, lines);
	}
	pthread_mutex_unlock(&p->lock);
	return closes;
}

const char *run_peers_missing(struct run_peers *p)
{
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	p->missing[0] = 0;
	for (unsigned i = 0; i < p->names.n; i++) {
		const struct peer *peer = &p->core.peer[i];
		bool is_refused = peer->state == PEER_REFUSED;

		if (i != p->self && n < sizeof(p->missing) &&
		    (is_refused || peer->state == PEER_AWAITED))
			n += (size_t)snprintf(p->missing + n, sizeof(p->missing) - n,
			    "%snode '%s' %s: %s", n ? "; " : "", p->labels[i],
			    is_refused ? "was refused" : "was not there", why_awaited(peer));
	}
	pthread_mutex_unlock(&p->lock);
	return n ? p->missing : NULL;
}

const char *run_peers_elsewhere(struct run_peers *p)
{
	return p->is_led ? p->labels[p->led_by] : NULL;
}

void run_peers_tell_losses(struct run_peers *p)
{
	const struct cozbpf_peering *k = session_peering(p->session);
	uint64_t received = 0, lost = 0, late = 0;

	for (unsigned i = 0; i < p->names.n; i++) {
		received += p->core.peer[i].received;
		lost += p->core.peer[i].lost;
		late += p->core.peer[i].late;
	}
	console_say(p->console,
	    "nodes: %llu messages, %llu lost, %llu late, %llu not sent; dropped: %llu foreign, "
	    "%llu of another key, %llu of other runs",
	    (unsigned long long)received, (unsigned long long)lost, (unsigned long long)late,
	    (unsigned long long)p->unsent, (unsigned long long)(p->core.foreign + p->strangers),
	    (unsigned long long)(p->core.forged + k->forged), (unsigned long long)p->core.replayed);
	console_say(p->console,
	    "data between nodes: %llu connections, %llu packets with delays, %llu waits joined",
	    (unsigned long long)k->sockets, (unsigned long long)k->told,
	    (unsigned long long)k->joined);
}
