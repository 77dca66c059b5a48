// SPDX-License-Identifier: BSD-3-Clause
/* Waits as units of what is made faster (--off-cpu): what system calls wait for, and the units that
 * bpf/waits.bpf.c has found. */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "kernel/session_private.h"

#include "cozbpf.skel.h"

/* Not every processor has all of them. */
static const struct {
	int call;
	unsigned char class;
} calls[] = {
    {SYS_fsync, COZBPF_WAIT_IO},
    {SYS_fdatasync, COZBPF_WAIT_IO},
    {SYS_sync, COZBPF_WAIT_IO},
    {SYS_syncfs, COZBPF_WAIT_IO},
    {SYS_sync_file_range, COZBPF_WAIT_IO},
    {SYS_msync, COZBPF_WAIT_IO},
    {SYS_io_getevents, COZBPF_WAIT_IO},
    {SYS_io_uring_enter, COZBPF_WAIT_IO},
    {SYS_openat, COZBPF_WAIT_IO},
    {SYS_statx, COZBPF_WAIT_IO},
    {SYS_newfstatat, COZBPF_WAIT_IO},
    {SYS_getdents64, COZBPF_WAIT_IO},
    {SYS_renameat2, COZBPF_WAIT_IO},
    {SYS_unlinkat, COZBPF_WAIT_IO},
    {SYS_mkdirat, COZBPF_WAIT_IO},
    {SYS_linkat, COZBPF_WAIT_IO},
    {SYS_symlinkat, COZBPF_WAIT_IO},
    {SYS_truncate, COZBPF_WAIT_IO},
    {SYS_ftruncate, COZBPF_WAIT_IO},
    {SYS_fallocate, COZBPF_WAIT_IO},
    {SYS_close, COZBPF_WAIT_BY_FILE},
    {SYS_read, COZBPF_WAIT_BY_FILE},
    {SYS_readv, COZBPF_WAIT_BY_FILE},
    {SYS_pread64, COZBPF_WAIT_BY_FILE},
    {SYS_preadv, COZBPF_WAIT_BY_FILE},
    {SYS_preadv2, COZBPF_WAIT_BY_FILE},
    {SYS_write, COZBPF_WAIT_BY_FILE},
    {SYS_writev, COZBPF_WAIT_BY_FILE},
    {SYS_pwrite64, COZBPF_WAIT_BY_FILE},
    {SYS_pwritev, COZBPF_WAIT_BY_FILE},
    {SYS_pwritev2, COZBPF_WAIT_BY_FILE},
    {SYS_sendfile, COZBPF_WAIT_BY_FILE},
    {SYS_copy_file_range, COZBPF_WAIT_BY_FILE},
    {SYS_futex, COZBPF_WAIT_FUTEX},
    {SYS_flock, COZBPF_WAIT_LOCK},
    {SYS_semop, COZBPF_WAIT_LOCK},
    {SYS_semtimedop, COZBPF_WAIT_LOCK},
    {SYS_ppoll, COZBPF_WAIT_NET},
    {SYS_pselect6, COZBPF_WAIT_NET},
    {SYS_epoll_pwait, COZBPF_WAIT_NET},
    {SYS_accept, COZBPF_WAIT_NET},
    {SYS_accept4, COZBPF_WAIT_NET},
    {SYS_connect, COZBPF_WAIT_NET},
    {SYS_recvfrom, COZBPF_WAIT_NET},
    {SYS_recvmsg, COZBPF_WAIT_NET},
    {SYS_recvmmsg, COZBPF_WAIT_NET},
    {SYS_sendto, COZBPF_WAIT_NET},
    {SYS_sendmsg, COZBPF_WAIT_NET},
    {SYS_sendmmsg, COZBPF_WAIT_NET},
    {SYS_nanosleep, COZBPF_WAIT_SLEEP},
    {SYS_clock_nanosleep, COZBPF_WAIT_SLEEP},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, COZBPF_WAIT_NET},
#endif
#ifdef SYS_poll
    {SYS_poll, COZBPF_WAIT_NET},
    {SYS_select, COZBPF_WAIT_NET},
    {SYS_epoll_wait, COZBPF_WAIT_NET},
    {SYS_open, COZBPF_WAIT_IO},
    {SYS_stat, COZBPF_WAIT_IO},
    {SYS_lstat, COZBPF_WAIT_IO},
    {SYS_rename, COZBPF_WAIT_IO},
    {SYS_unlink, COZBPF_WAIT_IO},
    {SYS_mkdir, COZBPF_WAIT_IO},
    {SYS_rmdir, COZBPF_WAIT_IO},
    {SYS_creat, COZBPF_WAIT_IO},
#endif
};

void waits_prepare(struct cozbpf_bpf *bpf, const struct session_config *c, size_t lines_room)
{
	unsigned char *table = (unsigned char *)bpf->rodata->wait_calls;
	bool wanted = c->waits;

	bpf_program__set_autoload(bpf->progs.on_switch, !wanted);
	bpf_program__set_autoload(bpf->progs.on_waking, !wanted);
	bpf_program__set_autoload(bpf->progs.on_switch_waiter, wanted);
	bpf_program__set_autoload(bpf->progs.on_waking_waiter, wanted);
	bpf_map__set_max_entries(
	    bpf->maps.wait_ids, wanted ? (uint32_t)(lines_room * COZBPF_WAIT_CLASSES) : 1);
	bpf_map__set_max_entries(
	    bpf->maps.wait_lines, wanted ? COZBPF_WAIT_CLASSES * COZBPF_WAIT_UNITS : 1);
	bpf_map__set_max_entries(bpf->maps.wait_stacks, wanted ? COZBPF_WAIT_STACKS : 1);
	bpf_map__set_max_entries(bpf->maps.wakers, wanted ? COZBPF_WAKERS : 1);
	bpf_map__set_max_entries(
	    bpf->maps.wait_call_counts, wanted && !c->call_first ? COZBPF_WAIT_CALLS : 1);
	memset(table, COZBPF_WAIT_OTHER, COZBPF_SYSCALLS);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].call < COZBPF_SYSCALLS)
			table[calls[i].call] = calls[i].class;
}

void session_name_waits(struct session *s, struct line_map *lines)
{
	for (uint32_t class = 0; s->config.waits && class < COZBPF_WAIT_CLASSES; class ++) {
		uint32_t first = class * COZBPF_WAIT_UNITS + COZBPF_WAIT_NO_LINE + 1;
		uint64_t n =
		    __atomic_load_n(&s->wait_lines[class * COZBPF_WAIT_UNITS], __ATOMIC_ACQUIRE);

		/* One that has no line yet is looked at again. */
		while (s->waits_named[class] < n && s->waits_named[class] < WAIT_LINES) {
			uint32_t at = first + s->waits_named[class];
			uint64_t line = __atomic_load_n(&s->wait_lines[at], __ATOMIC_RELAXED);

			if (!line)
				break;
			line_map_name_wait(lines, s->config.wait_first + at, (uint32_t)line);
			s->waits_named[class]++;
		}
	}
}

uint32_t session_add_wait(struct session *s, struct line_map *lines, unsigned class, uint32_t line)
{
	uint32_t own = class * COZBPF_WAIT_UNITS, at, id;

	if (!(s->config.waits >> class & 1) || s->wait_lines[own] >= WAIT_LINES)
		return 0;
	if (!line)
		return s->config.wait_first + own;
	at = own + COZBPF_WAIT_NO_LINE + 1 + (uint32_t)s->wait_lines[own]++;
	id = s->config.wait_first + at;
	s->wait_lines[at] = line;
	s->wait_ids[line * COZBPF_WAIT_CLASSES + class] = id;
	session_name_waits(s, lines);
	return id;
}

/* Takes at most @most counts out of a hash map. Each is its key, of @key_size bytes, and the
 * number. Returns how many there were. */
static size_t take_counts(int fd, size_t key_size, size_t most, void **ret)
{
	size_t size = key_size + sizeof(uint64_t), n = 0;
	char *all = calloc(most, size);

	for (; all && n < most; n++) {
		char *key = all + n * size;

		if (bpf_map_get_next_key(fd, NULL, key) ||
		    bpf_map_lookup_elem(fd, key, key + key_size) || bpf_map_delete_elem(fd, key))
			break;
	}
	*ret = all;
	return n;
}

void session_take_waits(const struct session *s, struct wait_counts *ret)
{
	const struct cozbpf_bpf *bpf = s->bpf;

	_Static_assert(sizeof(struct stack_count) == sizeof(ret->stacks->stack) + sizeof(uint64_t),
	    "a key and its count");
	_Static_assert(sizeof(struct waker_count) == sizeof(ret->wakers->waker) + sizeof(uint64_t),
	    "a key and its count");
	_Static_assert(sizeof(struct call_count) == sizeof(ret->calls->call) + sizeof(uint64_t),
	    "a key and its count");
	*ret = (struct wait_counts){0};
	if (!s->config.waits)
		return;
	ret->n_stacks = take_counts(bpf_map__fd(bpf->maps.wait_stacks), sizeof(ret->stacks->stack),
	    COZBPF_WAIT_STACKS, (void **)&ret->stacks);
	ret->n_wakers = take_counts(bpf_map__fd(bpf->maps.wakers), sizeof(ret->wakers->waker),
	    COZBPF_WAKERS, (void **)&ret->wakers);
	ret->n_calls = take_counts(bpf_map__fd(bpf->maps.wait_call_counts),
	    sizeof(ret->calls->call), COZBPF_WAIT_CALLS, (void **)&ret->calls);
	wait_counts_sort(ret);
}
