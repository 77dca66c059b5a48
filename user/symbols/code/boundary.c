// SPDX-License-Identifier: BSD-3-Clause
/* Whether an instruction begins at a probe's site; see image_check_site(). */
#include "symbols/reading.h"
#include "symbols/code/decode.h"

/* bytes, which take 0.3 s; interpreters have functions of 1 MB */
#define MAX_DECODED (16U << 20)

enum site { SITE_BEGINS, SITE_INSIDE, SITE_UNKNOWN };

static enum site look_at(struct decoder *d, const struct image *o, uint64_t start, uint64_t addr)
{
	struct bytes code = decoder_code(d, o, start);

	if (addr - start > MAX_DECODED || code.size <= addr - start)
		return SITE_UNKNOWN;
	while (start < addr)
		if (!decoder_next(d, &code, &start))
			return SITE_UNKNOWN;
	return start == addr ? SITE_BEGINS : SITE_INSIDE;
}

static enum site find_site(struct image *o, uint64_t addr)
{
	enum site ret = SITE_UNKNOWN;
	GElf_Ehdr header;
	struct decoder d;
	uint64_t start;

	if (gelf_getehdr(o->main.elf, &header) && header.e_machine == EM_AARCH64)
		return addr % 4 ? SITE_INSIDE : SITE_BEGINS; /* all have four bytes */
	if (image_own_start(o, addr, &start) && !decoder_init(&d, o)) {
		ret = look_at(&d, o, start, addr);
		decoder_deinit(&d);
	}
	return ret;
}

int image_check_site(struct image *o, uint64_t offset, bool strict, struct error *e)
{
	unsigned long long at = offset;
	enum site site;
	uint64_t addr;

	if (!image_address(o, offset, &addr) || !image_is_code(o, addr))
		return error_set(
		    e, EXIT_USAGE, "offset 0x%llx of '%s' is no code", at, image_path(o));
	site = find_site(o, addr);
	if (site == SITE_BEGINS || (site == SITE_UNKNOWN && !strict))
		return 0;
	error_set(e, EXIT_USAGE,
	    site == SITE_INSIDE
		? "offset 0x%llx of '%s' is inside an instruction: a probe would break the program"
		: "whether an instruction begins at offset 0x%llx of '%s' cannot be told",
	    at, image_path(o));
	return error_hint(
	    e, "`objdump -d` shows where instructions begin; or name a line: -P FILE:LINE");
}
