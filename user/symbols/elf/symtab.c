// SPDX-License-Identifier: BSD-3-Clause
/* The functions of an object's symbol tables by address. findsymbol.c looks them up by name. */
#include "symbols/elf/image.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/elf/gotable.h"
#include "symbols/elf/names.h"

#define MAX_SYMBOLS 50000000
#define MAX_FOREIGN 64 /* symbols of a debug file between those of the file itself */

static int symbol_cmp(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	/* Of those that are there twice, the file's own stays. */
	return strcmp(x->name, y->name) ?: y->is_own - x->is_own;
}

/* Whether a symbol is a function, or a label in assembler code, which may have no type. */
static bool is_function(const struct image *o, const GElf_Sym *s, const char *name)
{
	int type = GELF_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || !*name || *name == '$' || !image_is_code(o, s->st_value))
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && *name != '.');
}

/* elf_strptr() looks for the end of the whole table with each name. */
static struct bytes string_table(Elf *elf, size_t index)
{
	Elf_Scn *scn = elf_getscn(elf, index);
	GElf_Shdr header;
	Elf_Data *data = scn && gelf_getshdr(scn, &header) && header.sh_type == SHT_STRTAB
			     ? elf_getdata(scn, NULL)
			     : NULL;

	return data && data->d_buf ? (struct bytes){data->d_buf, data->d_size} : (struct bytes){0};
}

static int add_table(struct image *o, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	struct bytes strings = string_table(elf, header->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), n;
	struct symbol *grown;

	if (!data || !data->d_buf || !entry)
		return 0;
	n = data->d_size / entry;
	if (n > MAX_SYMBOLS)
		return 0;
	grown = reallocarray(o->symbols, o->n_symbols + n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	o->symbols = grown;
	for (size_t i = 0; i < n; i++) {
		GElf_Sym s;
		const char *name = NULL;

		/* Without a name to show, a function still begins there. */
		if (gelf_getsym(data, (int)i, &s) && s.st_name < strings.size)
			name = string_at(strings, s.st_name) ?: "?";
		if (name && is_function(o, &s, name))
			o->symbols[o->n_symbols++] =
			    (struct symbol){s.st_value, s.st_size, name, elf != o->debug.elf};
	}
	return 0;
}

/* *@whole: whether a table has all symbols, not only those for other files. */
static int add_tables(struct image *o, Elf *elf, bool *whole)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	int err = 0, tables = 0;

	while (!err && tables < 8 && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		tables++;
		*whole |= header.sh_type == SHT_SYMTAB;
		err = add_table(o, elf, scn, &header);
	}
	return err;
}

/* A stripped Go program has a table of its functions all the same. */
static int add_go_functions(struct image *o, const struct go_table *t)
{
	struct symbol *grown =
	    reallocarray(o->symbols, o->n_symbols + t->n_functions + 1, sizeof(*grown));
	struct go_function f;

	if (!grown)
		return -ENOMEM;
	o->symbols = grown;
	for (size_t i = 0; i < t->n_functions; i++)
		if (go_function_at(t, i, &f) && image_is_code(o, f.lo))
			o->symbols[o->n_symbols++] =
			    (struct symbol){f.lo, f.hi - f.lo, f.name, true};
	return 0;
}

int image_load_symbols(struct image *o)
{
	bool whole = false;
	size_t n = 0;
	int err;

	if (o->symbols_loaded)
		return 0;
	err = add_tables(o, o->main.elf, &whole);
	if (!err && o->debug.elf)
		err = add_tables(o, o->debug.elf, &whole);
	if (!err && !whole && image_minidebug(o))
		err = add_tables(o, o->mini, &whole);
	if (!err && !whole && image_go_table(o))
		err = add_go_functions(o, image_go_table(o));
	if (err) {
		o->n_symbols = 0;
		return err;
	}
	if (o->n_symbols)
		qsort(o->symbols, o->n_symbols, sizeof(*o->symbols), symbol_cmp);
	/* .dynsym repeats names of .symtab. */
	for (size_t i = 0; i < o->n_symbols; i++)
		if (!n || o->symbols[i].addr != o->symbols[n - 1].addr ||
		    strcmp(o->symbols[i].name, o->symbols[n - 1].name))
			o->symbols[n++] = o->symbols[i];
	o->n_symbols = n;
	o->symbols_loaded = true;
	return 0;
}

size_t image_symbols_upto(const struct image *o, uint64_t addr)
{
	size_t lo = 0, hi = o->n_symbols;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->symbols[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct symbol *image_symbol_at(const struct image *o, uint64_t addr)
{
	size_t n = image_symbols_upto(o, addr);
	uint64_t at = n ? o->symbols[n - 1].addr : 0;

	/* Among several names for one address, the first one in order: the largest. */
	return n ? &o->symbols[at ? image_symbols_upto(o, at - 1) : 0] : NULL;
}

bool symbol_is_cold(struct image *o, const struct symbol *s)
{
	return name_is_cold(s->name) &&
	       !(image_go_table(o) && go_function_begins(image_go_table(o), s->addr));
}

bool image_own_start(struct image *o, uint64_t addr, uint64_t *ret)
{
	uint64_t end;
	bool found = image_unwound_bounds(o, addr, ret, &end);
	size_t n = image_load_symbols(o) ? 0 : image_symbols_upto(o, addr);
	size_t least = n > MAX_FOREIGN ? n - MAX_FOREIGN : 0;

	while (n > least && !o->symbols[n - 1].is_own)
		n--;
	if (n == least || (found && o->symbols[n - 1].addr <= *ret))
		return found;
	*ret = o->symbols[n - 1].addr;
	return true;
}

bool image_function_begins(struct image *o, uint64_t after, uint64_t upto)
{
	const struct symbol *s;

	if (image_load_symbols(o))
		return false;
	s = image_symbol_at(o, upto);
	return s && s->addr > after;
}
