// SPDX-License-Identifier: BSD-3-Clause
/* Files in memory that may be cut off meanwhile; see mapped.h. */
#include "symbols/elf/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* An object has three files, and few are open at once. */
#define SLOTS 1024

/* Read by the handler in any thread, so plain atomic numbers. lo is 0 while the slot is free, and
 * set last. */
static struct slot {
	uintptr_t lo, hi;
	bool changed;
} slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who take slots */
static uintptr_t page_mask;

static struct slot *slot_of(uintptr_t addr)
{
	for (size_t i = 0; i < SLOTS; i++) {
		uintptr_t lo = __atomic_load_n(&slots[i].lo, __ATOMIC_ACQUIRE);

		if (lo && addr >= lo && addr < __atomic_load_n(&slots[i].hi, __ATOMIC_RELAXED))
			return &slots[i];
	}
	return NULL;
}

/* All from the page on is gone: it becomes zeros, and the instruction is tried again. A fault that
 * is none of ours comes again, and ends us as it would have without a handler. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr, page = addr & page_mask;
	struct slot *s = slot_of(addr);
	int err = errno;

	(void)context;
	if (s && mmap((void *)page, s->hi - page, PROT_READ | PROT_WRITE,
		     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
		__atomic_store_n(&s->changed, true, __ATOMIC_RELAXED);
	else
		signal(sig, SIG_DFL);
	errno = err;
}

static void install(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_RESTART};

	page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

/* A slot for [lo, hi): its index plus 1; 0: all are taken. */
static int take_slot(uintptr_t lo, uintptr_t hi)
{
	struct slot *s;
	int ret = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; !ret && i < SLOTS; i++)
		ret = slots[i].lo ? 0 : i + 1;
	if (ret) {
		s = &slots[ret - 1];
		__atomic_store_n(&s->changed, false, __ATOMIC_RELAXED);
		__atomic_store_n(&s->hi, hi, __ATOMIC_RELAXED);
		__atomic_store_n(&s->lo, lo, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Not by fstat(), which is newfstatat() by now: that takes paths, and readers may not use it. */
static off_t file_size(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

int mapped_open(struct mapped *m, int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	off_t size = file_size(fd);
	void *data;

	*m = (struct mapped){0};
	if (size <= 0)
		return size ? -errno : 0;
	pthread_once(&once, install);
	/* For libelf, which notes in section headers that it has decompressed them. */
	data = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	*m = (struct mapped){.data = data, .size = (size_t)size};
	m->slot = take_slot((uintptr_t)data, (uintptr_t)data + m->size);
	if (m->slot)
		return 0;
	mapped_close(m);
	return -EMFILE;
}

bool mapped_changed(const struct mapped *m, int fd)
{
	off_t size = file_size(fd);

	return m->slot && (__atomic_load_n(&slots[m->slot - 1].changed, __ATOMIC_RELAXED) ||
			      size < 0 || (size_t)size < m->size);
}

void mapped_close(struct mapped *m)
{
	if (m->slot) {
		pthread_mutex_lock(&lock);
		__atomic_store_n(&slots[m->slot - 1].lo, 0, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&lock);
	}
	if (m->data)
		munmap(m->data, m->size);
	*m = (struct mapped){0};
}
