// SPDX-License-Identifier: BSD-3-Clause
/* Reads /proc/kallsyms: an address, a letter for the kind, a name, and [MODULE]; see kallsyms.h. */
#include "kernel/kallsyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* code that no symbol ends, as that before a gap between modules, is no longer */
#define FUNCTION_MAX (1ULL << 20)

struct function {
	uint64_t addr;
	uint32_t unit;
};

struct functions {
	struct function *v;
	size_t n, room;
};

static bool push(struct functions *f, uint64_t addr, uint32_t unit)
{
	if (f->n == f->room) {
		size_t room = 2 * f->room + 1024;
		struct function *bigger = reallocarray(f->v, room, sizeof(*bigger));

		if (!bigger)
			return false;
		f->v = bigger;
		f->room = room;
	}
	f->v[f->n++] = (struct function){addr, unit};
	return unit;
}

/* Code of the kernel itself or of a module. BPF programs come and go, and padding before a function
 * has a name of its own. */
static bool is_function(char kind, const char *name, const char *module)
{
	return (kind == 't' || kind == 'T') && strncmp(name, "__pfx_", 6) != 0 &&
	       strcmp(module, "[bpf]") != 0;
}

/* False: out of memory. A line of another form is passed over. */
static bool take_line(const char *line, struct line_map *m, struct functions *f)
{
	char kind, name[512], module[128] = "[k]", unit[sizeof(name) + sizeof(module)];
	uint64_t addr;

	if (sscanf(line, "%" SCNx64 " %c %511s %127s", &addr, &kind, name, module) < 3 || !addr ||
	    !is_function(kind, name, module))
		return true;
	snprintf(unit, sizeof(unit), "%s:%s", module, name);
	return push(f, addr, line_map_line(m, unit, 0));
}

/* Of several names for one address the first one in the file stays first. */
static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static int add_ranges(struct functions *f, struct line_map *m)
{
	const struct line_object object = {.path = (char *)"[kernel]"};
	struct line_range *ranges = calloc(f->n + 1, sizeof(*ranges));
	size_t n = 0;
	int err = ranges ? 0 : -ENOMEM;

	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), by_address);
	for (size_t i = 0; !err && i < f->n; i++) {
		uint64_t lo = f->v[i].addr, hi = lo + FUNCTION_MAX;
		size_t next = i + 1;

		if (i && f->v[i - 1].addr == lo)
			continue;
		while (next < f->n && f->v[next].addr == lo)
			next++;
		if (next < f->n && f->v[next].addr < hi)
			hi = f->v[next].addr;
		ranges[n++] = (struct line_range){lo, hi, f->v[i].unit};
	}
	if (!err)
		err = line_map_add_object(m, &object, ranges, n);
	free(ranges);
	return err;
}

int kallsyms_read(FILE *in, struct line_map *m, size_t *ret_n, struct error *e)
{
	struct functions f = {0};
	char *line = NULL;
	size_t room = 0;
	bool ok = true;

	while (ok && getline(&line, &room, in) > 0)
		ok = take_line(line, m, &f);
	ok = ok && !add_ranges(&f, m);
	*ret_n = f.n;
	free(line);
	free(f.v);
	if (!ok)
		return error_set(e, EXIT_OTHER, "out of memory while reading the kernel's symbols");
	if (*ret_n)
		return 0;
	error_set(e, EXIT_FORBIDDEN, "the kernel does not tell where its functions are");
	return error_hint(e, "run it with sudo; 'sysctl kernel.kptr_restrict' is to be 0 or 1");
}

int kallsyms_add(struct line_map *m, size_t *ret_n, struct error *e)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	int err;

	if (!in)
		return error_set(e, EXIT_OTHER, "cannot read /proc/kallsyms: %s", strerror(errno));
	err = kallsyms_read(in, m, ret_n, e);
	fclose(in);
	return err;
}
