// SPDX-License-Identifier: BSD-3-Clause
/* The kernel's functions out of the text of /proc/kallsyms. */
#include "check.h"

#include <inttypes.h>

#include "kernel/kallsyms.h"

static int read_text(const char *text, struct line_map *m, size_t *n, struct error *e)
{
	FILE *in = fmemopen((char *)text, strlen(text), "r");
	int err;

	CHECK_EQ(line_map_init(m), 0);
	err = kallsyms_read(in, m, n, e);
	fclose(in);
	return err;
}

static const char *at(const struct line_map *m, uint64_t address)
{
	uint32_t id = line_map_lookup(m, 0, address);

	return id ? m->lines[id].file : "";
}

TEST(functions_and_modules)
{
	struct line_map m;
	struct error e;
	size_t n;

	CHECK_EQ(read_text("ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff810000f0 t __pfx_vfs_read\n"
			   "ffffffff81000100 T vfs_read\n"
			   "ffffffff81000180 D data\n"
			   "ffffffff81000200 t copy\n"
			   "what is this\n"
			   "ffffffffc0000000 t bpf_prog_1 [bpf]\n"
			   "ffffffffa0001000 t walk\t[ext4]\n"
			   "ffffffffa0000800 T walk\t[ext4]\n",
		     &m, &n, &e),
	    0);
	CHECK_EQ(n, 6);
	CHECK_STR(at(&m, 0xffffffff81000000), "[k]:_stext");
	CHECK_STR(at(&m, 0xffffffff810000ff), "[k]:_stext");
	CHECK_STR(at(&m, 0xffffffff81000100), "[k]:vfs_read");
	CHECK_STR(at(&m, 0xffffffff810001ff), "[k]:vfs_read");
	CHECK_STR(at(&m, 0xffffffff81000200), "[k]:copy");
	/* Two functions of one name are one unit. */
	CHECK_STR(at(&m, 0xffffffffa0000800), "[ext4]:walk");
	CHECK_STR(at(&m, 0xffffffffa0001010), "[ext4]:walk");
	CHECK_EQ(m.n_lines, 1 + 5);
	/* Nothing ends the last one but our bound. */
	CHECK_STR(at(&m, 0xffffffffa0001000 + (1 << 20)), "");
	CHECK_STR(at(&m, 0xffffffffc0000000), "");
	CHECK_STR(at(&m, 0x1000), "");
	line_map_deinit(&m);
}

/* As users without the right to see addresses read it. */
TEST(addresses_are_hidden)
{
	struct line_map m;
	struct error e = {0};
	size_t n;

	CHECK_EQ(
	    read_text("0000000000000000 T vfs_read\n0000000000000000 t copy\n", &m, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_FORBIDDEN);
	CHECK(strstr(e.hint, "sudo"));
	line_map_deinit(&m);
}
