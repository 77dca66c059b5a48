/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The delay arithmetic in all orders of events: every legal sequence of up to DEPTH events of two
 * or three threads on two CPUs. After each event what must hold in any order is checked:
 * - R never decreases within an epoch, and is at most s x the time since the opening: nothing but
 * executing raises it;
 * - no L is above R; L + carry is at most the time since the opening;
 * - virtual time less carry never decreases from one look at a thread to the next (carry that is
 * used makes up for virtual time that ran on while the thread overslept), but at a sample: where no
 * edge lies between it and the sample before, the forecast is put right by up to s / 2 x the time
 *   executed in between, either way; and a thread that a timer paces is let off its debt, to the
 * nanosecond;
 * - a join sets L to the lesser of the two operands, computed here anew; what is no join of its own
 * leaves L alone or lets it grow;
 * - a sample leaves no debt unasked, and no carry beside a debt; a baseline gives no delay at all;
 * - the times of execution, wait and readiness are set exactly when the thread executes, waits, is
 * ready.
 */
#include "check.h"
#include <cozbpf/delay.h>

#define US 1000ULL
#define MS 1000000ULL
#define THREADS 3
#define LINE 7
#define MIN_DEBT (50 * US)

enum where { BLOCKED, READY, ON_CPU_0, ON_CPU_1 };

struct world {
	__u64 now;
	struct cozbpf_control x;
	struct cozbpf_cpu cpus[2];
	struct cozbpf_thread t[THREADS];
	enum where where[THREADS];
	int in_handler[THREADS];
	__s64 floor[THREADS]; /* virtual time less carry at the moment up to which L was known */
	__u64 back[THREADS];  /* by how much the event may set it back */
	int excused[THREADS]; /* from a debt, in this epoch */
	int n, depth;
};

static unsigned long n_events, n_pauses, n_carried, n_joins, n_handovers, n_raised, n_lowered,
    n_excused;

static void check_world(const struct world *a, struct world *b)
{
	__u64 open_ns = b->now - b->x.opened_ns;
	int new_epoch = a->x.epoch != b->x.epoch;

	CHECK(new_epoch || b->x.required >= a->x.required);
	CHECK(b->x.required <= open_ns * b->x.speedup_pct / 100);
	for (int i = 0; i < b->n; i++) {
		const struct cozbpf_thread *t = &b->t[i], *was = &a->t[i];
		int on = b->where[i] >= ON_CPU_0;

		if (t->account.epoch != b->x.epoch)
			continue;
		CHECK(t->account.paid <= b->x.required);
		CHECK(t->account.paid + (b->excused[i] ? 0 : t->account.carry) <= open_ns);
		if (memcmp(t, was, sizeof(*t))) {
			__u64 upto = t->pause == COZBPF_PAUSE_BEGUN ? t->pause_from
				     : t->account.run_since         ? t->account.run_since
								    : b->now;
			__s64 v = (__s64)(upto - t->account.paid - t->account.carry);

			CHECK(v + (__s64)b->back[i] >= b->floor[i]);
			n_raised += v < b->floor[i] && !delay_is_fed(&t->account);
			b->floor[i] = v;
		}
		CHECK_EQ(t->account.run_since != 0, on);
		CHECK(t->account.run_since <= b->now ||
		      (b->in_handler[i] && t->account.run_since <= t->pause_end));
		CHECK_EQ(t->runnable_at != 0, b->where[i] == READY);
		if (b->where[i] == BLOCKED)
			CHECK_EQ(t->blocked_at != 0, t->pause != COZBPF_PAUSE_BEGUN);
		if (!b->x.speedup_pct)
			CHECK(
			    !t->account.paid && !t->account.carry && t->pause == COZBPF_PAUSE_NONE);
	}
}

static void sample(struct world *w, int i, __u32 line)
{
	struct cozbpf_thread *t = &w->t[i], before;
	__u64 debt, bound;

	delay_enter(t, &w->x);
	delay_settle(t, &w->x, w->now);
	if (t->pause == COZBPF_PAUSE_BEGUN)
		return;
	w->in_handler[i] = 0;
	delay_withdraw(t, w->now);
	before = *t;
	bound =
	    before.account.last_valid
		? (before.account.unsampled +
		      (w->now > before.account.run_since ? w->now - before.account.run_since : 0)) *
		      w->x.speedup_pct / 200
		: 0;
	debt = delay_sample(t, &w->x, line, w->now, MIN_DEBT);
	w->back[i] = bound;
	CHECK(t->account.paid + bound >= before.account.paid);
	n_lowered += t->account.paid < before.account.paid;
	if (delay_is_fed(&t->account)) {
		CHECK_EQ(t->account.paid, w->x.required);
		w->back[i] += t->account.paid - before.account.paid;
		w->excused[i] |= t->account.paid > before.account.paid;
		n_excused += t->account.paid > before.account.paid + bound;
	}
	CHECK(!t->account.carry || t->account.paid == w->x.required);
	if (debt)
		CHECK_EQ(debt, w->x.required - t->account.paid < COZBPF_PAUSE_MAX_NS
				   ? w->x.required - t->account.paid
				   : COZBPF_PAUSE_MAX_NS);
	else
		CHECK(w->x.required - t->account.paid < MIN_DEBT);
	if (debt && t->pause == COZBPF_PAUSE_NONE) {
		delay_asked(t, w->now, w->now + debt, debt, line == LINE);
		n_pauses++;
	}
}

static void leave(struct world *w, int i, int how)
{
	__u64 paid = w->t[i].account.epoch == w->x.epoch ? w->t[i].account.paid : 0;
	struct cozbpf_cpu *cpu = &w->cpus[w->where[i] - ON_CPU_0];

	delay_switch_out(&w->t[i], &w->x, cpu, how, w->now);
	CHECK(w->t[i].account.paid >= paid);
	CHECK_EQ(cpu->paid, w->t[i].account.paid);
	w->where[i] = how == DELAY_BLOCKED ? BLOCKED : READY;
}

/* For how long thread @t, as it was, has stood still of its wait for a CPU, of which an outsider
 * had the last @turn: by a join with the clock of @cpu or its waker's slack, and in its pause. */
static __u64 stood_before(const struct world *w, const struct cozbpf_thread *t,
    const struct cozbpf_cpu *cpu, int joined, __u64 turn)
{
	__u64 waited = w->now - t->runnable_at, end = w->now < t->pause_end ? w->now : t->pause_end,
	      from = t->pause_from, ret = 0, paid;

	if (joined) {
		/* as far as the CPU's clock is or its last slice says, whichever is more */
		ret = delay_grown_since(cpu, t->runnable_at);
		paid = cpu->paid > t->account.paid ? cpu->paid - t->account.paid : 0;
		ret = ret > paid ? ret : paid;
		ret = waited - turn < ret ? waited - turn : ret;
		from = from > w->now - turn ? from : w->now - turn;
	}
	if (t->pause == COZBPF_PAUSE_BEGUN)
		return ret + (end > from ? end - from : 0);
	return joined ? ret : waited < t->slack ? waited : t->slack;
}

/* And in the turn since @since: what others @earned, as far as it owes that when it @has paid so
 * much. */
static __u64 stood_in_turn(
    const struct world *w, const struct cozbpf_thread *t, __u64 since, __u64 earned, __u64 has)
{
	__u64 stood;

	if (t->account.paced == COZBPF_PACED || w->x.required <= has)
		return 0;
	stood = w->now - since < earned ? w->now - since : earned;
	return stood < w->x.required - has ? stood : w->x.required - has;
}

static void come(struct world *w, int i, int c)
{
	struct cozbpf_thread *t = &w->t[i], before;
	struct cozbpf_cpu *cpu = &w->cpus[c];
	__u64 waited, slack, had, turn, stood, since, more;
	int joined, to_join, outsider;

	delay_enter(t, &w->x);
	before = *t;
	waited = w->now - t->runnable_at;
	outsider = waited && i != (before.left == DELAY_OUSTED);
	to_join = cpu->left_at > before.runnable_at && cpu->epoch == t->account.epoch;
	slack = to_join ? 0 : before.slack < waited ? before.slack : waited;
	had = to_join || before.left != DELAY_OUSTED ? (outsider ? w->now - cpu->left_at : 0)
						     : waited;
	turn = had < waited - slack ? had : waited - slack;
	stood = stood_before(w, &before, cpu, to_join, turn);
	since = w->now - turn;
	if (before.pause == COZBPF_PAUSE_BEGUN && since < before.pause_end)
		since = w->now < before.pause_end ? w->now : before.pause_end;
	more = stood_in_turn(w, &before, since,
	    w->x.required - (to_join ? cpu->left_required : before.account.wanted_required),
	    before.account.paid + before.account.carry + stood);
	joined = delay_switch_in(t, &w->x, cpu, outsider, w->now);
	CHECK_EQ(joined, to_join);
	if (before.pause != COZBPF_PAUSE_BEGUN || before.pause_hold) {
		CHECK_EQ(
		    t->account.paid + t->account.carry - before.account.paid - before.account.carry,
		    stood + more);
		if (t->pause != COZBPF_PAUSE_BEGUN)
			CHECK_EQ(t->account.run_since,
			    before.left == DELAY_BLOCKED ? w->now : since + more);
	}
	CHECK(t->account.paid >= before.account.paid &&
	      (t->account.carry <= before.account.carry || t->account.paid == w->x.required));
	if (t->pause != COZBPF_PAUSE_BEGUN)
		w->in_handler[i] = 0;
	n_handovers += joined;
	n_carried += t->account.carry > before.account.carry;
	w->where[i] = ON_CPU_0 + c;
}

static void wake(struct world *w, int i, int by)
{
	struct cozbpf_thread *t = &w->t[i];
	__u64 own, paid;
	__u32 paced;

	delay_enter(t, &w->x);
	own = t->account.paid + w->now - t->blocked_at;
	paid = t->account.paid;
	paced = t->account.paced;
	delay_wake(t, &w->t[by], &w->x, w->now);
	delay_segment(&t->account, 1);
	delay_segment(&w->t[by].account, 2);
	if (t->pause == COZBPF_PAUSE_BEGUN)
		CHECK_EQ(t->account.paid, paid);
	else
		CHECK_EQ(
		    t->account.paid, own < w->t[by].account.paid ? own : w->t[by].account.paid);
	if (t->pause != COZBPF_PAUSE_BEGUN)
		paced = delay_is_fed(&w->t[by].account) ||
				delay_asks(&w->t[by].account, w->t[by].number)
			    ? w->t[by].account.paced
			    : COZBPF_PACED_NONE;
	CHECK_EQ(t->account.paced, paced);
	CHECK(!t->account.last_valid && !w->t[by].account.last_valid);
	delay_on_born(t, &w->x, w->now);
	w->where[i] = READY;
	n_joins++;
}

/* Of thread 1 it is periodic, of the others never twice the same distance away. */
static void wake_by_timer(struct world *w, int i)
{
	struct cozbpf_thread *t = &w->t[i], before;

	delay_enter(t, &w->x);
	before = *t;
	delay_timer_wake(
	    t, &w->x, t->timer_at + 10 * MS + (i == 1 ? 0 : (__u64)w->depth + 1), w->now);
	CHECK_EQ(t->account.paid, before.account.paid);
	if (t->pause == COZBPF_PAUSE_BEGUN)
		CHECK_EQ(t->account.paced, before.account.paced);
	else
		CHECK_EQ(delay_is_fed(&t->account), i == 1);
	delay_on_born(t, &w->x, w->now);
	w->where[i] = READY;
}

/* Event @e of thread @i. 0 when it cannot happen now. */
static int event(struct world *w, int i, int e)
{
	struct cozbpf_thread *t = &w->t[i];
	int on = w->where[i] >= ON_CPU_0, c = e & 1, other = (i + 1 + (e & 1)) % THREADS;

	/* who is in the handler does nothing but wait for its end */
	int held = w->in_handler[i] && w->now < t->pause_end;

	switch (e) {
	case 0: /* a sample elsewhere, in the line */
	case 1:
		if (!on)
			return 0;
		sample(w, i, e ? LINE : 1);
		return 1;
	case 2: /* gets a CPU */
	case 3:
		if (w->where[i] != READY)
			return 0;
		for (int k = 0; k < w->n; k++)
			if (w->where[k] == ON_CPU_0 + (enum where)c)
				return 0;
		come(w, i, c);
		return 1;
	case 4: /* wakes another */
	case 5:
		if (!on || held || other >= w->n || w->where[other] != BLOCKED)
			return 0;
		wake(w, other, i);
		return 1;
	case 6: /* preempted */
		if (!on)
			return 0;
		leave(w, i, i & 1 ? DELAY_OUSTED : DELAY_PREEMPTED);
		return 1;
	case 7: /* blocks, or sleeps in its pause */
		if (!on || (held && t->pause_hold))
			return 0;
		leave(w, i, DELAY_BLOCKED);
		return 1;
	case 8: /* a timer */
		if (w->where[i] != BLOCKED)
			return 0;
		wake_by_timer(w, i);
		return 1;
	case 9: /* the signal arrives */
		if (!on || t->pause != COZBPF_PAUSE_ASKED)
			return 0;
		delay_begin(t, &w->x, w->now);
		w->in_handler[i] = t->pause == COZBPF_PAUSE_BEGUN;
		return 1;
	default:
		return 0;
	}
}

/* The next experiment, with another speedup: only when nobody is in a pause. */
static int next_experiment(struct world *w)
{
	for (int i = 0; i < w->n; i++)
		if (w->in_handler[i])
			return 0;
	w->x.epoch++;
	w->x.speedup_pct = w->x.speedup_pct ? 0 : 100;
	w->x.required = 0;
	w->x.opened_ns = w->now;
	memset(w->floor, 0, sizeof(w->floor));
	memset(w->excused, 0, sizeof(w->excused));
	return 1;
}

static void explore(const struct world *a, int max_depth)
{
	/* steps of unlike lengths, below and above the longest pause and the timeout of an ask */
	static const __u64 steps[] = {
	    700 * US, 2300 * US, 30 * US, 40 * US, 50 * US, 5100 * US, 1100 * US, 11 * MS};

	if (a->depth == max_depth)
		return;
	for (int i = 0; i < a->n; i++) {
		for (int e = 0; e < 10; e++) {
			struct world b = *a;

			b.now += steps[a->depth % 8];
			memset(b.back, 0, sizeof(b.back));
			if (!event(&b, i, e))
				continue;
			b.depth++;
			n_events++;
			check_world(a, &b);
			if (check_failed_now) {
				fprintf(
				    stderr, "at depth %d: thread %d, event %d\n", a->depth, i, e);
				return;
			}
			explore(&b, max_depth);
			if (check_failed_now) {
				fprintf(
				    stderr, "at depth %d: thread %d, event %d\n", a->depth, i, e);
				return;
			}
		}
	}
	if (a->x.epoch == 1 && a->depth == max_depth / 2) {
		struct world b = *a;

		b.now += 10 * US;
		b.depth++;
		if (next_experiment(&b))
			explore(&b, max_depth);
	}
}

/* Threads 0 and 1 on the CPUs, thread 0 half in the line and thread 1 a little; thread 2 blocked.
 * Experiment 1 has just opened. */
static struct world start(int n, __u32 pct)
{
	struct world w = {.now = 1000 * MS, .n = n};

	w.x = (struct cozbpf_control){.opened_ns = 1000 * MS,
	    .line = LINE,
	    .n_lines = 1,
	    .speedup_pct = pct,
	    .epoch = 1,
	    .active = 1};
	for (int i = 0; i < n; i++) {
		w.t[i].member = 1;
		w.t[i].number = (__u32)i + 1;
		w.t[i].account.ring_used = w.t[i].account.ring_next = COZBPF_RING;
		for (int k = 0; k < COZBPF_RING; k++) {
			w.t[i].account.ring[k].weight_ns = MS;
			w.t[i].account.ring[k].line = k < (i == 0 ? 16 : 3) ? LINE : 1;
		}
		w.t[i].account.ring_weight = w.t[i].account.segment_weight[0] = COZBPF_RING * MS;
		w.where[i] = i < 2 ? ON_CPU_0 + (enum where)i : BLOCKED;
		w.t[i].account.run_since = i < 2 ? 900 * MS : 0;
		w.t[i].blocked_at = i < 2 ? 0 : 900 * MS;
		w.t[i].timer_at = 900 * MS;
		w.t[i].timer_period = 10 * MS;
	}
	return w;
}

static void explore_from(int n, __u32 pct, int depth)
{
	struct world w = start(n, pct);

	n_events = n_pauses = n_carried = n_joins = n_handovers = n_raised = n_lowered = n_excused =
	    0;
	explore(&w, depth);
	printf("   %d threads, %u %%: %lu events, %lu pauses, %lu joins, %lu handovers, %lu times "
	       "oversleep, %lu set back, %lu forward, "
	       "%lu excused\n",
	    n, pct, n_events, n_pauses, n_joins, n_handovers, n_carried, n_raised, n_lowered,
	    n_excused);
	CHECK(n_events > 10000);
	CHECK(n_joins > 100);
	CHECK(n_handovers > 10);
	CHECK(!pct || (n_pauses > 100 && n_raised > 20 && n_lowered > 20 && n_excused > 100));
}

TEST(two_threads)
{
	explore_from(2, 100, 8);
	CHECK(n_carried > 10);
}

TEST(three_threads)
{
	explore_from(3, 60, 6);
}

TEST(baseline)
{
	explore_from(2, 0, 6);
}
