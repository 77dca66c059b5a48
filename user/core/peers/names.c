// SPDX-License-Identifier: BSD-3-Clause
/* The list of nodes; see names.h. */
#include "core/peers/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int too_many(struct error *e)
{
	error_set(e, EXIT_USAGE, "more than %d nodes are named", COZBPF_PEERS);
	return error_hint(e, "a run has that many at most");
}

/* @explicit: the port was given. */
static int add(
    struct peer_names *l, const char *host, size_t n, unsigned port, bool explicit, struct error *e)
{
	struct peer_name *name = &l->names[l->n];
	unsigned again = 0;

	if (l->n == COZBPF_PEERS)
		return too_many(e);
	if (!n || n >= sizeof(name->host)) {
		error_set(e, EXIT_USAGE, "a list of nodes has one of %zu characters", n);
		return error_hint(e, "give --peers HOST[:PORT],HOST[:PORT],...");
	}
	memcpy(name->host, host, n);
	name->host[n] = 0;
	for (unsigned i = 0; i < l->n && !explicit; i++)
		again += !strcmp(l->names[i].host, name->host);
	name->port = port + again;
	for (unsigned i = 0; i < l->n; i++)
		if (l->names[i].port == name->port && !strcmp(l->names[i].host, name->host))
			return error_set(e, EXIT_USAGE, "the list of nodes has '%s:%u' twice",
			    name->host, name->port);
	l->n++;
	return 0;
}

/* node[1-3,07]: one part of what is in the brackets, from @from to @end. */
struct pattern {
	const char *before, *from, *end, *after;
	size_t n_before, n_after;
};

static int add_numbers(
    struct peer_names *l, const struct pattern *p, unsigned port, bool explicit, struct error *e)
{
	char host[PEER_HOST], *stop;
	unsigned long first = strtoul(p->from, &stop, 10), last = first;
	int digits = (int)(stop - p->from);

	if (stop < p->end && *stop == '-' && isdigit((unsigned char)stop[1]))
		last = strtoul(stop + 1, &stop, 10);
	if (!digits || digits > 9 || stop != p->end || last < first) {
		error_set(
		    e, EXIT_USAGE, "'%.*s' is no range of nodes", (int)(p->end - p->from), p->from);
		return error_hint(e, "give numbers, such as node[1-3,7]");
	}
	for (unsigned long i = first; i <= last; i++) {
		int n = snprintf(host, sizeof(host), "%.*s%0*lu%.*s", (int)p->n_before, p->before,
		    digits, i, (int)p->n_after, p->after);

		if (add(l, host, n > 0 ? (size_t)n : 0, port, explicit, e))
			return -1;
	}
	return 0;
}

/* @word has @n characters; @open is its bracket. */
static int add_ranges(struct peer_names *l, const char *word, size_t n, const char *open,
    unsigned port, bool explicit, struct error *e)
{
	const char *close = memchr(open, ']', n - (size_t)(open - word));
	struct pattern p = {.before = word, .n_before = (size_t)(open - word), .from = open + 1};

	if (!close)
		return error_set(
		    e, EXIT_USAGE, "'%.*s' has a bracket that is not closed", (int)n, word);
	p.after = close + 1;
	p.n_after = n - (size_t)(close + 1 - word);
	for (;; p.from = p.end + 1) {
		p.end = memchr(p.from, ',', (size_t)(close - p.from));
		p.end = p.end ? p.end : close;
		if (add_numbers(l, &p, port, explicit, e))
			return -1;
		if (p.end == close)
			return 0;
	}
}

/* One word of the list. */
static int add_word(struct peer_names *l, const char *word, size_t n, struct error *e)
{
	bool is_address = *word == '[';
	const char *open = memchr(word, '[', n), *close = is_address ? memchr(word, ']', n) : NULL,
		   *colon = memrchr(word, ':', n);
	unsigned long port = PEER_PORT;
	size_t length = n;
	char *end;

	if (colon && (!is_address || (close && colon == close + 1))) {
		port = strtoul(colon + 1, &end, 10);
		if (end != word + n || end == colon + 1 || !port || port > 65535) {
			error_set(e, EXIT_USAGE, "'%.*s' has no port", (int)n, word);
			return error_hint(e,
			    "give HOST:PORT, or HOST for port %d; an address of "
			    "IPv6 in brackets",
			    PEER_PORT);
		}
		length = (size_t)(colon - word);
	}
	if (is_address) {
		if (!close || close + 1 != word + length)
			return error_set(e, EXIT_USAGE, "'%.*s' is no address", (int)n, word);
		return add(l, word + 1, length - 2, (unsigned)port, length != n, e);
	}
	if (open)
		return add_ranges(l, word, length, open, (unsigned)port, length != n, e);
	return add(l, word, length, (unsigned)port, length != n, e);
}

/* The end of the first word of a list: a comma in brackets is none. */
static const char *end_of_word(const char *c)
{
	bool is_within = false;

	for (; *c && (is_within || *c != ','); c++)
		is_within = *c == '[' || (is_within && *c != ']');
	return c;
}

static int enough(const struct peer_names *l, struct error *e)
{
	if (l->n > 1)
		return 0;
	error_set(e, EXIT_USAGE, "a run of one node has no peers");
	return error_hint(e, "name all nodes, this one included, or leave --peers out");
}

static int parse(struct peer_names *ret, const char *text, struct error *e)
{
	ret->n = 0;
	for (const char *end;; text = end + 1) {
		end = end_of_word(text);
		if (add_word(ret, text, (size_t)(end - text), e))
			return -1;
		if (!*end)
			return 0;
	}
}

int peer_names_parse(struct peer_names *ret, const char *text, struct error *e)
{
	return parse(ret, text, e) || enough(ret, e) ? -1 : 0;
}

/* "2(x3),1": tasks on each node. Repeats each host of @hosts as often. */
static int repeat(
    struct peer_names *ret, const struct peer_names *hosts, const char *tasks, struct error *e)
{
	unsigned long each = 1, times = 0;

	ret->n = 0;
	for (unsigned i = 0; i < hosts->n; i++) {
		char *end;

		if (!times && tasks && isdigit((unsigned char)*tasks)) {
			each = strtoul(tasks, &end, 10);
			times = !strncmp(end, "(x", 2) ? strtoul(end + 2, &end, 10) : 1;
			tasks = *end == ')' ? end + 1 : end;
			tasks += *tasks == ',';
		}
		times -= times > 0;
		for (unsigned long j = 0; j < each; j++)
			if (add(ret, hosts->names[i].host, strlen(hosts->names[i].host), PEER_PORT,
				false, e))
				return -1;
	}
	return enough(ret, e);
}

/* @size ranks, @local of them on this host: all others are elsewhere, and nobody says where. */
static int of_ranks(struct peer_names *ret, const char *size, const char *local, struct error *e)
{
	long n = size ? strtol(size, NULL, 10) : 0;

	if (!size || !local || n != strtol(local, NULL, 10)) {
		error_set(e, EXIT_USAGE,
		    size ? "the job has ranks on other hosts, which its environment does not name"
			 : "no engine of jobs has named the nodes");
		return error_hint(
		    e, "name them, this one included: --peers HOST[:PORT],HOST[:PORT]");
	}
	ret->n = 0;
	for (long i = 0; i < n; i++)
		if (add(ret, "127.0.0.1", strlen("127.0.0.1"), PEER_PORT, false, e))
			return -1;
	return enough(ret, e);
}

int peer_names_of_job(struct peer_names *ret, peer_lookup *get, struct error *e)
{
	const char *nodes = get("SLURM_STEP_NODELIST"), *tasks = get("SLURM_STEP_TASKS_PER_NODE");
	struct peer_names hosts;

	if (!nodes) {
		nodes = get("SLURM_NODELIST");
		nodes = nodes ? nodes : get("SLURM_JOB_NODELIST");
		tasks = get("SLURM_TASKS_PER_NODE");
	}
	/* mpirun within a job of Slurm: its own ranks */
	if (get("OMPI_COMM_WORLD_SIZE"))
		return of_ranks(
		    ret, get("OMPI_COMM_WORLD_SIZE"), get("OMPI_COMM_WORLD_LOCAL_SIZE"), e);
	if (get("PMI_SIZE") && get("MPI_LOCALNRANKS"))
		return of_ranks(ret, get("PMI_SIZE"), get("MPI_LOCALNRANKS"), e);
	if (!nodes)
		return of_ranks(ret, get("PMI_SIZE"), NULL, e);
	return parse(&hosts, nodes, e) || repeat(ret, &hosts, tasks, e) ? -1 : 0;
}
