// SPDX-License-Identifier: BSD-3-Clause
/*
 * One program on two nodes: two processes, each started by itself, tied by TCP. Rank 0 listens, and
 * rank 1 connects. Rank r works --aR us in the line under test and --bR us beside it; a visit is a
 * round of its rank.
 *
 *   pingpong  one works, then the other one: a0 + b0 + a1 + b1
 *   halo      both work, then exchange: the longer of a0 + b0 and a1 + b1
 *   pipeline  rank 0 works up to 8 rounds ahead of rank 1: the longer one, too
 */
#include "workload.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define AHEAD 8
#define AWAIT_S 30
#define ROUND_BYTES 512

static long rank_, port = 7500, a[2] = {1000, 0}, b[2] = {0, 1000};
static const char *pattern = "pingpong", *host = "127.0.0.1";
static uint64_t a_iters, b_iters;
static int peer;

/* A part whose other one never comes ends by SIGALRM. */
static int connected(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, ret = fd;

	alarm(AWAIT_S);
	inet_pton(AF_INET, host, &at.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!rank_) {
		if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
			work_fail("listen");
		ret = accept(fd, NULL, NULL);
	} else {
		for (int i = 0; connect(fd, (struct sockaddr *)&at, sizeof(at)); i++) {
			close(fd);
			if (i == 3000)
				work_fail("connect");
			usleep(10000);
			ret = fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		}
	}
	if (ret < 0 || setsockopt(ret, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		work_fail("socket");
	alarm(0);
	return ret;
}

static void send_round(void)
{
	static char bytes[ROUND_BYTES];

	if (send(peer, bytes, sizeof(bytes), MSG_NOSIGNAL) != sizeof(bytes))
		work_finish(); /* the other one has ended */
}

static void receive_round(void)
{
	char bytes[ROUND_BYTES];

	for (size_t n = 0; n < sizeof(bytes);) {
		ssize_t got = recv(peer, bytes, sizeof(bytes) - n, 0);

		if (got <= 0)
			work_finish();
		n += (size_t)got;
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
		receive_round();
	compute();
	send_round();
	if (!rank_)
		receive_round();
}

static void halo(void)
{
	compute();
	send_round();
	receive_round();
}

static void pipeline(void)
{
	static long ahead;

	if (rank_)
		receive_round();
	compute();
	send_round(); /* rank 1: one more may come */
	if (!rank_ && ++ahead > AHEAD)
		receive_round();
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
	const struct work_option options[] = {{"rank", &rank_}, {"port", &port}, {"a0", &a[0]},
	    {"a1", &a[1]}, {"b0", &b[0]}, {"b1", &b[1]}, {"pattern", NULL, &pattern},
	    {"host", NULL, &host}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters((double)a[rank_ & 1]);
	b_iters = work_iters((double)b[rank_ & 1]);
	peer = connected();
	work.start_ns = work_now_ns();
	work_thread(rounds, NULL);
	work_wait();
}
