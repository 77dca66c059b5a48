/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program of Debian in slowdir's folder as a workload: libsynced.so counts its visits and
 * times its waits, and this process takes the turns. --program db_bench: RocksDB's own bench, one
 * thread that writes and syncs beside one that reads; a visit is a sync. --program postgres: a
 * server with pgbench as its client; a visit is a message of the client.
 *
 * After "--" comes a command that runs beside, and finds the server's process id in WORK_SERVER.
 */
#include "workload.h"

#include <pwd.h>
#include <stdarg.h>

#define WORDS_MAX 24
#define TRIES_MAX 200 /* for the server to answer, 0.1 s each */
#define PATH_BYTES 256
#define BEGUN 200 /* visits */

static const char *program = "db_bench", *folder, *programs = "/usr/bin", *library = "";
static long clients = 4;

/* Becomes @user and then the command. */
static void become(const char *user, const char *visit, char *const words[])
{
	const struct passwd *who = user ? getpwnam(user) : NULL;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (user && (!who || setgid(who->pw_gid) || setuid(who->pw_uid)))
		work_fail(user);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which clears it */
	if (visit) {
		setenv("LD_PRELOAD", library, 1);
		setenv("WORK_VISIT", visit, 1);
	}
	if (chdir(folder) || !freopen("/dev/null", "w", stdout))
		work_fail(folder);
	execv(words[0], words);
	work_fail(words[0]);
}

/* Starts a program with these words, the last of which is NULL; of its output errors are shown. */
static pid_t start(const char *user, const char *visit, const char *name, ...)
{
	char path[PATH_BYTES], *words[WORDS_MAX] = {path};
	va_list more;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", programs, name);
	va_start(more, name);
	for (int n = 1; n + 1 < WORDS_MAX && (words[n] = va_arg(more, char *)); n++)
		;
	va_end(more);
	pid = fork();
	if (pid < 0)
		work_fail("fork");
	if (!pid)
		become(user, visit, words);
	return pid;
}

/* Starts a program that ends with this one. */
#define START(...) (work.children[work.n_children++] = start(__VA_ARGS__))

static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		work_fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void check(const char *what, int status)
{
	if (!status)
		return;
	fprintf(stderr, "foreign: %s: exit status %d\n", what, status);
	exit(1);
}

static void start_db_bench(void)
{
	char db[PATH_BYTES];

	snprintf(db, sizeof(db), "--db=%s/rocksdb", folder);
	START(NULL, "sync", "db_bench", db, "--benchmarks=readwhilewriting", "--threads=1",
	    "--sync=1", "--num=100000", "--value_size=1000", "--write_buffer_size=262144",
	    "--target_file_size_base=262144", "--compression_type=none", "--progress_reports=0",
	    "--duration=36000", NULL);
}

/* The disk is as fast as can be until the server is ready. */
static pid_t start_postgres(void)
{
	static const char user[] = "postgres";
	char data[PATH_BYTES], number[16];
	int status = 1;
	pid_t server;

	snprintf(data, sizeof(data), "%s/data", folder);
	snprintf(number, sizeof(number), "%ld", clients);
	work_set_line(100);
	check("initdb",
	    status_of(start(user, NULL, "initdb", "-D", data, "-A", "trust", "--no-sync", NULL)));
	server = START(user, "none", "postgres", "-D", data, "-k", folder, "-h", "", NULL);
	for (int i = 0; status && i < TRIES_MAX; i++) {
		usleep(100000);
		status = status_of(start(user, NULL, "pg_isready", "-q", "-h", folder, NULL));
	}
	check("pg_isready", status);
	check(
	    "pgbench -i", status_of(start(user, NULL, "pgbench", "-i", "-q", "-h", folder, NULL)));
	work_set_line(work.line_speedup_pct);
	START(user, "send", "pgbench", "-n", "-N", "-M", "prepared", "-h", folder, "-c", number,
	    "-T", "36000", NULL);
	return server;
}

/* The clients are connected once they have done some work. Then the command runs beside, and this
 * process ends as it does. */
static void run_beside(pid_t server, char **command)
{
	char text[16];
	pid_t pid;

	for (int i = 0; work.counters->visits < BEGUN && i < TRIES_MAX; i++)
		usleep(100000);
	check("too few visits", work.counters->visits < BEGUN);
	snprintf(text, sizeof(text), "%d", server);
	setenv("WORK_SERVER", text, 1);
	pid = fork();
	if (pid < 0)
		work_fail("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execvp(command[0], command);
		work_fail(command[0]);
	}
	exit(status_of(pid));
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"program", NULL, &program},
	    {"programs", NULL, &programs}, {"library", NULL, &library}, {"clients", &clients},
	    {NULL}};
	pid_t server = 0;
	int n = 1;

	while (n < argc && strcmp(argv[n], "--"))
		n++;
	work_init(n, argv, 1, options);
	folder = getenv("WORK_FOLDER");
	if (!folder)
		work_fail("begin the command with 'slowdir --'; WORK_FOLDER");
	if (!strcmp(program, "db_bench"))
		start_db_bench();
	else
		server = start_postgres();
	work.start_ns = work_now_ns();
	if (n < argc)
		run_beside(server, argv + n + 1);
	work_wait();
}
