/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: what the code of one function does with the counters of Coz's own
 * coz.h. Which functions, and what follows: sites.c. */
#ifndef COZBPF_COZ_FLOW_H
#define COZBPF_COZ_FLOW_H

#include "symbols/code/decode.h"
#include "symbols/elf/markers.h"

/* What a register is known to hold. */
struct coz_value {
	enum {
		VALUE_UNSEEN,   /* no way leads here yet */
		VALUE_CONST,    /* `v` */
		VALUE_PARAM,    /* argument number `v` of the function */
		VALUE_RESULT,   /* what a call has returned that was given `type` and, as second
				   argument, `v` */
		VALUE_COUNTER,  /* what the variable at address `v` holds */
		VALUE_COUNTERS, /* what one of several such variables holds */
		VALUE_UNKNOWN,
	} kind;
	uint32_t type;
	uint64_t v;
};

/* What is found in a function; arrays grow. */
struct coz_finding {
	enum {
		FOUND_ASK,  /* the variable at `counter` gets the counter of `type` and the name at
			       `name` */
		FOUND_TEST, /* the conditional jump at `addr` asks whether the variable at `counter`
			       is NULL; 0: one of several variables, see FOUND_WAY */
		FOUND_WAY,  /* who passes `addr` has the test at `test` asked about `counter`, and
			       nobody else; NO_SITE: there is no such place */
		FOUND_ADD,  /* the instruction at `addr` adds to a counter; `counter` is its
			       variable, 0: one of several */
	} kind;
	uint32_t type;
	uint64_t addr, counter, name;
	uint64_t test;
	/* Of a test of several variables: the register that is tested, and where the ways of the
	 * variables meet. */
	int reg;
	uint64_t meets;
};

/* How a function passes its arguments on to _coz_get_counter. */
struct coz_wrapper {
	uint64_t start;
	bool is_one; /* else the function is another one */
	struct coz_value type, name;
};

struct coz_flow {
	struct object *o;
	struct decoder d;
	uint64_t texts[8]; /* link-time addresses of the text "_coz_get_counter" */
	size_t n_texts;
	struct coz_finding *v;
	size_t n, cap;
	struct coz_wrapper
	    wrappers[16]; /* functions looked at because they are called; those beyond are none */
	size_t n_wrappers;
	uint64_t work_left; /* instructions that may still be looked at; damaged files can ask for a
			       lot */
	bool no_memory;
};

/* Looking over @items of what is known is work as well, a little of it. False: the work allowed is
 * done. */
static inline bool coz_flow_charge(struct coz_flow *f, uint64_t items)
{
	uint64_t work = items / 256 + 1; /* some 500 ns for an instruction, 2 ns for an item */

	f->work_left -= work < f->work_left ? work : f->work_left;
	return f->work_left;
}

/* Adds what is found in [@start, @end) to f->v. Functions that are too large or cannot be decoded
 * to their end are passed over. */
void coz_flow_function(struct coz_flow *f, uint64_t start, uint64_t end);

#endif
