// SPDX-License-Identifier: BSD-3-Clause
/*
 * One program on many nodes: processes, each started by itself, tied by TCP into a ring. Of two,
 * rank 0 listens, and rank 1 connects. Rank 0 works --a0 us in the line under test and --b0 us
 * beside it, the others --a1 and --b1; a visit is a round of its rank.
 *
 *   pingpong  one works, then the next one: the sum of all
 *   halo      all work, then exchange with both neighbours: the longest of all
 *   pipeline  each works up to 8 rounds ahead of the next one: the longest, too
 */
#include "workload.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define AHEAD 8
#define AWAIT_S 30
#define BYTES_MAX 65536

static long rank_, ranks = 2, port = 7500, bytes = 512, a[2] = {1000, 0}, b[2] = {0, 1000};
static const char *pattern = "pingpong", *hosts = "127.0.0.1"; /* the last one is all others' */
static uint64_t a_iters, b_iters;
static int left = -1, right = -1; /* of two ranks these are one */

static struct sockaddr_in address(long rank)
{
	struct sockaddr_in ret = {
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)(port + rank))};
	const char *at = hosts, *comma;
	char host[INET_ADDRSTRLEN] = "";

	for (long i = 0; i < rank && (comma = strchr(at, ',')); i++)
		at = comma + 1;
	snprintf(host, sizeof(host), "%.*s", (int)strcspn(at, ","), at);
	inet_pton(AF_INET, host, &ret.sin_addr);
	return ret;
}

static int listening(void)
{
	struct sockaddr_in at = address(rank_);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
		work_fail("listen");
	return fd;
}

static int reached(long rank)
{
	struct sockaddr_in at = address(rank);
	int ret = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	for (int i = 0; connect(ret, (struct sockaddr *)&at, sizeof(at)); i++) {
		close(ret);
		if (i == 3000)
			work_fail("connect");
		usleep(10000);
		ret = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	return ret;
}

/* A part whose other ones never come ends by SIGALRM. */
static void connect_all(void)
{
	int one = 1, listener = !rank_ || ranks > 2 ? listening() : -1;

	alarm(AWAIT_S);
	if (rank_ || ranks > 2)
		left = reached((rank_ + ranks - 1) % ranks);
	if (listener >= 0)
		right = accept(listener, NULL, NULL);
	if (left < 0)
		left = right;
	if (right < 0)
		right = left;
	if (setsockopt(left, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(right, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		work_fail("socket");
	alarm(0);
}

static char round_bytes[BYTES_MAX];

static void send_round(int peer)
{
	if (send(peer, round_bytes, (size_t)bytes, MSG_NOSIGNAL) != bytes)
		work_finish(); /* the other one has ended */
}

static void receive_round(int peer)
{
	for (long n = 0; n < bytes;) {
		ssize_t got = recv(peer, round_bytes, (size_t)(bytes - n), 0);

		if (got <= 0)
			work_finish();
		n += got;
	}
}

static void compute(void)
{
	SPIN_LINE(a_iters); /* LINE_A */
	SPIN(b_iters);
}

static void pingpong(void)
{
	if (rank_)
		receive_round(left);
	compute();
	send_round(right);
	if (!rank_)
		receive_round(left);
}

static void halo(void)
{
	compute();
	send_round(right);
	if (ranks > 2)
		send_round(left);
	receive_round(left);
	if (ranks > 2)
		receive_round(right);
}

static void pipeline(void)
{
	static long ahead;
	int is_last = rank_ == ranks - 1;

	if (rank_)
		receive_round(left);
	compute();
	if (!is_last)
		send_round(right);
	if (rank_)
		send_round(left); /* one more may come */
	if (!is_last && ++ahead > AHEAD)
		receive_round(right);
}

static void *rounds(void *unused)
{
	void (*one)(void) = !strcmp(pattern, "halo")       ? halo
			    : !strcmp(pattern, "pipeline") ? pipeline
							   : pingpong;

	for (;;) {
		one();
		progress();
	}
	return unused;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"rank", &rank_}, {"ranks", &ranks}, {"port", &port},
	    {"bytes", &bytes}, {"a0", &a[0]}, {"a1", &a[1]}, {"b0", &b[0]}, {"b1", &b[1]},
	    {"pattern", NULL, &pattern}, {"hosts", NULL, &hosts}, {NULL}};

	work_init(argc, argv, 1, options);
	if (bytes < 1 || bytes > BYTES_MAX)
		work_fail("--bytes");
	a_iters = work_iters((double)a[rank_ > 0]);
	b_iters = work_iters((double)b[rank_ > 0]);
	connect_all();
	work.start_ns = work_now_ns();
	work_thread(rounds, NULL);
	work_wait();
}
