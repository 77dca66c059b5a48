// SPDX-License-Identifier: BSD-3-Clause
/* Decodes one line table. Memory and time are bounded by the bytes of the table. */
#include "symbols/dwarf/linetable.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "core/text/paths.h"

/* The parts of an entry in the directory and file tables (DWARF 5). */
struct entry_format {
	uint64_t content, form;
};

#define MAX_FORMATS 16 /* five kinds of content are defined */

static int grow(void *array, size_t *cap, size_t n, size_t elem)
{
	void **p = array, *grown;

	if (n < *cap)
		return 0;
	grown = reallocarray(*p, *cap ? *cap * 2 : 64, elem);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = *cap ? *cap * 2 : 64;
	return 0;
}

static int add_dir(struct line_table *t, const char *dir)
{
	if (grow(&t->dirs, &t->dirs_cap, t->n_dirs, sizeof(*t->dirs)))
		return -ENOMEM;
	t->dirs[t->n_dirs++] = dir;
	return 0;
}

static int add_file(struct line_table *t, const char *name, uint64_t dir)
{
	if (grow(&t->files, &t->files_cap, t->n_files, sizeof(*t->files)))
		return -ENOMEM;
	t->files[t->n_files++] =
	    (struct line_file){name, dir > UINT32_MAX ? UINT32_MAX : (uint32_t)dir};
	return 0;
}

/* The lists of DWARF 2 to 4: strings up to an empty one. */
static int read_lists(struct line_table *t, struct reader *r)
{
	const char *s;

	if (add_dir(t, t->comp_dir ? t->comp_dir : "") || add_file(t, NULL, 0))
		return -ENOMEM;
	while (*(s = read_string(r)))
		if (add_dir(t, s))
			return -ENOMEM;
	while (*(s = read_string(r))) {
		uint64_t dir = read_uleb(r);

		read_uleb(r); /* time of modification */
		read_uleb(r); /* size */
		if (add_file(t, s, dir))
			return -ENOMEM;
	}
	return r->bad ? -EINVAL : 0;
}

/* One value of an entry, as a string or as a number. The size of an unknown form is unknown too,
 * hence an error. */
static void read_value(const struct line_table *t, const struct debug_sections *s, struct reader *r,
    uint64_t form, const char **string, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		*string = read_string(r);
		break;
	case DW_FORM_line_strp:
		*string = string_at(s->line_str, read_uint(r, t->offset_size));
		break;
	case DW_FORM_strp:
		*string = string_at(s->str, read_uint(r, t->offset_size));
		break;
	case DW_FORM_udata:
		*number = read_uleb(r);
		break;
	case DW_FORM_data1:
		*number = read_u8(r);
		break;
	case DW_FORM_data2:
		*number = read_u16(r);
		break;
	case DW_FORM_data4:
		*number = read_u32(r);
		break;
	case DW_FORM_data8:
		*number = read_u64(r);
		break;
	case DW_FORM_data16: /* MD5 */
		read_skip(r, 16);
		break;
	case DW_FORM_block:
		read_skip(r, read_uleb(r));
		break;
	default:
		reader_fail(r);
	}
}

/* Directories (@files false) or files of DWARF 5. */
static int read_table(
    struct line_table *t, const struct debug_sections *s, struct reader *r, bool files)
{
	struct entry_format formats[MAX_FORMATS];
	uint8_t n_formats = read_u8(r);
	uint64_t n;

	if (n_formats > MAX_FORMATS)
		return -EINVAL;
	for (uint8_t i = 0; i < n_formats; i++) {
		formats[i].content = read_uleb(r);
		formats[i].form = read_uleb(r);
	}
	n = read_uleb(r);
	/* An entry takes a byte at least, so a count cannot promise more than there is. */
	if (r->bad || (n && !n_formats) || n > reader_left(r))
		return -EINVAL;
	while (n--) {
		const char *name = NULL;
		uint64_t dir = 0;

		for (uint8_t i = 0; i < n_formats; i++) {
			const char *string = NULL;
			uint64_t number = 0;

			read_value(t, s, r, formats[i].form, &string, &number);
			if (formats[i].content == DW_LNCT_path)
				name = string;
			else if (formats[i].content == DW_LNCT_directory_index)
				dir = number;
		}
		if (r->bad)
			return -EINVAL;
		if (files ? add_file(t, name, dir) : add_dir(t, name ? name : ""))
			return -ENOMEM;
	}
	return 0;
}

int line_table_read(struct line_table *t, const struct debug_sections *s, uint64_t offset,
    uint8_t addr_size, const char *comp_dir, uint64_t *length)
{
	struct reader r = offset < s->line.size ? reader_at(s->line, offset, s->line.size - offset)
						: (struct reader){.bad = true};
	uint64_t unit_length = read_u32(&r), header_length, max = *length;
	struct reader body;

	t->offset_size = unit_length == 0xffffffff ? 8 : 4;
	if (t->offset_size == 8)
		unit_length = read_u64(&r);
	*length = 0;
	if (r.bad || unit_length > reader_left(&r) ||
	    (uint64_t)(r.p - s->line.data) - offset + unit_length > max)
		return -EINVAL;
	r.end = r.p + unit_length;
	*length = (uint64_t)(r.end - s->line.data) - offset;
	t->version = read_u16(&r);
	if (t->version < 2 || t->version > 5)
		return -EINVAL;
	t->addr_size = addr_size;
	if (t->version >= 5) {
		t->addr_size = read_u8(&r);
		read_u8(&r); /* size of segment selectors: none on our machines */
	}
	header_length = read_uint(&r, t->offset_size);
	if (r.bad || header_length > reader_left(&r))
		return -EINVAL;
	t->program = (struct reader){r.p + header_length, r.end, false};
	body = (struct reader){r.p, r.p + header_length, false};
	t->min_inst = read_u8(&body);
	if (t->version >= 4)
		read_u8(&body); /* operations in an instruction: 1, except on VLIW machines */
	t->default_is_stmt = read_u8(&body);
	t->line_base = (int8_t)read_u8(&body);
	t->line_range = read_u8(&body);
	t->opcode_base = read_u8(&body);
	for (unsigned i = 1; i < t->opcode_base; i++)
		t->op_lengths[i] = read_u8(&body);
	if (body.bad || !t->line_range || !t->opcode_base)
		return -EINVAL;
	t->comp_dir = comp_dir;
	t->n_dirs = t->n_files = 0;
	if (t->version < 5)
		return read_lists(t, &body);
	return read_table(t, s, &body, false) ?: read_table(t, s, &body, true);
}

static void reset_row(const struct line_table *t, struct line_row *row)
{
	*row = (struct line_row){.file = 1, .line = 1, .is_stmt = t->default_is_stmt};
}

/* Hands a sequence over, without rows whose address goes back: damage, or an assembler's .org. */
static int end_sequence(struct line_table *t, line_sequence_fn *fn, void *ctx)
{
	size_t n = 0;
	int err;

	for (size_t i = 0; i < t->n_rows; i++)
		if (n == 0 || t->rows[i].addr >= t->rows[n - 1].addr)
			t->rows[n++] = t->rows[i];
	err = n > 1 ? fn(ctx, t, t->rows, n) : 0;
	t->n_rows = 0;
	return err;
}

static inline int add_row(struct line_table *t, const struct line_row *row)
{
	if (t->n_rows == t->rows_cap && grow(&t->rows, &t->rows_cap, t->n_rows, sizeof(*t->rows)))
		return -ENOMEM;
	t->rows[t->n_rows++] = *row;
	return 0;
}

static int extended_op(
    struct line_table *t, struct reader *r, struct line_row *row, line_sequence_fn *fn, void *ctx)
{
	uint64_t len = read_uleb(r);
	struct reader op;
	int err = 0;

	if (!len || len > reader_left(r)) {
		reader_fail(r);
		return -EINVAL;
	}
	op = (struct reader){r->p, r->p + len, false};
	r->p += len;
	switch (read_u8(&op)) {
	case DW_LNE_end_sequence:
		err = add_row(t, row) ?: end_sequence(t, fn, ctx);
		reset_row(t, row);
		break;
	case DW_LNE_set_address:
		row->addr = read_uint(&op, (unsigned)(len - 1 > 8 ? 0 : len - 1));
		break;
	case DW_LNE_define_file:
		if (t->version < 5) {
			const char *name = read_string(&op);

			err = add_file(t, name, read_uleb(&op));
		}
		break;
	default: /* discriminators and vendors' extensions: passed over by their length */
		break;
	}
	return err ?: op.bad ? -EINVAL : 0;
}

static int standard_op(struct line_table *t, struct reader *r, uint8_t op, struct line_row *row)
{
	switch (op) {
	case DW_LNS_copy:
		return add_row(t, row);
	case DW_LNS_advance_pc:
		row->addr += read_uleb(r) * t->min_inst;
		break;
	case DW_LNS_advance_line:
		row->line += (uint32_t)read_sleb(r);
		break;
	case DW_LNS_set_file:
		row->file = (uint32_t)read_uleb(r);
		break;
	case DW_LNS_set_column:
		read_uleb(r);
		break;
	case DW_LNS_negate_stmt:
		row->is_stmt = !row->is_stmt;
		break;
	case DW_LNS_const_add_pc:
		row->addr += (uint64_t)((255 - t->opcode_base) / t->line_range) * t->min_inst;
		break;
	case DW_LNS_fixed_advance_pc:
		row->addr += read_u16(r);
		break;
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	default: /* DW_LNS_set_isa and unknown ones */
		for (uint8_t i = 0; i < t->op_lengths[op]; i++)
			read_uleb(r);
	}
	return 0;
}

int line_table_run(struct line_table *t, line_sequence_fn *fn, void *ctx)
{
	struct reader r = t->program;
	struct line_row row;
	int err = 0;

	reset_row(t, &row);
	t->n_rows = 0;
	while (!err && r.p < r.end) {
		uint8_t op = *r.p++;

		if (op >= t->opcode_base) {
			unsigned step = (unsigned)(op - t->opcode_base);

			row.addr += (uint64_t)(step / t->line_range) * t->min_inst;
			row.line += (uint32_t)(t->line_base + (int)(step % t->line_range));
			err = add_row(t, &row);
		} else if (op == 0) {
			err = extended_op(t, &r, &row, fn, ctx);
		} else {
			err = standard_op(t, &r, op, &row);
		}
	}
	return err ?: r.bad ? -EINVAL : 0;
}

bool line_table_path(const struct line_table *t, uint32_t index, char *buf, size_t size)
{
	char dir[PATH_MAX];
	const struct line_file *f;
	const char *base = t->comp_dir;

	if (index >= t->n_files || !t->files[index].name)
		return false;
	f = &t->files[index];
	/* Directory 0 is the compilation directory. DWARF 5 names it again, absolute or as relative
	 * as in the unit. */
	if (t->n_dirs && (!base || t->dirs[0][0] == '/'))
		base = t->dirs[0];
	if (f->dir == 0 || f->dir >= t->n_dirs)
		return path_join(buf, size, base, f->name) > 0;
	return path_join(dir, sizeof(dir), base, t->dirs[f->dir]) &&
	       path_join(buf, size, dir, f->name);
}

void line_table_deinit(struct line_table *t)
{
	free(t->dirs);
	free(t->files);
	free(t->rows);
	memset(t, 0, sizeof(*t));
}
