// SPDX-License-Identifier: BSD-3-Clause
/* Files of --rotate after an attempt that failed: what it removes and forgets, what it tries again.
 * The recorder is a counter here. */
#include "folder.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/segments.c"

static uint64_t size;
static size_t forgotten;
static unsigned said, refused, unnamed;

void console_say(const struct console *c, const char *format, ...)
{
	said++;
}

uint64_t recorder_size(const struct recorder *w)
{
	return size;
}

void recorder_forget(struct recorder *w, size_t n_runs)
{
	forgotten += n_runs;
}

int identity_rename(const struct identity *id, const char *from, const char *to)
{
	if (unnamed && !--unnamed)
		return -EIO;
	return (to ? rename(from, to) : unlink(from)) ? -errno : 0;
}

static void write_file(const char *name, size_t n)
{
	FILE *out = fopen(name, "w");

	for (size_t i = 0; i < n; i++)
		putc('x', out);
	fclose(out);
}

int recorder_reopen(struct recorder *w, const struct identity *identity, struct error *e)
{
	if (refused && refused--)
		return error_set(e, EXIT_OTHER, "no");
	write_file("a.coz", 0);
	size = 0;
	return 0;
}

/* A run of 60 bytes, in a file that takes 100. */
static void run(struct segments *s)
{
	segments_begin_run(s);
	size += 60;
}

static bool is_file(const char *name)
{
	return !access(name, F_OK);
}

TEST(what_failed_once_is_tried_again)
{
	struct identity id = {0};
	struct segments s = {.path = "a.coz", .identity = &id, .most = 100 * SEGMENTS};

	new_folder();
	CHECK(!chdir(COZBPF_FIXTURES));
	write_file("a.coz", 0);
	run(&s);
	CHECK(!is_file("a.coz.1"));
	/* Renamed, but there is no new file: runs go on into the old one, under its new name. */
	refused = 2;
	run(&s);
	run(&s);
	CHECK(!is_file("a.coz") && is_file("a.coz.1") && !is_file("a.coz.2"));
	CHECK_EQ(said, 1);
	CHECK_EQ(size, 180);
	run(&s);
	CHECK(is_file("a.coz") && is_file("a.coz.1") && !is_file("a.coz.2"));
	CHECK_EQ(size, 60);
	CHECK_EQ(s.runs[1], 3);
	CHECK_EQ(s.runs[0], 1);

	/* A name that cannot be given leaves a gap, and nothing is removed for it. */
	write_file("a.coz.2", 2);
	unnamed = 3;
	run(&s);
	CHECK(is_file("a.coz") && is_file("a.coz.1") && !is_file("a.coz.2") && is_file("a.coz.3"));
	CHECK_EQ(said, 2);
	run(&s);
	CHECK(
	    is_file("a.coz.1") && is_file("a.coz.2") && is_file("a.coz.3") && !is_file("a.coz.4"));
	CHECK_EQ(s.runs[2], 3);
	CHECK_EQ(s.runs[1], 2);
	CHECK_EQ(forgotten, 0);
}
