// SPDX-License-Identifier: BSD-3-Clause
/* Mappings as the kernel writes them: those of files, and memory where runtimes put code. */
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

#include "target/maps.h"
#include "target/procfs.h"

static const char text[] =
    "1000-2000 r-xp 00000000 08:01 7                          /usr/bin/app\n"
    "2000-3000 rwxp 00000000 00:00 0 \n"
    "3000-4000 r-xp 00000000 00:00 0                          [anon:code]\n"
    "4000-5000 rw-p 00000000 00:00 0 \n"
    "5000-6000 r-xs 00000000 00:01 99                         /memfd:doublemapper (deleted)\n"
    "7000-8000 rwxs 00000000 00:01 98                         /dev/zero (deleted)\n"
    "8000-9000 r-xp 00000000 00:00 0                          [vdso]\n"
    "9000-8000 rwxp 00000000 00:00 0 \n"
    "a000-b000 r-xp 00000000 08:01 8                          /lib/lib.so\n"
    "6000-6800 rwxp 00000000 00:00 0 \n"
    "nonsense\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n";

TEST(files)
{
	FILE *in = fmemopen((void *)text, sizeof(text) - 1, "r");
	struct map_entry *all;
	size_t n;

	CHECK_EQ(maps_parse(in, &all, &n), 0);
	CHECK_EQ(n, 4);
	CHECK_STR(all[0].path, "/usr/bin/app");
	CHECK(maps_is_memory(all[1].path) && maps_is_memory(all[2].path));
	CHECK(!maps_is_memory(all[0].path) && !maps_is_memory(all[3].path));
	free(all);
	fclose(in);
}

TEST(areas)
{
	FILE *in = fmemopen((void *)text, sizeof(text) - 1, "r");
	struct map_area *all;
	size_t n;

	CHECK_EQ(maps_parse_areas(in, &all, &n), 0);
	CHECK_EQ(n, 3);
	CHECK(all[0].start == 0x2000 && all[0].end == 0x4000);
	CHECK(all[1].start == 0x5000 && all[1].end == 0x6000);
	CHECK(all[2].start == 0x7000 && all[2].end == 0x8000);
	free(all);
	fclose(in);
}

/* Of this process. */
TEST(here)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), at;
	void *code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct map_area *all;
	bool found = false;
	uid_t user;
	size_t n;

	at = (uint64_t)(uintptr_t)code;
	CHECK_EQ(maps_read_areas(getpid(), &all, &n), 0);
	for (size_t i = 0; i < n; i++)
		found |= all[i].start <= at && at + size <= all[i].end;
	CHECK(found);
	free(all);
	munmap(code, size);
	CHECK_EQ(procfs_inner(getpid()), getpid());
	CHECK(procfs_user(getpid(), &user));
	CHECK_EQ(user, geteuid());
	CHECK_EQ(procfs_inner(0x7ffffff0), 0);
	CHECK(!procfs_user(0x7ffffff0, &user));
	CHECK(maps_read_areas(0x7ffffff0, &all, &n) < 0);
}
