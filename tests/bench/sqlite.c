// SPDX-License-Identifier: BSD-3-Clause
/*
 * SQLite as Debian builds it, in slowdir's folder. Each thread works 1 ms, then commits one row
 * with synchronous=FULL; a visit is a commit. Other threads compute beside. The wait under test is
 * fsync(). --connection shared: all threads commit by one connection, so they wait for its mutex; a
 * line speedup of 100 % gives each thread a database of its own. --procs: as many processes.
 */
#include "workload.h"

#include <sqlite3.h>

static long work_us = 1000, procs = 1, bystanders = 1;
static const char *connection = "own", *journal = "wal";
static uint64_t work_iters_each;
static sqlite3 *shared; /* or NULL */

static void check(sqlite3 *db, int status)
{
	if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW)
		return;
	fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
	exit(1);
}

__attribute__((format(printf, 2, 3))) static void execute(sqlite3 *db, const char *format, ...)
{
	char text[256];
	va_list more;

	va_start(more, format);
	vsnprintf(text, sizeof(text), format, more);
	va_end(more);
	check(db, sqlite3_exec(db, text, NULL, NULL, NULL));
}

static sqlite3 *open_log(void)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
	const char *folder = getenv("WORK_FOLDER");
	char path[64];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/%d.db", folder ? folder : ".", gettid());
	check(NULL, sqlite3_open_v2(path, &db, flags, NULL));
	execute(db, "PRAGMA journal_mode = %s", journal);
	execute(db, "PRAGMA synchronous = FULL");
	execute(db, "CREATE TABLE log(at INTEGER PRIMARY KEY, text)");
	return db;
}

static void *commit_rows(void *argument)
{
	static const char text[] = "INSERT INTO log(text) VALUES ('a row of one transaction')";
	sqlite3 *own = open_log(), *db;
	sqlite3_stmt *inserts[2] = {NULL}, *insert;

	check(own, sqlite3_prepare_v2(own, text, -1, &inserts[0], NULL));
	if (shared)
		check(shared, sqlite3_prepare_v2(shared, text, -1, &inserts[1], NULL));
	for (;;) {
		int is_shared = shared && work_share() > 0;

		db = is_shared ? shared : own;
		insert = inserts[is_shared];
		SPIN(work_iters_each);
		check(db, sqlite3_step(insert)); /* WAIT */
		check(db, sqlite3_reset(insert));
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"work-us", &work_us}, {"procs", &procs},
	    {"bystanders", &bystanders}, {"connection", NULL, &connection},
	    {"journal", NULL, &journal}, {NULL}};

	work_init(argc, argv, 1, options);
	work_iters_each = work_iters(work_us);
	for (long i = 1; i < procs; i++)
		if (work_fork())
			commit_rows(NULL);
	shared = strcmp(connection, "shared") ? NULL : open_log();
	work_bystanders(bystanders);
	for (long i = 0; i < work.threads; i++)
		work_thread(commit_rows, NULL);
	work_wait();
}
