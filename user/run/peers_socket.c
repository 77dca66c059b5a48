// SPDX-License-Identifier: BSD-3-Clause
/* Addresses, the socket and the key of nodes; see peers.h. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/peers_private.h"

#define KEY_VARIABLE "COZBPF_PEERS_KEY"
#define KEY_ADVICE                                                                                 \
	"make one that all nodes read: (umask 077; head -c 32 /dev/urandom | base64 >peers.key), " \
	"then --peers-key peers.key; or set " KEY_VARIABLE

/* ::ffff:a.b.c.d */
static struct sockaddr_in6 as_ipv6(const struct sockaddr *a)
{
	struct sockaddr_in6 ret = {.sin6_family = AF_INET6};
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;

	if (a->sa_family == AF_INET6) {
		memcpy(&ret, a, sizeof(ret));
		return ret;
	}
	ret.sin6_port = v4->sin_port;
	ret.sin6_addr.s6_addr[10] = ret.sin6_addr.s6_addr[11] = 0xff;
	memcpy(ret.sin6_addr.s6_addr + 12, &v4->sin_addr, 4);
	return ret;
}

static bool is_loopback(const struct sockaddr_in6 *a)
{
	return IN6_IS_ADDR_LOOPBACK(&a->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&a->sin6_addr) && a->sin6_addr.s6_addr[12] == 127);
}

static void add_data_address(struct run_peers *p, const struct sockaddr_in6 *a)
{
	struct cozbpf_address *ret = &p->data[p->n_data];

	if (p->n_data == COZBPF_PEER_ADDRESSES)
		return;
	memcpy(ret->words, a->sin6_addr.s6_addr, sizeof(ret->words));
	if (IN6_IS_ADDR_V4MAPPED(&a->sin6_addr))
		ret->words[2] = 0;
	p->n_data++;
}

static int resolve(struct run_peers *p, unsigned i, struct error *e)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	struct addrinfo *found;
	char port[8];
	int err;

	snprintf(port, sizeof(port), "%u", p->names.names[i].port);
	err = getaddrinfo(p->names.names[i].host, port, &hints, &found);
	if (err) {
		error_set(
		    e, EXIT_USAGE, "node '%s' has no address: %s", p->labels[i], gai_strerror(err));
		return error_hint(
		    e, "give names of --peers as this machine knows them, or addresses");
	}
	p->addresses[i] = as_ipv6(found->ai_addr);
	for (const struct addrinfo *a = found; a; a = a->ai_next) {
		struct sockaddr_in6 one = as_ipv6(a->ai_addr);

		add_data_address(p, &one);
	}
	freeaddrinfo(found);
	return 0;
}

/* 0 or -errno. */
static int bind_to(struct run_peers *p, const struct sockaddr_in6 *a)
{
	int off = 0, err;

	p->fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->fd < 0)
		return -errno;
	setsockopt(p->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	err = bind(p->fd, (const struct sockaddr *)a, sizeof(*a)) ? -errno : 0;
	if (err)
		close(p->fd);
	if (err)
		p->fd = -1;
	return err;
}

/* A machine may know its own name by an address of the loopback, from which others hear nothing. */
static int widen(struct run_peers *p)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6};
	bool all = true;

	for (unsigned i = 0; i < p->names.n; i++)
		all &= is_loopback(&p->addresses[i]);
	if (all || !is_loopback(&p->addresses[p->self]))
		return 0;
	any.sin6_port = p->addresses[p->self].sin6_port;
	close(p->fd);
	return bind_to(p, &any);
}

int run_peers_bind(struct run_peers *p, struct error *e)
{
	int err = -EADDRNOTAVAIL, one = err;

	for (unsigned i = 0; i < p->names.n; i++)
		if (resolve(p, i, e))
			return -1;
	for (p->self = 0; p->self < p->names.n; p->self++) {
		one = bind_to(p, &p->addresses[p->self]);
		if (!one)
			break;
		err = one == -EADDRNOTAVAIL ? err : one;
	}
	if (!one)
		err = widen(p);
	if (!err || (!one && p->fd >= 0))
		return 0;
	if (err == -EADDRNOTAVAIL) {
		error_set(e, EXIT_USAGE, "none of the nodes in --peers is this machine");
		return error_hint(e, "all nodes have the same list, each of them included");
	}
	error_set(e, EXIT_OTHER, "this machine's addresses in --peers cannot be taken: %s",
	    strerror(-err));
	return error_hint(e, "each of its ranks takes one of them: name as many, HOST:PORT; does "
			     "another run have the ports?");
}

unsigned run_peers_find(const struct run_peers *p, const struct sockaddr_in6 *from)
{
	for (unsigned i = 0; i < p->names.n; i++)
		if (p->addresses[i].sin6_port == from->sin6_port &&
		    !memcmp(&p->addresses[i].sin6_addr, &from->sin6_addr, sizeof(from->sin6_addr)))
			return i;
	return COZBPF_PEERS;
}

static int key_of(const char *text, size_t n, struct peer_key *ret, struct error *e)
{
	if (peer_key_make(text, n, ret))
		return 0;
	error_set(e, EXIT_USAGE, "the key of the run is too short: 16 bytes are needed");
	return error_hint(e, KEY_ADVICE);
}

static int key_from_file(const char *path, struct peer_key *ret, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	char text[4096];
	ssize_t n;

	if (fd < 0 || fstat(fd, &st)) {
		error_set(e, EXIT_USAGE, "cannot read the key '%s': %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return error_hint(e, KEY_ADVICE);
	}
	n = read(fd, text, sizeof(text));
	close(fd);
	if (S_ISREG(st.st_mode) && st.st_mode & 077) {
		error_set(e, EXIT_USAGE, "others may read the key '%s'", path);
		return error_hint(e, "chmod 600 %s", path);
	}
	return key_of(text, n > 0 ? (size_t)n : 0, ret, e);
}

int run_peers_read_key(const char *path, struct peer_key *ret, struct error *e)
{
	char *text = getenv(KEY_VARIABLE);
	int err;

	if (path) {
		err = key_from_file(path, ret, e);
	} else if (text) {
		err = key_of(text, strlen(text), ret, e);
	} else {
		error_set(e, EXIT_USAGE, "nodes need a key in common");
		err = error_hint(e, KEY_ADVICE);
	}
	/* The command is not to have it. */
	if (text)
		memset(text, 0, strlen(text));
	unsetenv(KEY_VARIABLE);
	return err;
}
