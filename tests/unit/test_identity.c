// SPDX-License-Identifier: BSD-3-Clause
/* Files that are replaced whole. The rights of other users are tests/e2e's. */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/identity.h"

static const struct identity self;
static char directory[128], path[160];

static void begin(void)
{
	const char *where = getenv("TMPDIR");
	int n = snprintf(directory, sizeof(directory) - 6, "%s/tmp.", where ? where : P_tmpdir);

	CHECK(n > 0 && (size_t)n < sizeof(directory) - 6);
	memset(directory + n, 'X', 6); /* for mkdtemp() */
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/a.prom", directory);
}

static const char *content(void)
{
	static char text[64];
	FILE *in = fopen(path, "r");

	text[in ? fread(text, 1, sizeof(text) - 1, in) : 0] = 0;
	if (in)
		fclose(in);
	return text;
}

static unsigned files(void)
{
	DIR *d = opendir(directory);
	unsigned n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void end(void)
{
	unlink(path);
	CHECK_EQ(rmdir(directory), 0);
}

TEST(replaced_whole)
{
	char part[192];
	struct stat st;
	FILE *left;

	begin();
	CHECK_EQ(identity_replace(&self, path, "one\n", 4), 0);
	CHECK_STR(content(), "one\n");
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 0444, 0444); /* others are to collect it */
	/* what a crash has left */
	snprintf(part, sizeof(part), "%s.%d.part", path, (int)getpid());
	left = fopen(part, "w");
	CHECK(left && !fclose(left));
	CHECK_EQ(identity_replace(&self, path, "two\n", 4), 0);
	CHECK_STR(content(), "two\n");
	CHECK_EQ(files(), 1);
	end();
}

/* The old one stays, and nothing is left. */
TEST(refused)
{
	char other[192];

	begin();
	CHECK_EQ(identity_replace(&self, path, "one\n", 4), 0);
	snprintf(other, sizeof(other), "%s/none/a.prom", directory);
	CHECK_EQ(identity_replace(&self, other, "two\n", 4), -ENOENT);
	snprintf(other, sizeof(other), "%s/dir", directory);
	CHECK_EQ(mkdir(other, 0755), 0);
	CHECK_EQ(identity_replace(&self, other, "two\n", 4), -EISDIR);
	CHECK_EQ(files(), 2);
	CHECK_EQ(rmdir(other), 0);
	CHECK_EQ(symlink(path, other), 0); /* as /dev/stdout is one */
	CHECK_EQ(identity_replace(&self, other, "two\n", 4), -EEXIST);
	CHECK_EQ(unlink(other), 0);
	CHECK_STR(content(), "one\n");
	end();
}

TEST(renamed_and_removed)
{
	char other[192];

	begin();
	snprintf(other, sizeof(other), "%s/b", directory);
	CHECK_EQ(identity_replace(&self, other, "one\n", 4), 0);
	CHECK_EQ(identity_rename(&self, other, path), 0);
	CHECK_STR(content(), "one\n");
	CHECK_EQ(identity_rename(&self, path, NULL), 0);
	CHECK_EQ(identity_rename(&self, path, NULL), -ENOENT);
	end();
}
