// SPDX-License-Identifier: BSD-3-Clause
/*
 * LevelDB as Debian builds it, in slowdir's folder. One thread works 0.5 ms, then puts a value and
 * syncs its log; LevelDB's own thread compacts, and --readers threads get values. A visit is what
 * --visit says: a put or a get. The wait under test is fsync() in any thread.
 */
#include "workload.h"

#include <leveldb/c.h>

#define VALUE_BYTES 1000
#define KEYS 5000 /* all of them are there from the beginning, so that gets stay alike */
#define BUFFER_BYTES (256 << 10) /* of the table in memory: small, so that compaction goes on */

static long work_us = 500, readers = 1;
static const char *visit = "put";
static uint64_t work_iters_each;
static leveldb_t *db;

static void check(const char *what, char *error)
{
	if (!error)
		return;
	fprintf(stderr, "leveldb: %s: %s\n", what, error);
	exit(1);
}

static size_t next_key(uint64_t *seed, char key[16])
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)snprintf(key, 16, "%08u", (unsigned)(*seed >> 33) % KEYS);
}

static void *put_values(void *argument)
{
	leveldb_writeoptions_t *how = leveldb_writeoptions_create();
	char value[VALUE_BYTES], key[16], *error = NULL;
	uint64_t seed = 1;

	memset(value, 'v', sizeof(value));
	leveldb_writeoptions_set_sync(how, 1);
	for (;;) {
		size_t n = next_key(&seed, key);

		SPIN(work_iters_each);
		leveldb_put(db, how, key, n, value, sizeof(value), &error); /* WAIT */
		check("put", error);
		if (*visit == 'p')
			progress();
	}
	return NULL;
}

static void *get_values(void *argument)
{
	leveldb_readoptions_t *how = leveldb_readoptions_create();
	uint64_t seed = 2;
	char key[16];

	for (unsigned nth = 0;; nth++) {
		size_t n = next_key(&seed, key), bytes;
		char *error = NULL, *value = leveldb_get(db, how, key, n, &bytes, &error);

		check("get", error);
		leveldb_free(value);
		if (*visit == 'g' && nth % 100 == 0)
			progress();
	}
	return NULL;
}

static void fill(void)
{
	leveldb_writeoptions_t *how = leveldb_writeoptions_create();
	char value[VALUE_BYTES] = "", key[16], *error = NULL;

	for (int nth = 0; nth < KEYS; nth++) {
		size_t n = (size_t)snprintf(key, sizeof(key), "%08d", nth);

		leveldb_put(db, how, key, n, value, sizeof(value), &error);
		check("put", error);
	}
}

/* The disk is as fast as can be until the store is full. */
static void open_store(void)
{
	leveldb_options_t *options = leveldb_options_create();
	const char *folder = getenv("WORK_FOLDER");
	char path[64], *error = NULL;

	snprintf(path, sizeof(path), "%s/leveldb", folder ? folder : ".");
	leveldb_options_set_create_if_missing(options, 1);
	leveldb_options_set_write_buffer_size(options, BUFFER_BYTES);
	db = leveldb_open(options, path, &error);
	check("open", error);
	work_set_line(100);
	fill();
	work_set_line(work.line_speedup_pct);
	work.start_ns = work_now_ns();
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"work-us", &work_us}, {"readers", &readers}, {"visit", NULL, &visit}, {NULL}};

	work_init(argc, argv, 1, options);
	work_iters_each = work_iters(work_us);
	open_store();
	work_thread(put_values, NULL);
	for (long i = 0; i < readers; i++)
		work_thread(get_values, NULL);
	work_wait();
}
