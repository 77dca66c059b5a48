// SPDX-License-Identifier: BSD-3-Clause
/*
 * A TCP server under closed load. Four client processes, which belong to the target, send 64 bytes
 * over loopback, and the next 64 as soon as the answer is there. A request takes 1 ms, of which the
 * line has 0.6. --via threads: a thread for each connection; the CPUs are the bottleneck. --via
 * epoll: one thread for all; it is always busy. So s gains a little less than 0.6 s: calls take
 * time too.
 */
#include "workload.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define BYTES 64
#define CLIENTS_MAX WORK_CHILDREN_MAX

static long a_us = 600, b_us = 400, clients = 4;
static const char *via = "threads";
static uint64_t a_iters, b_iters;
static int connections[CLIENTS_MAX];

/* The end of the program ends the clients first; the server must not call that a failure. */
static void send_all(int connection, const char *bytes)
{
	while (send(connection, bytes, BYTES, MSG_NOSIGNAL) != BYTES)
		pause();
}

static void receive_all(int connection, char *bytes)
{
	while (recv(connection, bytes, BYTES, MSG_WAITALL) != BYTES)
		pause();
}

static void run_client(const struct sockaddr_in *server)
{
	int connection = socket(AF_INET, SOCK_STREAM, 0);
	char bytes[BYTES] = "";

	if (connection < 0 || connect(connection, (const struct sockaddr *)server, sizeof(*server)))
		work_fail("connect");
	for (;;) {
		send_all(connection, bytes);
		receive_all(connection, bytes);
	}
}

static void serve_one(int connection)
{
	char bytes[BYTES];

	receive_all(connection, bytes);
	SPIN_LINE(a_iters); /* LINE_A */
	SPIN(b_iters);      /* LINE_B */
	send_all(connection, bytes);
	progress();
}

static void *serve(void *argument)
{
	for (;;)
		serve_one(*(int *)argument);
	return NULL;
}

static void *serve_all(void *argument)
{
	struct epoll_event ready[CLIENTS_MAX];
	int poller = epoll_create1(0);

	for (long i = 0; i < clients; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data = {.fd = connections[i]}};

		if (epoll_ctl(poller, EPOLL_CTL_ADD, connections[i], &event))
			work_fail("epoll_ctl");
	}
	for (;;) {
		int n = epoll_wait(poller, ready, CLIENTS_MAX, -1);

		for (int i = 0; i < n; i++)
			serve_one(ready[i].data.fd);
	}
	return NULL;
}

static void connect_clients(void)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) ||
	    listen(listener, CLIENTS_MAX) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		work_fail("listen");
	for (long i = 0; i < clients; i++) {
		if (work_fork())
			run_client(&address);
		connections[i] = accept(listener, NULL, NULL);
		if (connections[i] < 0)
			work_fail("accept");
	}
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"clients", &clients}, {"via", NULL, &via}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	connect_clients();
	if (!strcmp(via, "epoll"))
		work_thread(serve_all, NULL);
	for (long i = 0; strcmp(via, "epoll") && i < clients; i++)
		work_thread(serve, &connections[i]);
	work_wait();
}
