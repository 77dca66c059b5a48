// SPDX-License-Identifier: BSD-3-Clause
/* Where the runtime of a Go program is probed, and where it keeps a thread's g; see symbols.h. */
#include "symbols/code/goentry.h"
#include "symbols/elf/gotable.h"

#define MAX_FUNCTION 4096      /* bytes of one that is looked through */
#define MAX_TLS 32             /* instructions of runtime.morestack looked at */
#define MAX_STRETCHES 10000000 /* of inlined code looked at */

/* The functions that tell of an event, the better one first. */
static const char *const functions[GO_EVENTS][2] = {
    [GO_EXECUTE] = {"runtime.execute"},
    [GO_PARK] = {"runtime.park_m"},
    [GO_READY] = {"runtime.ready"},
    /* newproc1() makes the goroutine, and its caller puts it into a queue. */
    [GO_NEW] = {"runtime.newproc.func1"},
    [GO_EXIT] = {"runtime.gdestroy", "runtime.goexit0"},
    [GO_COLLECT] = {"runtime.gcDrain"},
};
#define QUEUES "runtime.runqput"

static int not_found(const struct image *o, const char *what, struct error *e)
{
	error_set(e, EXIT_USAGE, "'%s' has no function '%s', or it has another name there",
	    image_path(o), what);
	return error_hint(e, "was its code obfuscated? build it with Go's own tools");
}

/* Names of assembler functions may have an ending in symbol tables. */
static const struct symbol *find_function(const struct image *o, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < o->n_symbols; i++) {
		const char *s = o->symbols[i].name;

		if (!strncmp(s, name, length) && (!s[length] || !strcmp(s + length, ".abi0")))
			return &o->symbols[i];
	}
	return NULL;
}

/* The call of @target in a function. */
static bool find_call(struct decoder *d, const struct image *o, const struct symbol *f,
    uint64_t target, uint64_t *ret)
{
	struct bytes code = decoder_code(d, o, f->addr);
	uint64_t addr = f->addr, to,
		 end = f->addr + (f->size < MAX_FUNCTION ? f->size : MAX_FUNCTION);

	while (addr < end && decoder_next(d, &code, &addr))
		if (d->insn->id == X86_INS_CALL && decoder_target(d, &to) && to == target) {
			*ret = d->insn->address;
			return true;
		}
	return false;
}

/* The function of an event, by its best name. */
static const struct symbol *event_function(
    const struct image *o, enum go_event event, const char **name)
{
	const struct symbol *f = NULL;

	for (int i = 0; !f && i < 2 && functions[event][i]; i++) {
		*name = functions[event][i];
		f = find_function(o, *name);
	}
	return f;
}

static int find_site(
    struct decoder *d, struct image *o, enum go_event event, struct go_site *ret, struct error *e)
{
	const char *name = NULL;
	const struct symbol *f = event_function(o, event, &name), *queues;
	uint64_t addr;

	if (!f)
		return not_found(o, functions[event][0], e);
	addr = f->addr;
	*ret = (struct go_site){.gp = GO_RAX, .function = name};
	if (event == GO_NEW) {
		queues = find_function(o, QUEUES);
		if (!queues)
			return not_found(o, QUEUES, e);
		if (!find_call(d, o, f, queues->addr, &addr))
			return error_set(e, EXIT_USAGE, "'%s' of '%s' does not call '%s'", name,
			    image_path(o), QUEUES);
		ret->gp = GO_RBX;
	} else if (!go_entry_site(d, o, f->addr, &addr)) {
		return error_set(e, EXIT_USAGE, "'%s' of '%s' does not begin as functions of Go do",
		    name, image_path(o));
	}
	if (!image_offset(o, addr, &ret->offset))
		return not_found(o, name, e);
	ret->is_cheap = image_site_is_cheap(o, ret->offset);
	return 0;
}

static enum go_event event_of(const char *name)
{
	enum go_event event = GO_EVENTS;

	for (int i = 0; name && !strncmp(name, "runtime.", 8) && i < GO_EVENTS; i++)
		if (!strcmp(name, functions[i][0]))
			event = (enum go_event)i;
	return event;
}

/* Of which of the functions there are inlined copies, which no probe would see: builds that are
 * guided by a profile may have them. NULL: of none. */
static const char *find_inlined(const struct go_table *t)
{
	uint64_t left = MAX_STRETCHES;
	struct go_function f;
	struct go_values v;

	for (size_t i = 0; i < t->n_functions; i++) {
		if (!go_function_at(t, i, &f) || !f.calls)
			continue;
		go_values_start(t, &f, f.calls, &v);
		while (v.hi < f.hi && left && go_values_next(&v)) {
			enum go_event event =
			    v.value < 0 ? GO_EVENTS
					: event_of(go_call_name(t, &f, (uint32_t)v.value));

			left--;
			if (event != GO_EVENTS)
				return functions[event][0];
		}
	}
	return NULL;
}

int image_go_sites(struct image *o, struct go_site sites[GO_EVENTS], struct error *e)
{
	const struct go_table *t = image_go_table(o);
	const char *inlined = t ? find_inlined(t) : NULL;
	struct decoder d = {0};
	int err = 0;

	if (inlined) {
		error_set(e, EXIT_USAGE, "'%s' has '%s' inlined into other functions",
		    image_path(o), inlined);
		return error_hint(e, "build it without a profile (-pgo=off)");
	}
	if (image_load_symbols(o))
		return error_set(e, EXIT_OTHER, "out of memory");
	if (decoder_init(&d, o))
		err = error_set(
		    e, EXIT_USAGE, "'%s' is for another machine than x86-64", image_path(o));
	for (int i = 0; !err && i < GO_EVENTS; i++)
		err = find_site(&d, o, (enum go_event)i, &sites[i], e);
	decoder_deinit(&d);
	return err;
}

/* The distance from the thread pointer at which an instruction finds g. Programs that may be loaded
 * anywhere put it into a register first: *@base, *@value. */
static bool refers_to_thread(const struct decoder *d, x86_reg *base, int64_t *value, int64_t *ret)
{
	const cs_x86 *x = &d->insn->detail->x86;

	for (int i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type != X86_OP_MEM || op->mem.segment != X86_REG_FS ||
		    op->mem.index != X86_REG_INVALID)
			continue;
		if (op->mem.base != X86_REG_INVALID && op->mem.base != *base)
			return false;
		*ret = op->mem.disp + (op->mem.base == X86_REG_INVALID ? 0 : *value);
		return true;
	}
	if (d->insn->id == X86_INS_MOV && x->op_count == 2 && x->operands[0].type == X86_OP_REG &&
	    x->operands[1].type == X86_OP_IMM) {
		*base = x->operands[0].reg;
		*value = x->operands[1].imm;
	}
	return false;
}

/* The first thing that runtime.morestack() does is to get g. */
int image_go_tls(struct image *o, int64_t *ret, struct error *e)
{
	const struct symbol *f;
	x86_reg base = X86_REG_INVALID;
	struct decoder d = {0};
	int64_t value = 0;
	bool found = false;

	if (image_load_symbols(o))
		return error_set(e, EXIT_OTHER, "out of memory");
	f = find_function(o, "runtime.morestack");
	if (!f)
		return not_found(o, "runtime.morestack", e);
	if (!decoder_init(&d, o)) {
		struct bytes code = decoder_code(&d, o, f->addr);
		uint64_t addr = f->addr;

		for (int i = 0; !found && i < MAX_TLS && decoder_next(&d, &code, &addr); i++)
			found = refers_to_thread(&d, &base, &value, ret);
	}
	decoder_deinit(&d);
	/* The runtime's own g is right below the thread pointer, or somewhat further below. */
	if (found && *ret < 0 && *ret >= -(1 << 20) && *ret % 8 == 0)
		return 0;
	return error_set(e, EXIT_USAGE,
	    "where threads of '%s' have their goroutine cannot be told from 'runtime.morestack'",
	    image_path(o));
}
