// SPDX-License-Identifier: BSD-3-Clause
/* See peers.h. */
#include "kernel/peers.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cozbpf/delay.h>

#include "kernel/compat.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

bool peers_prepare(struct cozbpf_bpf *bpf, bool wanted)
{
	struct btf *btf = wanted ? btf__load_vmlinux_btf() : NULL;

	wanted = compat_has_tcp_tracepoints(btf);
	btf__free(btf);
	bpf_program__set_autoload(bpf->progs.on_socket, wanted);
	bpf_program__set_autoload(bpf->progs.on_send, wanted);
	bpf_program__set_autoload(bpf->progs.on_readable, wanted);
	bpf_program__set_autoload(bpf->progs.on_receive, wanted);
	bpf_map__set_max_entries(bpf->maps.peer_addresses, wanted ? COZBPF_PEER_ADDRESSES : 1);
	return wanted;
}

/* The root of control groups of version 2: all processes are below it. -errno. A later mount may
 * hide one. */
static int open_root(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	int ret = -ENOENT;

	while (mounts && ret < 0 && (m = getmntent(mounts))) {
		if (strcmp(m->mnt_type, "cgroup2"))
			continue;
		ret = open(m->mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (ret < 0)
			ret = -errno;
	}
	if (mounts)
		endmntent(mounts);
	return ret;
}

int session_start_peering(struct session *s, const struct peering_config *c, struct error *e)
{
	struct bpf_link *link;
	uint32_t one = 1;
	int root;

	if (!s->config.peers)
		return error_set(
		    e, EXIT_OTHER, "this kernel lacks what tells of them (Linux 6.16)");
	root = open_root();
	if (root < 0)
		return error_set(e, EXIT_OTHER, "no control groups of version 2 are mounted: %s",
		    strerror(-root));
	s->bpf->bss->peering.key[0] = c->key[0];
	s->bpf->bss->peering.key[1] = c->key[1];
	for (size_t i = 0; i < c->n; i++)
		bpf_map_update_elem(
		    bpf_map__fd(s->bpf->maps.peer_addresses), &c->addresses[i], &one, BPF_ANY);
	link = bpf_program__attach_cgroup(s->bpf->progs.on_socket, root);
	close(root);
	if (!link)
		return error_set(e, EXIT_OTHER, "the kernel does not let sockets be watched: %s",
		    strerror(errno));
	s->links[s->n_links++] = link;
	return 0;
}

void session_set_peering_id(struct session *s, uint32_t id)
{
	__atomic_store_n(&s->bpf->bss->peering.id, id, __ATOMIC_SEQ_CST);
}

static uint64_t bounded(const struct cozbpf_control *c, uint64_t required)
{
	uint64_t most = delay_most_required(c, session_now_ns());

	return required < most ? required : most;
}

uint64_t session_follow(struct session *s, uint32_t id, uint64_t others_ns)
{
	struct cozbpf_control *c = &s->bpf->bss->control;
	uint64_t was = __atomic_load_n(&c->required, __ATOMIC_RELAXED), to = bounded(c, others_ns);

	if (!id || __atomic_load_n(&s->bpf->bss->peering.id, __ATOMIC_SEQ_CST) != id)
		return 0;
	while (to > was && !__atomic_compare_exchange_n(
			       &c->required, &was, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return to > was ? to : was;
}

const struct cozbpf_peering *session_peering(const struct session *s)
{
	return &s->bpf->bss->peering;
}
