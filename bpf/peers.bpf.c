// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Nodes that share their delays (--peers): data that a thread of the target sends to a peer carries
 * the sender's L in an option of TCP, and who waits for the data over there joins with that L
 * (JOIN_PEER). The option goes to addresses of peers only, while an experiment is open. What comes
 * in is somebody else's word: it counts if it was made with the run's key and claims no more than
 * has been possible.
 */
#include "spin.bpf.h"
#include <bpf/bpf_endian.h>
#include <cozbpf/siphash.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A peer may have opened the experiment that much earlier. */
#define EARLIER_NS 50000000ULL

#define AF_INET 2
#define AF_INET6 10

/* Connections with peers; created by on_socket, told what is sent by on_send. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cozbpf_socket);
} sockets SEC(".maps");

/* Written by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* COZBPF_PEER_ADDRESSES with peers, set by the loader */
	__type(key, struct cozbpf_address);
	__type(value, __u32);
} peer_addresses SEC(".maps");

struct option {
	__u8 kind, size;
	__u16 magic;
	__u32 id, paid, tag;
};

static __always_inline __u32 tag_of(__u32 id, __u32 paid)
{
	struct siphash h;

	siphash_begin(&h, (const __u64 *)peering.key);
	siphash_word(&h, (__u64)id << 32 | paid);
	return (__u32)siphash_end(&h, 8ULL << 56);
}

/* A connection has been made: with a peer? */
static __always_inline void opened(struct bpf_sock_ops *ops)
{
	struct cozbpf_address a = {};
	struct bpf_sock *sk = ops->sk;

	if (ops->family == AF_INET) {
		a.words[3] = ops->remote_ip4;
	} else if (ops->family == AF_INET6) {
		a.words[0] = ops->remote_ip6[0];
		a.words[1] = ops->remote_ip6[1];
		a.words[2] = ops->remote_ip6[2];
		a.words[3] = ops->remote_ip6[3];
		if (!a.words[0] && !a.words[1] && a.words[2] == bpf_htonl(0xffff))
			a.words[2] = 0; /* IPv4 through a socket of IPv6 */
	}
	if (!sk || !bpf_map_lookup_elem(&peer_addresses, &a))
		return;
	if (!bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE)) {
		__sync_fetch_and_add(&control.storage_lost, 1);
		return;
	}
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags |
					   BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG |
					   BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG);
	__sync_fetch_and_add(&peering.sockets, 1);
}

/* What the socket is to tell; NULL: nothing. */
static __always_inline struct cozbpf_socket *to_tell(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct cozbpf_socket *s = sk ? bpf_sk_storage_get(&sockets, sk, 0, 0) : NULL;

	if (!s || !DELAY_READ(control.active) || !peering.id || !s->epoch ||
	    s->epoch != DELAY_READ(control.epoch))
		return NULL;
	return s;
}

static __always_inline void tell(struct bpf_sock_ops *ops)
{
	struct cozbpf_socket *s = to_tell(ops);
	struct option o = {.kind = COZBPF_OPTION_KIND, .size = COZBPF_OPTION_SIZE};
	__u32 id = peering.id, paid;

	if (!s)
		return;
	paid = (__u32)(s->paid >> COZBPF_OPTION_SHIFT);
	o.magic = bpf_htons(COZBPF_OPTION_MAGIC);
	o.id = bpf_htonl(id);
	o.paid = bpf_htonl(paid);
	o.tag = bpf_htonl(tag_of(id, paid));
	bpf_store_hdr_opt(ops, &o, sizeof(o), 0);
}

/* A packet with an option that the kernel does not know has come. */
static __always_inline void hear(struct bpf_sock_ops *ops)
{
	struct option o = {.kind = COZBPF_OPTION_KIND, .size = 4};
	struct bpf_sock *sk = ops->sk;
	struct cozbpf_socket *s = sk ? bpf_sk_storage_get(&sockets, sk, 0, 0) : NULL;
	__u64 paid, now = bpf_ktime_get_ns();

	o.magic = bpf_htons(COZBPF_OPTION_MAGIC);
	if (!s || bpf_load_hdr_opt(ops, &o, sizeof(o), 0) != sizeof(o))
		return;
	if (!DELAY_READ(control.active) || bpf_ntohl(o.id) != peering.id) {
		__sync_fetch_and_add(&peering.stale, 1);
		return;
	}
	paid = (__u64)bpf_ntohl(o.paid) << COZBPF_OPTION_SHIFT;
	if (bpf_ntohl(o.tag) != tag_of(bpf_ntohl(o.id), bpf_ntohl(o.paid)) ||
	    paid > delay_most_required(&control, now) + EARLIER_NS) {
		__sync_fetch_and_add(&peering.forged, 1);
		return;
	}
	s->arrived = paid;
	s->arrived_epoch = DELAY_READ(control.epoch);
	delay_raise_required(&control, paid);
	__sync_fetch_and_add(&peering.told, 1);
}

/* Hook: what becomes of connections of the control group; task or softirq context. No loops. */
SEC("sockops")
int on_socket(struct bpf_sock_ops *ops)
{
	switch (ops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		opened(ops);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		/* The size of segments leaves room for the option at all times. Else an
		 * experiment's first full ones would be longer than the way takes, and come 200 ms
		 * late. */
		if (ops->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS || to_tell(ops))
			bpf_reserve_hdr_opt(ops, COZBPF_OPTION_SIZE, 0);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		tell(ops);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		hear(ops);
		break;
	}
	return 1;
}

/* Hook: a thread sends, task context. Its L is read only: samples may come in between. No loops. */
SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(on_send, struct sock *sk)
{
	struct cozbpf_thread *t = thread_of(bpf_get_current_task_btf());
	struct cozbpf_socket *s;
	__u64 now;

	if (!t || !DELAY_READ(control.active))
		return 0;
	s = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!s)
		return 0;
	now = bpf_ktime_get_ns();
	s->paid = now - delay_virtual_time(t, &control, now);
	s->epoch = DELAY_READ(control.epoch);
	return 0;
}

/* Hook: a socket becomes readable, so that who waits for it is about to be woken; task or softirq
 * context. No loops. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_readable, struct sock *sk)
{
	__u32 zero = 0;
	struct cozbpf_arrival *a = bpf_map_lookup_elem(&arrivals, &zero);
	struct cozbpf_socket *s = bpf_sk_storage_get(&sockets, sk, 0, 0);

	if (s)
		s->arrived_at = bpf_ktime_get_ns();
	if (!a)
		return 0;
	a->epoch = s ? s->arrived_epoch : 0;
	a->paid = s ? s->arrived : 0;
	a->at = bpf_ktime_get_ns();
	return 0;
}

/* Hook: a thread has taken @size bytes from a socket, task context: who polls has waited for them.
 * No loops. */
SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int size)
{
	struct cozbpf_thread *t = thread_of(bpf_get_current_task_btf());
	struct cozbpf_earner *own;
	struct cozbpf_socket *s;

	if (!t || size <= 0 || !DELAY_READ(control.spins) || !DELAY_READ(control.active))
		return 0;
	s = bpf_sk_storage_get(&sockets, sk, 0, 0);
	own = earner_of(bpf_get_smp_processor_id());
	if (!s || !own || s->arrived_epoch != DELAY_READ(control.epoch))
		return 0;
	if (delay_on_receive(t, &control, own, s->arrived, s->arrived_at, bpf_ktime_get_ns()))
		__sync_fetch_and_add(&peering.joined, 1);
	return 0;
}
