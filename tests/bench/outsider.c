/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command beside a disk or a server that only its own service time makes slow. The command,
 * or a workload that a profiler starts there, finds both in its environment (outsider.h). The
 * workload's line speedup shortens the service, so the truth of a wait can be measured.
 *
 * The disk is one file of a FUSE file system, mounted nowhere: nothing is left behind.
 */
#include "service.h"

#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SERVERS 8 /* threads: as many requests are served at once */

static int device, listener;
static int is_written_back; /* the kernel keeps what is written, and fsync() writes it */

static void reply(uint64_t unique, int error, const void *body, size_t bytes)
{
	struct fuse_out_header head = {
	    .len = (uint32_t)(sizeof(head) + bytes), .error = error, .unique = unique};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)body, bytes}};

	/* An interrupted request is gone. */
	if (writev(device, parts, bytes ? 2 : 1) < 0 && errno != ENOENT)
		work_fail("write to /dev/fuse");
}

static void reply_init(const struct fuse_in_header *request, const struct fuse_init_in *asked)
{
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
	    .minor = 31,
	    .max_readahead = asked->max_readahead,
	    .flags = asked->flags & (FUSE_ASYNC_READ | FUSE_BIG_WRITES |
					(is_written_back ? FUSE_WRITEBACK_CACHE : 0)),
	    .max_background = SERVERS,
	    .congestion_threshold = SERVERS,
	    .max_write = OUTSIDER_BLOCK};

	reply(request->unique, 0, &out, sizeof(out));
}

static void reply_attributes(const struct fuse_in_header *request)
{
	struct fuse_attr_out out = {.attr_valid = 3600,
	    .attr = {.ino = request->nodeid,
		.size = OUTSIDER_DISK_BYTES,
		.mode = S_IFREG | 0666,
		.nlink = 1,
		.blksize = 4096}};

	reply(request->unique, 0, &out, sizeof(out));
}

/* Reads and fsync() take the time of the service. Writes do where fsync() waits for them, else the
 * disk's own cache takes them. */
static void serve_request(const struct fuse_in_header *request)
{
	static const char zeroes[OUTSIDER_BLOCK];
	const void *body = request + 1;
	struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};
	struct fuse_write_out written = {0};
	uint32_t bytes;

	switch (request->opcode) {
	case FUSE_INIT:
		return reply_init(request, (const struct fuse_init_in *)body);
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		return reply_attributes(request);
	case FUSE_OPEN:
		return reply(request->unique, 0, &opened, sizeof(opened));
	case FUSE_READ:
		bytes = ((const struct fuse_read_in *)body)->size;
		serve_time();
		return reply(
		    request->unique, 0, zeroes, bytes < sizeof(zeroes) ? bytes : sizeof(zeroes));
	case FUSE_WRITE:
		written.size = ((const struct fuse_write_in *)body)->size;
		if (is_written_back)
			serve_time();
		return reply(request->unique, 0, &written, sizeof(written));
	case FUSE_FSYNC:
		if (!is_written_back)
			serve_time();
		return reply(request->unique, 0, NULL, 0);
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		return reply(request->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		return;
	default: /* FUSE_INTERRUPT too: a request takes its time */
		return reply(request->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve_disk(void *argument)
{
	size_t bytes = OUTSIDER_BLOCK + FUSE_MIN_READ_BUFFER;
	struct fuse_in_header *request = (struct fuse_in_header *)malloc(bytes);

	if (!request)
		work_fail("malloc");
	for (;;) {
		if (read(device, request, bytes) > 0)
			serve_request(request);
		else if (errno != EINTR && errno != ENOENT && errno != EAGAIN)
			work_fail("read from /dev/fuse");
	}
	return NULL;
}

static void answer_all(int connection)
{
	char message[OUTSIDER_MESSAGE];

	while (recv(connection, message, sizeof(message), MSG_WAITALL) == sizeof(message)) {
		serve_time();
		if (send(connection, message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
			return;
	}
}

static void *serve_calls(void *argument)
{
	for (;;) {
		int connection = accept(listener, NULL, NULL);

		if (connection < 0)
			work_fail("accept");
		answer_all(connection);
		close(connection); /* the client has ended */
	}
	return NULL;
}

static void make_disk(void)
{
	int context = fsopen("fuse", FSOPEN_CLOEXEC), mount;
	char text[64];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(text, sizeof(text), "%d", device);
	if (device < 0 || context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "fd", text, 0) ||
	    fsconfig(context, FSCONFIG_SET_STRING, "rootmode", "100666", 0) ||
	    fsconfig(context, FSCONFIG_SET_STRING, "user_id", "0", 0) ||
	    fsconfig(context, FSCONFIG_SET_STRING, "group_id", "0", 0) ||
	    fsconfig(context, FSCONFIG_SET_FLAG, "allow_other", NULL, 0) ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		work_fail("a FUSE file system");
	mount = fsmount(context, 0, 0);
	if (mount < 0)
		work_fail("fsmount");
	tell_descriptor(OUTSIDER_DISK, mount);
}

static void make_server(void)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	char text[16];

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) ||
	    listen(listener, SERVERS) || getsockname(listener, (struct sockaddr *)&address, &size))
		work_fail("listen");
	snprintf(text, sizeof(text), "%d", ntohs(address.sin_port));
	setenv(OUTSIDER_PORT, text, 1);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int is_disk, i;

	is_written_back = !strcmp(kind, "cached-disk");
	is_disk = is_written_back || !strcmp(kind, "disk");
	is_spinning = !strcmp(kind, "spin");
	i = take_service_options(argc, argv, 2);
	if ((!is_disk && !is_spinning && strcmp(kind, "sleep")) || i + 1 >= argc ||
	    strcmp(argv[i], "--")) {
		fprintf(stderr, "usage: outsider disk|cached-disk|sleep|spin [--service-us N] "
				"[--iters-per-ms N] -- COMMAND...\n"
				"cached-disk: its file is written by fsync() only; "
				"sleep, spin: a TCP server that does so\n");
		return 2;
	}
	begin_service();
	(is_disk ? make_disk : make_server)();
	for (int n = 0; n < SERVERS; n++)
		work_thread(is_disk ? serve_disk : serve_calls, NULL);
	return run(argv + i + 1);
}
