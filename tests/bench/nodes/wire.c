// SPDX-License-Identifier: BSD-3-Clause
/*
 * A wire between network namespaces, for kernels without netem: a TUN device in each, and each
 * packet goes on to the namespace of its address after a time, as it is. The n-th namespace of the
 * command line has 10.77.0.n. Says "ready" once the devices are there, and goes on until it is
 * killed.
 *
 * usage: wire DELAY_US DEVICE NAMESPACE...
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define NODES 8
#define PACKET 2048 /* more than a TUN device's packets have */
#define QUEUE 4096
#define AT_ONCE 64

struct packet {
	uint64_t due_ns;
	int to;
	ssize_t size;
	char bytes[PACKET];
};

static struct pollfd nodes[NODES];
static nfds_t n_nodes;
/* The time is the same for all, so packets are due in the order in which they came. */
static struct packet queue[QUEUE];
static uint64_t taken, given;

static void fail(const char *what)
{
	fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* A device in the namespace. */
static int device(const char *space, const char *name)
{
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/var/run/netns/%s", space);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		fail(path);
	close(fd);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &r))
		fail("/dev/net/tun");
	return fd;
}

/* The node of the packet's address; -1: none. */
static int destination(const struct packet *p)
{
	struct iphdr h;
	uint32_t node;

	if (p->size < (ssize_t)sizeof(h))
		return -1;
	memcpy(&h, p->bytes, sizeof(h));
	node = ntohl(h.daddr) - 0x0a4d0001;
	return h.version == 4 && node < n_nodes ? nodes[node].fd : -1;
}

static void take(int fd, uint64_t delay_ns)
{
	for (int i = 0; i < AT_ONCE && taken - given < QUEUE; i++) {
		struct packet *p = &queue[taken % QUEUE];

		p->size = read(fd, p->bytes, sizeof(p->bytes));
		if (p->size <= 0)
			return;
		p->due_ns = now_ns() + delay_ns;
		p->to = destination(p);
		taken += p->to >= 0;
	}
}

/* What a device does not take is lost, as on any wire. */
static void give(void)
{
	for (; given < taken && queue[given % QUEUE].due_ns <= now_ns(); given++)
		if (write(queue[given % QUEUE].to, queue[given % QUEUE].bytes,
			(size_t)queue[given % QUEUE].size) < 0 &&
		    errno != EAGAIN && errno != EIO)
			fail("write");
}

static void wait_for_packets(void)
{
	struct timespec t = {0}, *until = given < taken ? &t : NULL;
	uint64_t now = now_ns();

	if (until && queue[given % QUEUE].due_ns > now)
		t.tv_nsec = (long)(queue[given % QUEUE].due_ns - now);
	if (ppoll(nodes, n_nodes, until, NULL) < 0 && errno != EINTR)
		fail("poll");
}

int main(int argc, char **argv)
{
	const struct sched_param urgent = {.sched_priority = 2};
	uint64_t delay_ns;

	if (argc < 4 || argc - 3 > NODES) {
		fprintf(stderr, "usage: wire DELAY_US DEVICE NAMESPACE...\n");
		return 2;
	}
	delay_ns = strtoull(argv[1], NULL, 10) * 1000;
	for (int i = 3; i < argc; i++)
		nodes[n_nodes++] =
		    (struct pollfd){.fd = device(argv[i], argv[2]), .events = POLLIN};
	/* A wire waits for no CPU, and its timers have no slack. */
	if (sched_setscheduler(0, SCHED_FIFO, &urgent))
		fail("sched_setscheduler");
	puts("ready");
	fflush(stdout);
	for (;;) {
		give();
		wait_for_packets();
		for (nfds_t i = 0; i < n_nodes; i++)
			if (nodes[i].revents & POLLIN)
				take(nodes[i].fd, delay_ns);
	}
}
