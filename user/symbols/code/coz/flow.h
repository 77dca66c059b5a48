/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to code/coz/: what one function's code does with the counters of Coz's own coz.h. sites.c
 * picks the functions and judges what is found. */
#ifndef COZBPF_COZ_FLOW_H
#define COZBPF_COZ_FLOW_H

#include "symbols/code/decode.h"
#include "symbols/elf/markers.h"

/* What a register is known to hold. */
struct coz_value {
	enum {
		VALUE_UNSEEN, /* no way leads here yet */
		VALUE_CONST,  /* `v` */
		VALUE_PARAM,  /* argument number `v` of the function */
		/* The result of a call whose arguments were `type` and, second, `v`. */
		VALUE_RESULT,
		VALUE_COUNTER,  /* the content of the variable at `v` */
		VALUE_COUNTERS, /* the content of one of several variables */
		VALUE_UNKNOWN,
	} kind;
	uint32_t type;
	uint64_t v;
};

/* Something found in a function. */
struct coz_finding {
	enum {
		/* The variable at `counter` gets the counter of `type` and the name at `name`. */
		FOUND_ASK,
		/*
		 * The conditional jump at `addr` asks whether the variable at `counter` is NULL.
		 * 0: one of several variables, see FOUND_WAY.
		 */
		FOUND_TEST,
		/*
		 * Exactly when `addr` is passed, the test at `test` asks about `counter`.
		 * NO_SITE: there is no such place.
		 */
		FOUND_WAY,
		/*
		 * The instruction at `addr` adds to the counter of the variable at `counter`.
		 * 0: one of several.
		 */
		FOUND_ADD,
	} kind;
	uint32_t type;
	uint64_t addr, counter, name;
	uint64_t test;
	/* For a test of several variables: the tested register, and where the ways of the variables
	 * meet. */
	int reg;
	uint64_t meets;
};

/* How a function passes its arguments on to _coz_get_counter. */
struct coz_wrapper {
	uint64_t start;
	bool is_one; /* else the function does something else */
	struct coz_value type, name;
};

struct coz_flow {
	struct image *o;
	struct decoder d;
	uint64_t texts[8]; /* link-time addresses of the text "_coz_get_counter" */
	size_t n_texts;
	struct coz_finding *v;
	size_t n, cap;
	/* Called functions that were looked at; when the array is full, others count as none. */
	struct coz_wrapper wrappers[16];
	size_t n_wrappers;
	/* Instructions that may still be looked at: damaged files can ask for a lot. */
	uint64_t work_left;
	bool no_memory;
};

/* Looking through @items costs a little work too. False: the allowed work is done. */
static inline bool coz_flow_charge(struct coz_flow *f, uint64_t items)
{
	uint64_t work = items / 256 + 1; /* some 500 ns for an instruction, 2 ns for an item */

	f->work_left -= work < f->work_left ? work : f->work_left;
	return f->work_left;
}

/* Adds what is found in [@start, @end) to f->v. Functions that are too large, or cannot be decoded
 * to their end, are left out. */
void coz_flow_function(struct coz_flow *f, uint64_t start, uint64_t end);

#endif
