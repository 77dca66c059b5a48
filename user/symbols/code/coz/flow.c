// SPDX-License-Identifier: BSD-3-Clause
/*
 * Follows values through the registers of a function, over all its ways, until nothing changes any
 * more: constants, arguments, results of calls, values of variables. The result tells which
 * variable is tested where, however the compiler has moved, copied and shared the code.
 */
#include "symbols/code/coz/flow.h"

#include <stdlib.h>

#define MAX_FUNCTION 262144 /* bytes */
#define NO_STATE UINT32_MAX
#define ARGUMENTS 6
#define WORD 64

/* System V AMD64: argument registers in order, and the registers that a call keeps. */
static const uint8_t argument_registers[ARGUMENTS] = {7, 6, 2, 1, 8, 9};
#define RAX 0
#define RDI 7
#define RSI 6
#define KEPT_BY_CALLS 0xf038U /* rbx, rsp, rbp, r12 to r15 */

/* The known values at one place. */
struct state {
	struct coz_value r[REGISTERS];
	struct coz_value flags; /* COUNTER: they tell whether that variable is NULL */
};

struct function {
	struct coz_flow *f;
	uint64_t start, end;
	/* For each byte where ways meet, the index of its state; else NO_STATE. */
	uint32_t *state_at;
	struct state *states;
	size_t n_states;
	uint64_t *pending; /* a bit for each byte: its state has changed */
	bool is_wrapper_candidate;
	bool refers; /* to the text "_coz_get_counter" */
	struct coz_wrapper *wrapper;
	bool report;      /* the last round, whose findings are kept */
	uint64_t stretch; /* start of the current stretch */
	/* Index, plus one, of the finding whose ways are looked for. */
	size_t watched;
};

static bool same(const struct coz_value *a, const struct coz_value *b)
{
	return a->kind == b->kind && a->v == b->v && a->type == b->type;
}

static bool is_counter(const struct coz_value *v)
{
	return v->kind == VALUE_COUNTER || v->kind == VALUE_COUNTERS;
}

/* The value where two ways meet. Beside a result, NULL is the answer without a profiler; beside a
 * counter, NULL is that counter too. */
static struct coz_value meet(const struct coz_value *a, const struct coz_value *b)
{
	bool a_null = a->kind == VALUE_CONST && !a->v, b_null = b->kind == VALUE_CONST && !b->v;

	if (a->kind == VALUE_UNSEEN || same(a, b) ||
	    (a_null && (b->kind == VALUE_RESULT || is_counter(b))))
		return *b;
	if (b->kind == VALUE_UNSEEN || (b_null && (a->kind == VALUE_RESULT || is_counter(a))))
		return *a;
	if (is_counter(a) && is_counter(b))
		return (struct coz_value){.kind = VALUE_COUNTERS};
	return (struct coz_value){.kind = VALUE_UNKNOWN};
}

/*
 * Variables are told apart by their address. In a shared library, an inline function's variable is
 * known by its entry in the global offset table, marked with a bit that no address has. The code
 * reads the address from there first, so a register that holds the address stands for the variable.
 */
#define BY_OFFSET_TABLE (1ULL << 63)

static bool find_variable(
    const struct decoder *d, const struct state *s, unsigned operand, uint64_t *ret)
{
	const cs_x86 *x = &d->insn->detail->x86;
	const cs_x86_op *op = &x->operands[operand];
	int base;

	if (operand >= x->op_count || decoder_refers(d, operand, ret))
		return operand < x->op_count;
	if (op->type != X86_OP_MEM || op->mem.disp || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return false;
	base = register_number(op->mem.base);
	if (base < 0 || s->r[base].kind != VALUE_COUNTER || (s->r[base].v & BY_OFFSET_TABLE))
		return false;
	*ret = s->r[base].v | BY_OFFSET_TABLE;
	return true;
}

static void forget(struct state *s, unsigned reg)
{
	s->r[reg] = (struct coz_value){.kind = VALUE_UNKNOWN};
}

static void report(struct function *fn, struct coz_finding found)
{
	struct coz_flow *f = fn->f;

	if (fn->is_wrapper_candidate)
		return;
	if (f->n == f->cap) {
		struct coz_finding *grown =
		    reallocarray(f->v, f->cap ? f->cap * 2 : 32, sizeof(*grown));

		if (!grown) {
			f->no_memory = true;
			return;
		}
		f->v = grown;
		f->cap = f->cap ? f->cap * 2 : 32;
	}
	f->v[f->n++] = found;
}

/* One way to a test that several variables share. Passing the way's last instruction means taking
 * the way, unless that is a condition. */
static void note_way(struct function *fn, const struct state *s)
{
	const struct coz_finding test = fn->f->v[fn->watched - 1];
	const struct decoder *d = &fn->f->d;
	const struct coz_value *v = &s->r[test.reg];
	bool sure = !decoder_leaves(d) || d->insn->id == X86_INS_JMP ||
		    cs_insn_group(d->handle, d->insn, CS_GRP_CALL);
	/* The kernel refuses to probe what is locked. */
	bool locked = d->insn->detail->x86.prefix[0] == X86_PREFIX_LOCK;

	if (v->kind == VALUE_COUNTER)
		report(fn, (struct coz_finding){.kind = FOUND_WAY,
			       .test = test.addr,
			       .counter = v->v,
			       .addr = sure && !locked ? d->insn->address : NO_SITE});
}

/* Carries the known values to the target of a branch. */
static void flow_to(struct function *fn, uint64_t addr, const struct state *s)
{
	uint32_t i =
	    addr >= fn->start && addr < fn->end ? fn->state_at[addr - fn->start] : NO_STATE;
	struct state *to;
	bool changed = false;

	if (i == NO_STATE)
		return;
	if (fn->watched && fn->f->v[fn->watched - 1].meets == addr)
		note_way(fn, s);
	to = &fn->states[i];
	for (int k = 0; k <= REGISTERS; k++) {
		struct coz_value *old = k < REGISTERS ? &to->r[k] : &to->flags;
		struct coz_value now = meet(old, k < REGISTERS ? &s->r[k] : &s->flags);

		changed |= !same(old, &now);
		*old = now;
	}
	if (changed)
		fn->pending[(addr - fn->start) / WORD] |= 1ULL << (addr - fn->start) % WORD;
}

static const struct coz_wrapper *find_wrapper(struct coz_flow *f, uint64_t target);

/* The value, at a call of a wrapper, of one of the wrapper's expressions. */
static struct coz_value evaluate(const struct state *s, const struct coz_value *v)
{
	return v->kind == VALUE_PARAM && v->v < ARGUMENTS ? s->r[argument_registers[v->v]] : *v;
}

static bool is_text(const struct coz_flow *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n_texts; i++)
		if (f->texts[i] == addr)
			return true;
	return false;
}

/* Notes a call of _coz_get_counter, or a jump to it, through a register. The call of dlsym that
 * asks for it can look alike. */
static void note_wrapped(struct function *fn, const struct state *s)
{
	if (!fn->report || !fn->is_wrapper_candidate ||
	    (s->r[RSI].kind == VALUE_CONST && is_text(fn->f, s->r[RSI].v)))
		return;
	fn->wrapper->type = s->r[RDI];
	fn->wrapper->name = s->r[RSI];
}

static void step_call(struct function *fn, struct state *s)
{
	const struct decoder *d = &fn->f->d;
	struct coz_value result = {.kind = VALUE_UNKNOWN}, type = s->r[RDI], name = s->r[RSI];
	const struct coz_wrapper *w;
	uint64_t target;
	bool may_ask = true;

	if (decoder_target(d, &target)) {
		w = fn->is_wrapper_candidate ? NULL : find_wrapper(fn->f, target);
		may_ask = w;
		if (w) {
			type = evaluate(s, &w->type);
			name = evaluate(s, &w->name);
		}
	} else {
		note_wrapped(fn, s);
	}
	if (may_ask && type.kind == VALUE_CONST && type.v >= 1 && type.v <= 3 &&
	    name.kind == VALUE_CONST)
		result =
		    (struct coz_value){.kind = VALUE_RESULT, .type = (uint32_t)type.v, .v = name.v};
	for (unsigned i = 0; i < REGISTERS; i++)
		if (!(KEPT_BY_CALLS & 1U << i))
			forget(s, i);
	s->r[RAX] = result;
	s->flags.kind = VALUE_UNKNOWN;
}

/* A variable gets a new value. Registers with the old value no longer hold the variable's. */
static void step_store(struct function *fn, struct state *s, uint64_t variable, int reg)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		if ((int)i != reg && s->r[i].kind == VALUE_COUNTER && s->r[i].v == variable)
			forget(s, i);
	if (reg < 0)
		return;
	if (s->r[reg].kind == VALUE_RESULT && fn->report)
		report(fn, (struct coz_finding){.kind = FOUND_ASK,
			       .type = s->r[reg].type,
			       .counter = variable,
			       .name = s->r[reg].v,
			       .addr = fn->f->d.insn->address});
	s->r[reg] = (struct coz_value){.kind = VALUE_COUNTER, .v = variable};
}

static void set_const(struct function *fn, struct state *s, int reg, uint64_t v)
{
	fn->refers |= is_text(fn->f, v);
	s->r[reg] = (struct coz_value){.kind = VALUE_CONST, .v = v};
}

/* mov, lea, and xor of a register with itself; false: another instruction. */
static bool step_move(struct function *fn, struct state *s)
{
	const struct decoder *d = &fn->f->d;
	const cs_x86 *x = &d->insn->detail->x86;
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];
	int to_reg = x->op_count == 2 && to->type == X86_OP_REG && to->size >= 4
			 ? register_number(to->reg)
			 : -1;
	int from_reg = x->op_count == 2 && from->type == X86_OP_REG && from->size >= 4
			   ? register_number(from->reg)
			   : -1;
	uint64_t addr;

	switch (d->insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		if (x->op_count == 2 && to->type == X86_OP_MEM && find_variable(d, s, 0, &addr)) {
			step_store(fn, s, addr, to->size == 8 ? from_reg : -1);
			return true;
		}
		if (to_reg < 0)
			return false;
		if (from->type == X86_OP_IMM)
			set_const(fn, s, to_reg,
			    to->size == 4 ? (uint32_t)from->imm : (uint64_t)from->imm);
		else if (from_reg >= 0)
			s->r[to_reg] = s->r[from_reg];
		else if (to->size == 8 && find_variable(d, s, 1, &addr))
			s->r[to_reg] = (struct coz_value){.kind = VALUE_COUNTER, .v = addr};
		else
			forget(s, (unsigned)to_reg);
		return true;
	case X86_INS_LEA:
		if (to_reg < 0 || !decoder_refers(d, 1, &addr))
			return false;
		set_const(fn, s, to_reg, addr);
		return true;
	case X86_INS_XOR:
		if (to_reg < 0 || to_reg != from_reg)
			return false;
		set_const(fn, s, to_reg, 0);
		s->flags.kind = VALUE_UNKNOWN;
		return true;
	default:
		return false;
	}
}

/* A comparison with NULL: the flags then tell of a variable. False: another instruction. */
static bool step_compare(struct function *fn, struct state *s)
{
	const struct decoder *d = &fn->f->d;
	const cs_x86 *x = &d->insn->detail->x86;
	const cs_x86_op *a = &x->operands[0], *b = &x->operands[1];
	bool test = d->insn->id == X86_INS_TEST, compare = d->insn->id == X86_INS_CMP;
	uint64_t addr;

	if ((!test && !compare) || x->op_count != 2)
		return false;
	s->flags = (struct coz_value){.kind = VALUE_UNKNOWN};
	if (a->size != 8 || (compare && (b->type != X86_OP_IMM || b->imm)) ||
	    (test && (b->type != X86_OP_REG || b->reg != a->reg)))
		return true;
	if (a->type == X86_OP_REG && register_number(a->reg) >= 0) {
		s->flags = s->r[register_number(a->reg)];
		if (s->flags.kind == VALUE_COUNTERS)
			s->flags.type = (uint32_t)register_number(a->reg) +
					1; /* 0: several ways bring several */
	} else if (compare && find_variable(d, s, 0, &addr))
		s->flags = (struct coz_value){.kind = VALUE_COUNTER, .v = addr};
	return true;
}

/* `lock add`, `lock inc` and `lock xadd` through a register that holds a counter's address. */
static void note_add(struct function *fn, const struct state *s)
{
	const cs_insn *insn = fn->f->d.insn;
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *op = &x->operands[0];
	int base;

	if (x->prefix[0] != X86_PREFIX_LOCK || !x->op_count || op->type != X86_OP_MEM ||
	    op->mem.disp || op->mem.index != X86_REG_INVALID ||
	    (insn->id != X86_INS_ADD && insn->id != X86_INS_INC && insn->id != X86_INS_XADD))
		return;
	base = register_number(op->mem.base);
	if (base >= 0 && is_counter(&s->r[base]) && fn->report)
		report(fn, (struct coz_finding){
			       .kind = FOUND_ADD, .addr = insn->address, .counter = s->r[base].v});
}

/* Every other instruction: the registers it writes become unknown. */
static void step_other(struct function *fn, struct state *s)
{
	const struct decoder *d = &fn->f->d;
	bool flags;
	uint32_t written;
	uint64_t addr;

	note_add(fn, s);
	written = decoder_writes(d, &flags);
	for (unsigned i = 0; i < REGISTERS; i++)
		if (written & 1U << i)
			forget(s, i);
	if (flags)
		s->flags = (struct coz_value){.kind = VALUE_UNKNOWN};
	if (d->insn->detail->x86.op_count && decoder_refers(d, 0, &addr))
		step_store(fn, s, addr, -1);
}

/* A conditional jump that asks for NULL. */
static void note_test(struct function *fn, const struct state *s)
{
	struct coz_finding test = {
	    .kind = FOUND_TEST, .addr = fn->f->d.insn->address, .counter = s->flags.v};
	const struct state *met = &fn->states[fn->state_at[fn->stretch - fn->start]];

	if (!fn->report || !is_counter(&s->flags))
		return;
	if (s->flags.kind == VALUE_COUNTERS) {
		/* Ways that met earlier are not followed. */
		test.reg = (int)s->flags.type - 1;
		test.meets =
		    test.reg >= 0 && met->r[test.reg].kind == VALUE_COUNTERS ? fn->stretch : 0;
	}
	report(fn, test);
}

/* The last instruction of a stretch. False: the next instruction is not reached from here. */
static bool step_branch(struct function *fn, struct state *s)
{
	const struct decoder *d = &fn->f->d;
	uint64_t target;
	bool fixed = decoder_target(d, &target), jump = d->insn->id == X86_INS_JMP;

	if (cs_insn_group(d->handle, d->insn, CS_GRP_CALL)) {
		step_call(fn, s);
		return true;
	}
	if (jump && !fixed)
		note_wrapped(fn, s);
	if (d->insn->id == X86_INS_JE || d->insn->id == X86_INS_JNE)
		note_test(fn, s);
	if (fixed)
		flow_to(fn, target, s);
	if (d->insn->id == X86_INS_SYSCALL) {
		step_other(fn, s);
		return true;
	}
	return fixed && !jump;
}

/* Runs from one place where ways meet to the next. False: the allowed work is done. */
static bool run_stretch(struct function *fn, uint64_t from)
{
	struct bytes code = decoder_code(&fn->f->d, fn->f->o, from);
	struct state s = fn->states[fn->state_at[from - fn->start]];
	uint64_t addr = from;

	fn->stretch = from;
	while (addr < fn->end && decoder_next(&fn->f->d, &code, &addr)) {
		if (!fn->f->work_left)
			return false;
		fn->f->work_left--;
		if (decoder_leaves(&fn->f->d)) {
			if (!step_branch(fn, &s))
				return true;
		} else if (!step_move(fn, &s) && !step_compare(fn, &s)) {
			step_other(fn, &s);
		}
		if (addr < fn->end && fn->state_at[addr - fn->start] != NO_STATE) {
			flow_to(fn, addr, &s);
			return true;
		}
	}
	return true;
}

/* Finds where ways meet: targets of branches, and instructions after a conditional branch. False:
 * the code cannot be decoded. */
static bool find_stretches(struct function *fn)
{
	struct bytes code = decoder_code(&fn->f->d, fn->f->o, fn->start);
	uint64_t addr = fn->start, target;

	fn->state_at[0] = 0;
	fn->n_states = 1;
	while (addr < fn->end && decoder_next(&fn->f->d, &code, &addr)) {
		if (!decoder_leaves(&fn->f->d))
			continue;
		if (decoder_target(&fn->f->d, &target) && target >= fn->start && target < fn->end &&
		    fn->state_at[target - fn->start] == NO_STATE)
			fn->state_at[target - fn->start] = (uint32_t)fn->n_states++;
		if (addr < fn->end && fn->state_at[addr - fn->start] == NO_STATE &&
		    !cs_insn_group(fn->f->d.handle, fn->f->d.insn, CS_GRP_CALL))
			fn->state_at[addr - fn->start] = (uint32_t)fn->n_states++;
	}
	return addr >= fn->end;
}

/* Runs each stretch that something leads to, once. */
static bool run_all(struct function *fn)
{
	bool ok = coz_flow_charge(fn->f, fn->end - fn->start);

	for (uint64_t at = 0; ok && at < fn->end - fn->start; at++)
		if (fn->state_at[at] != NO_STATE &&
		    fn->states[fn->state_at[at]].flags.kind != VALUE_UNSEEN)
			ok = run_stretch(fn, fn->start + at);
	return ok;
}

/* Takes the first place from @from on whose state has changed, in bytes from the start. The
 * function's size means none. */
static uint64_t take_pending(struct function *fn, uint64_t from)
{
	uint64_t size = fn->end - fn->start, mask = ~0ULL << from % WORD;

	for (uint64_t i = from / WORD; i < (size + WORD - 1) / WORD; i++, mask = ~0ULL) {
		uint64_t found = fn->pending[i] & mask;

		if (!found)
			continue;
		found &= -found;
		fn->pending[i] &= ~found;
		return i * WORD + (uint64_t)__builtin_ctzll(found);
	}
	return size;
}

/* Runs every stretch whose state has changed, in rounds by address, until nothing changes. */
static bool run_changed(struct function *fn)
{
	uint64_t size = fn->end - fn->start, first = 0;
	bool ok = true;

	/* A function that only jumps backwards changes one place in each round. */
	while (ok && (first = take_pending(fn, 0)) < size) {
		ok = coz_flow_charge(fn->f, size / WORD);
		for (uint64_t at = first; ok && at < size; at = take_pending(fn, at + 1))
			ok = run_stretch(fn, fn->start + at);
	}
	return ok;
}

/* Follows all values, then runs once more to report. */
static void run_function(struct function *fn)
{
	size_t first = fn->f->n;
	bool ok;

	for (unsigned i = 0; i < REGISTERS; i++)
		fn->states[0].r[i].kind = VALUE_UNKNOWN;
	for (unsigned i = 0; i < ARGUMENTS; i++)
		fn->states[0].r[argument_registers[i]] =
		    (struct coz_value){.kind = VALUE_PARAM, .v = i};
	fn->states[0].flags.kind = VALUE_UNKNOWN;
	fn->pending[0] = 1;
	ok = run_changed(fn);
	fn->report = true;
	ok = ok && run_all(fn);
	fn->report = false;
	for (size_t i = first, n = fn->f->n; ok && i < n && !fn->is_wrapper_candidate; i++) {
		if (fn->f->v[i].kind != FOUND_TEST || !fn->f->v[i].meets)
			continue;
		fn->watched = i + 1;
		ok = run_all(fn);
	}
}

static void look_at(struct function *fn)
{
	size_t size = fn->end - fn->start;

	if (fn->end <= fn->start || size > MAX_FUNCTION)
		return;
	fn->state_at = malloc(size * sizeof(*fn->state_at));
	if (fn->state_at) {
		memset(fn->state_at, 0xff, size * sizeof(*fn->state_at));
		if (find_stretches(fn)) {
			fn->states = calloc(fn->n_states, sizeof(*fn->states));
			fn->pending = calloc(size / WORD + 1, sizeof(*fn->pending));
			if (fn->states && fn->pending)
				run_function(fn);
			fn->f->no_memory |= !fn->states || !fn->pending;
			free(fn->states);
			free(fn->pending);
		}
	}
	fn->f->no_memory |= !fn->state_at;
	free(fn->state_at);
}

/* How the function at @target asks for counters, when it is Coz's _call_coz_get_counter or a
 * compiler's variant of it; else NULL. */
static const struct coz_wrapper *find_wrapper(struct coz_flow *f, uint64_t target)
{
	struct coz_wrapper *w;
	struct function fn = {.f = f, .is_wrapper_candidate = true};
	cs_insn *insn = f->d.insn;

	for (size_t i = 0; i < f->n_wrappers; i++)
		if (f->wrappers[i].start == target)
			return f->wrappers[i].is_one ? &f->wrappers[i] : NULL;
	if (f->n_wrappers == sizeof(f->wrappers) / sizeof(*f->wrappers) ||
	    !image_function_bounds(f->o, target, &fn.start, &fn.end) || fn.start != target)
		return NULL;
	/* The caller is in the middle of an instruction. */
	f->d.insn = cs_malloc(f->d.handle);
	if (!f->d.insn) {
		f->d.insn = insn;
		f->no_memory = true;
		return NULL;
	}
	w = &f->wrappers[f->n_wrappers++];
	*w = (struct coz_wrapper){
	    .start = target, .type = {.kind = VALUE_UNKNOWN}, .name = {.kind = VALUE_UNKNOWN}};
	fn.wrapper = w;
	look_at(&fn);
	cs_free(f->d.insn, 1);
	f->d.insn = insn;
	w->is_one = fn.refers;
	/* Without optimisation the arguments go through the stack unchanged. */
	if (w->type.kind != VALUE_CONST && w->type.kind != VALUE_PARAM)
		w->type = (struct coz_value){.kind = VALUE_PARAM, .v = 0};
	if (w->name.kind != VALUE_CONST && w->name.kind != VALUE_PARAM)
		w->name = (struct coz_value){.kind = VALUE_PARAM, .v = 1};
	return w->is_one ? w : NULL;
}

void coz_flow_function(struct coz_flow *f, uint64_t start, uint64_t end)
{
	struct function fn = {.f = f, .start = start, .end = end};

	look_at(&fn);
}
