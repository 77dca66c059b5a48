// SPDX-License-Identifier: BSD-3-Clause
/* Appends runs to a log of `cozbpf blocks`, for several processes at once; see
 * core/blocks/blocklog.h. What a run looks like is in core/blocks/blockformat.c. */
#include "core/blocks/blocklog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/blocks/blockformat.h"
#include "core/text/hash.h"
#include "target/identity.h"

#define LOCK_TRIES 500
#define LOCK_PAUSE_NS 10000000

struct block_log {
	int fd;
	char *path;
	struct block_session session; /* owns its program */
	uint64_t id;                  /* of the session; no other one has it */
	size_t n_places;              /* that are in the log */
};

static int cannot(const struct block_log *log, int err, struct error *e)
{
	error_set(e, EXIT_OTHER, "cannot write the log '%s': %s", log->path, strerror(err));
	return error_hint(e, "name another file with -o");
}

static uint64_t make_id(const struct block_session *session)
{
	struct timespec now = {0};
	uint64_t numbers[3];

	clock_gettime(CLOCK_REALTIME, &now);
	numbers[0] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	numbers[1] = (uint64_t)getpid();
	numbers[2] = session->seed;
	return hash_bytes(0, numbers, sizeof(numbers));
}

/* What the file begins with. It is open for appending only. Returns the bytes, or -errno. */
static ssize_t read_begin(const struct block_log *log, char *text, size_t size)
{
	struct stat st;
	char path[64];
	ssize_t n;
	int fd;

	if (fstat(log->fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", log->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, text, size, 0);
	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

/* A new log gets its first line. Nobody else writes meanwhile. -1 with @e. */
static int begin(struct block_log *log, struct error *e)
{
	char text[64] = "";
	ssize_t n = read_begin(log, text, sizeof(text) - 1);
	FILE *line;

	if (n < 0)
		return cannot(log, (int)-n, e);
	if (n && !block_format_is_log(text, (size_t)n)) {
		error_set(e, EXIT_OTHER, "'%s' is no log of blocks: line 1 is '%.*s'", log->path,
		    (int)strcspn(text, "\n"), text);
		return error_hint(e, "name another file with -o");
	}
	if (n)
		return 0;
	line = fmemopen(text, sizeof(text), "w");
	if (!line)
		return error_set(e, EXIT_OTHER, "out of memory");
	block_format_version(line);
	fclose(line);
	n = (ssize_t)strlen(text);
	return write(log->fd, text, (size_t)n) == n ? 0 : cannot(log, errno ? errno : ENOSPC, e);
}

/* Others that append need some milliseconds. False: one of them keeps the log. Some file systems
 * know no locks. */
static bool lock(int fd)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

int block_log_open(
    const char *path, const struct block_session *session, struct block_log **ret, struct error *e)
{
	struct block_log *log = calloc(1, sizeof(*log));
	struct identity identity;
	int err;

	if (log)
		*log = (struct block_log){
		    .fd = -1, .path = strdup(path), .session = *session, .id = make_id(session)};
	if (log)
		log->session.program = strdup(session->program ? session->program : "");
	if (!log || !log->path || !log->session.program) {
		block_log_close(log);
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	if (identity_resolve(NULL, &identity, e)) {
		block_log_close(log);
		return -1;
	}
	log->fd = identity_open_append(&identity, path);
	err = log->fd < 0 ? cannot(log, -log->fd, e) : 0;
	if (!err && !lock(log->fd))
		err = cannot(log, EBUSY, e);
	if (!err) {
		err = begin(log, e);
		flock(log->fd, LOCK_UN);
	}
	if (err) {
		block_log_close(log);
		return -1;
	}
	*ret = log;
	return 0;
}

/* The whole text, or nothing: what was written of it in vain is cut off again. */
static int append(struct block_log *log, const char *text, size_t n, struct error *e)
{
	struct stat before;
	ssize_t written;
	int err = 0;

	if (!lock(log->fd))
		return cannot(log, EBUSY, e);
	if (fstat(log->fd, &before))
		err = errno;
	errno = 0;
	written = err ? 0 : write(log->fd, text, n);
	if (!err && written != (ssize_t)n) {
		err = errno ? errno : ENOSPC;
		if (S_ISREG(before.st_mode) && ftruncate(log->fd, before.st_size))
			err = errno;
	}
	flock(log->fd, LOCK_UN);
	/* Pipes and the like cannot be synced. */
	if (!err && fsync(log->fd) && errno != EINVAL && errno != EROFS)
		err = errno;
	return err ? cannot(log, err, e) : 0;
}

int block_log_add(struct block_log *log, const struct block_run *run,
    const struct block_place *places, size_t n_places, const struct block_figures *figures,
    size_t n_figures, struct error *e)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int ret = out ? block_format_run(out, log->id, &log->session, run, places, log->n_places,
			    n_places, figures, n_figures)
		      : -ENOMEM;

	if (out && fclose(out))
		ret = -ENOMEM;
	ret = ret ? error_set(e, EXIT_OTHER, "out of memory") : append(log, text, n, e);
	free(text);
	if (!ret)
		log->n_places = n_places;
	return ret;
}

void block_log_close(struct block_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	free(log->path);
	free(log->session.program);
	free(log);
}
