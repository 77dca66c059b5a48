// SPDX-License-Identifier: BSD-3-Clause
/*
 * Places of Coz's own coz.h in a program that was built with it. The places asked for their
 * counters when no profiler was there, so they are probed. Each is
 *
 *     if (!initialized) { counter = _call_coz_get_counter(type, "name"); initialized = 1; }
 *     if (counter) lock add $1, (counter)
 *
 * with variables of its own. The second `if` is executed once a visit. It is a conditional jump,
 * which the kernel emulates; the locked instruction behind it cannot be probed. Compilers move,
 * copy and merge all of this, and flow.c tells which variable a jump is about. A jump counts when
 * it stands right before the locked instruction on every way there. When a compiler has taken the
 * jump out of a loop, the loop leads there too, and the marker is given up.
 */
#include "symbols/reading.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/code/coz/flow.h"

#define COUNTER_TEXT "_coz_get_counter"
#define MAX_COUNTERS 4096 /* places in one object */
#define MAX_WORK 20000000 /* instructions, see coz_flow_charge(): some ten seconds */
#define MAX_INSNS 262144  /* of one function */
/* Instructions behind the counting, up to where both ways go on alike. */
#define MAX_AHEAD 40

/* A variable that holds a counter. */
struct counter {
	uint64_t addr, name;
	uint32_t type; /* 1 progress, 2 begin, 3 end; 0: not known yet */
	bool counted;  /* a test leads to counting */
	bool bad;
};

struct insn {
	uint64_t addr, target; /* target 0: none */
	bool passes;           /* the next one in memory can be next */
	bool meets;            /* it is branched to */
	bool adds;             /* to a counter */
	bool calls, is_jne;
};

struct search {
	struct image *o;
	struct coz_flow flow;
	struct counter *counters;
	size_t n_counters;
	uint64_t *tests; /* pairs of address and counter */
	size_t n_tests, cap_tests;
	/* The function that is being looked at. */
	struct insn *insns;
	size_t n_insns;
	size_t first; /* its first finding */
};

/* Finds the addresses of the text by which Coz's header asks for the profiler. */
static void find_texts(struct search *s)
{
	struct bytes file = s->flow.d.file;
	size_t n;

	if (elf_getphdrnum(s->o->main.elf, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		struct reader r;
		const uint8_t *at;

		if (!gelf_getphdr(s->o->main.elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		r = reader_at(file, p.p_offset, p.p_filesz);
		while (s->flow.n_texts < sizeof(s->flow.texts) / sizeof(*s->flow.texts) &&
		       (at = memmem(r.p, reader_left(&r), COUNTER_TEXT, sizeof(COUNTER_TEXT)))) {
			s->flow.texts[s->flow.n_texts++] =
			    p.p_vaddr + (uint64_t)(at - (file.data + p.p_offset));
			r.p = at + 1;
		}
	}
}

static struct counter *counter_at(struct search *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_counters; i++)
		if (s->counters[i].addr == addr)
			return &s->counters[i];
	if (s->n_counters == MAX_COUNTERS)
		return NULL;
	s->counters[s->n_counters] = (struct counter){.addr = addr};
	return &s->counters[s->n_counters++];
}

static int add_test(struct search *s, uint64_t addr, uint64_t counter)
{
	if (s->n_tests == s->cap_tests) {
		uint64_t *grown = reallocarray(
		    s->tests, s->cap_tests ? s->cap_tests * 2 : 16, 2 * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->tests = grown;
		s->cap_tests = s->cap_tests ? s->cap_tests * 2 : 16;
	}
	s->tests[2 * s->n_tests] = addr;
	s->tests[2 * s->n_tests++ + 1] = counter;
	return 0;
}

static int insn_cmp(const void *key, const void *member)
{
	uint64_t addr = *(const uint64_t *)key;
	const struct insn *i = member;

	return addr < i->addr ? -1 : addr > i->addr;
}

static struct insn *insn_at(struct search *s, uint64_t addr)
{
	return s->n_insns ? bsearch(&addr, s->insns, s->n_insns, sizeof(*s->insns), insn_cmp)
			  : NULL;
}

/* Lists the function's instructions; none when there are too many. 0 or -ENOMEM. */
static int list_insns(struct search *s, uint64_t start, uint64_t end)
{
	struct decoder *d = &s->flow.d;
	struct bytes code = decoder_code(d, s->o, start);
	uint64_t addr = start;

	free(s->insns);
	s->n_insns = 0;
	s->insns = end - start <= MAX_INSNS ? calloc(end - start, sizeof(*s->insns)) : NULL;
	if (!s->insns)
		return end - start <= MAX_INSNS ? -ENOMEM : 0;
	while (addr < end && decoder_next(d, &code, &addr)) {
		struct insn *i = &s->insns[s->n_insns++];
		bool call = cs_insn_group(d->handle, d->insn, CS_GRP_CALL);

		*i = (struct insn){.addr = d->insn->address,
		    .passes = true,
		    .calls = call,
		    .is_jne = d->insn->id == X86_INS_JNE};
		if (!decoder_leaves(d) || call)
			continue;
		if (!decoder_target(d, &i->target))
			i->passes = d->insn->id == X86_INS_SYSCALL;
		else
			i->passes = d->insn->id != X86_INS_JMP;
	}
	for (size_t k = 0; k < s->n_insns; k++) {
		struct insn *to = !s->insns[k].target ? NULL : insn_at(s, s->insns[k].target);

		if (to)
			to->meets = true;
	}
	return 0;
}

/* The test at @addr in the function, or NULL. */
static struct coz_finding *test_at(struct search *s, uint64_t addr)
{
	coz_flow_charge(&s->flow, s->flow.n - s->first);
	for (size_t i = s->first; i < s->flow.n; i++)
		if (s->flow.v[i].kind == FOUND_TEST && s->flow.v[i].addr == addr)
			return &s->flow.v[i];
	return NULL;
}

/* Goes straight ahead from instruction @at, over jumps, up to a condition, a call or the end.
 * Returns the number of instructions passed, in @path. */
static size_t go_ahead(struct search *s, size_t at, size_t path[MAX_AHEAD])
{
	size_t n = 0;

	while (at < s->n_insns && n < MAX_AHEAD) {
		const struct insn *i = &s->insns[at],
				  *to = i->target ? insn_at(s, i->target) : NULL;

		path[n++] = at;
		if (i->adds || i->calls || (!i->passes && !to) || (i->passes && i->target))
			break;
		at = i->passes ? at + 1 : (size_t)(to - s->insns);
	}
	return n;
}

/* Whether two conditions lead to the same two places. One condition may be the reverse of the
 * other. */
static bool leads_to_same(const struct search *s, const struct insn *x, const struct insn *y)
{
	const struct insn *end = s->insns + s->n_insns;
	uint64_t x_next = x + 1 < end ? x[1].addr : 0, y_next = y + 1 < end ? y[1].addr : 0;

	return (x->target == y->target && x_next == y_next) ||
	       (x->target == y_next && x_next == y->target);
}

/*
 * Whether the program goes on alike after the test at @test with NULL and after the counting at
 * @add. If not, the compiler used the result of the test: after NULL it leaves out the next visit's
 * test.
 */
static bool goes_on_alike(struct search *s, size_t test, size_t add)
{
	const struct insn *t = &s->insns[test], *to = insn_at(s, t->target), *x, *y;
	size_t null[MAX_AHEAD], counted[MAX_AHEAD], n_null, n_counted;

	if (!to)
		return false;
	n_null = go_ahead(s, t->is_jne ? test + 1 : (size_t)(to - s->insns), null);
	n_counted = go_ahead(s, add + 1, counted);
	for (size_t i = 0; i < n_null; i++)
		for (size_t k = 0; k < n_counted; k++)
			if (null[i] == counted[k])
				return true;
	if (!n_null || !n_counted)
		return false;
	/* Short ends are often there twice: both return, or both have a condition with the same two
	 * targets. */
	x = &s->insns[null[n_null - 1]];
	y = &s->insns[counted[n_counted - 1]];
	if (x->adds || y->adds || x->calls || y->calls || x->passes != y->passes)
		return false;
	return x->passes ? x->target && y->target && leads_to_same(s, x, y)
			 : x->target == y->target;
}

/* Marks the counters of a test: the test leads to counting. */
static void mark_counted(struct search *s, const struct coz_finding *test)
{
	struct counter *c;

	coz_flow_charge(&s->flow, s->flow.n - s->first);
	for (size_t i = s->first; i < s->flow.n; i++) {
		const struct coz_finding *found = &s->flow.v[i];

		if (found != test &&
		    (found->kind != FOUND_WAY || test->counter || found->test != test->addr))
			continue;
		c = found->counter ? counter_at(s, found->counter) : NULL;
		if (c)
			c->counted = true;
	}
}

/* Whether the way from instruction @from on comes from a test; it may be another condition. */
static bool check_way(struct search *s, size_t from, size_t add, bool mark)
{
	const struct coz_finding *test = test_at(s, s->insns[from].addr);

	if (test && mark)
		mark_counted(s, test);
	return test && (test->counter || test->meets) && goes_on_alike(s, from, add);
}

/*
 * Whether all ways to the stretch of instruction @at come from tests. With another addition in
 * between, one test stands for several visits: in an unrolled loop the compiler knows the result of
 * the first.
 */
static bool check_ways(struct search *s, size_t at, size_t add, bool mark)
{
	bool ok = true, any = false;

	while (at && !s->insns[at].meets && s->insns[at - 1].passes && !s->insns[at - 1].target)
		if (s->insns[--at].adds)
			return false;
	if (at && s->insns[at - 1].passes) {
		ok = check_way(s, at - 1, add, mark);
		any = true;
	}
	for (size_t i = 0; s->insns[at].meets && i < s->n_insns; i++) {
		if (!s->flow.work_left)
			return false;
		s->flow.work_left--;
		if (s->insns[i].target == s->insns[at].addr) {
			ok = check_way(s, i, add, mark) && ok;
			any = true;
		}
	}
	return ok && any;
}

/* Gives up places that may count something else: those of the variable, or all that share tests. */
static void give_up(struct search *s, uint64_t counter)
{
	struct counter *c;

	coz_flow_charge(&s->flow, s->flow.n - s->first);
	for (size_t i = s->first; i < s->flow.n; i++) {
		const struct coz_finding *found = &s->flow.v[i];

		if (counter ? found->counter != counter : found->kind != FOUND_WAY)
			continue;
		c = found->counter ? counter_at(s, found->counter) : NULL;
		if (c)
			c->bad = true;
	}
}

/* Judges the function's tests by the additions they lead to. */
static void check_adds(struct search *s)
{
	for (size_t i = s->first; s->flow.work_left && i < s->flow.n; i++) {
		struct insn *add =
		    s->flow.v[i].kind == FOUND_ADD ? insn_at(s, s->flow.v[i].addr) : NULL;

		if (add)
			add->adds = true;
		if (s->flow.v[i].kind == FOUND_WAY && s->flow.v[i].addr == NO_SITE)
			give_up(s, s->flow.v[i].counter);
	}
	for (size_t i = s->first; s->flow.work_left && i < s->flow.n; i++) {
		const struct coz_finding *add = &s->flow.v[i];
		const struct insn *found = add->kind == FOUND_ADD ? insn_at(s, add->addr) : NULL;
		size_t at = found ? (size_t)(found - s->insns) : 0;

		if (found && check_ways(s, at, at, false))
			check_ways(s, at, at, true);
		else if (found)
			give_up(s, add->counter);
	}
}

static int look_at_function(struct search *s, uint64_t start, uint64_t end)
{
	int err;

	s->first = s->flow.n;
	coz_flow_function(&s->flow, start, end);
	if (s->flow.no_memory)
		return -ENOMEM;
	if (s->first == s->flow.n)
		return 0;
	err = list_insns(s, start, end);
	for (size_t i = s->first; !err && i < s->flow.n; i++) {
		const struct coz_finding *found = &s->flow.v[i];
		struct counter *c = found->kind == FOUND_ASK ? counter_at(s, found->counter) : NULL;

		if (c) {
			/* Places that share a variable are copies of one place. */
			c->bad |= c->type && (c->type != found->type || c->name != found->name);
			c->type = found->type;
			c->name = found->name;
		}
		if (found->counter && found->addr != NO_SITE &&
		    (found->kind == FOUND_TEST || found->kind == FOUND_WAY))
			err = add_test(s, found->addr, found->counter);
	}
	if (!err)
		check_adds(s);
	s->flow.n = s->first;
	return err;
}

/* Whether this may be a locked addition of one to 64 bits: add $1, inc, xadd. */
static bool may_count(const uint8_t *p, size_t left)
{
	if (left < 5 || p[0] != 0xf0 || (p[1] & 0xf8) != 0x48)
		return false;
	return (p[2] == 0x83 && !(p[3] & 0x38)) || (p[2] == 0xff && !(p[3] & 0x38)) ||
	       (p[2] == 0x0f && p[3] == 0xc1);
}

/* Looks at all functions in which something is counted. */
static int search_section(struct search *s, const struct segment *section)
{
	struct bytes code = decoder_code(&s->flow.d, s->o, section->lo);
	uint64_t start, end, done = 0;
	int err = 0;

	for (size_t at = 0; !err && at < code.size; at++) {
		const uint8_t *p = memchr(code.data + at, 0xf0, code.size - at);
		uint64_t addr;

		if (!p || !s->flow.work_left)
			break;
		at = (size_t)(p - code.data);
		addr = section->lo + at;
		if (addr < done || !may_count(p, code.size - at) ||
		    !image_function_bounds(s->o, addr, &start, &end))
			continue;
		done = end;
		err = look_at_function(s, start, end);
	}
	return err;
}

/* The name at a link-time address; NULL: there is no text. */
static const char *name_at(const struct search *s, uint64_t addr)
{
	uint64_t offset;

	return image_data_offset(s->o, addr, &offset) ? string_at(s->flow.d.file, offset) : NULL;
}

static int make_markers(struct search *s, struct marker **ret, size_t *n)
{
	static const enum marker_kind kinds[] = {0, MARKER_PROGRESS, MARKER_BEGIN, MARKER_END};
	struct marker_list list = {0};
	bool any = false;
	int err = 0;

	/* Without any counting, what looks like such a place is none. */
	for (size_t i = 0; i < s->n_counters; i++)
		any |= s->counters[i].type && s->counters[i].counted;
	for (size_t i = 0; !err && any && i < s->n_counters; i++) {
		const struct counter *c = &s->counters[i];
		const char *name = c->type ? name_at(s, c->name) : NULL;
		bool given_up = c->bad || !c->counted;
		uint64_t offset;

		if (name && given_up)
			err = marker_list_add(&list, kinds[c->type], name, NO_SITE);
		for (size_t k = 0; !err && name && !given_up && k < s->n_tests; k++)
			if (s->tests[2 * k + 1] == c->addr &&
			    image_offset(s->o, s->tests[2 * k], &offset))
				err = marker_list_add(&list, kinds[c->type], name, offset);
	}
	if (!err)
		err = marker_list_group(&list, s->o, ret, n);
	marker_list_deinit(&list);
	return err;
}

int find_coz_sites(struct image *o, uint64_t work, struct marker **ret, size_t *n, struct error *e)
{
	struct search s = {.o = o, .flow = {.o = o, .work_left = work}};
	int err = 0;

	*ret = NULL;
	*n = 0;
	if (!decoder_init(&s.flow.d, o)) {
		find_texts(&s);
		s.counters = s.flow.n_texts ? calloc(MAX_COUNTERS, sizeof(*s.counters)) : NULL;
		err = s.flow.n_texts && !s.counters ? -ENOMEM : 0;
		for (size_t i = 0; !err && s.flow.n_texts && i < o->n_code; i++)
			err = search_section(&s, &o->code[i]);
		/* A half search would count half of the places. */
		if (!err && s.counters && s.flow.work_left)
			err = make_markers(&s, ret, n);
	}
	decoder_deinit(&s.flow.d);
	free(s.flow.v);
	free(s.counters);
	free(s.tests);
	free(s.insns);
	if (err)
		return error_set(e, EXIT_OTHER, "out of memory");
	if (s.flow.work_left)
		return 0;
	error_set(e, EXIT_NO_RESULT,
	    "the code of '%s' is too large to look for places of Coz's coz.h", o->path);
	return error_hint(e, "name progress points by -P, or build it with cozbpf's coz.h");
}

int image_find_coz_sites(struct image *o, struct marker **ret, size_t *n, struct error *e)
{
	return find_coz_sites(o, MAX_WORK, ret, n, e);
}
