// SPDX-License-Identifier: BSD-3-Clause
/* See inject.h. */
#include "target/inject.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cozbpf/abi.h>
#include "shim_blob.h"
#include "target/filters.h"
#include "target/keeper.h"
#include "target/maps.h"
#include "target/procfs.h"
#include "target/tracee.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE)) /* 4, 16 or 64 kB on arm64 */
#define RT_MIN 34
#define RT_MAX 64
#define CATCH_ALL 24          /* a runtime that handles so many real-time signals handles all */
#define OLD_ACTION 64         /* place in the scratch page, which begins with the new action */
#define LEAVE_NS 200000000ULL /* time for threads to leave the handler */
#define LEAVE_POLL_NS 1000000
#define MAX_UNBLOCKED 4096
#define TRANSIENT_NS 2000000

_Static_assert(
    sizeof(shim_blob) <= 4096 && sizeof(shim_blob) % 8 == 0, "the blob is one page at most");

/* Of the blob, whose words differ from process to process. */
#define CODE_SIZE (sizeof(shim_blob) - sizeof(struct cozbpf_handler_words))

static uint64_t bit(int signal)
{
	return 1ULL << (signal - 1);
}

bool inject_all_handled(const struct signal_masks *masks)
{
	return __builtin_popcountll(masks->caught >> (RT_MIN - 1)) >= CATCH_ALL;
}

struct blocked_any {
	uint64_t mask;
};

static bool add_blocked(int pid, int tid, void *arg)
{
	struct signal_masks masks;

	procfs_signals(pid, tid, &masks);
	((struct blocked_any *)arg)->mask |= masks.blocked;
	return true;
}

/* The first signal that is not in @taken, from the usual one upwards and around. */
static int first_free(uint64_t taken)
{
	for (int i = 0; i <= RT_MAX - RT_MIN; i++) {
		int signal = RT_MIN + (INJECT_FIRST_SIGNAL - RT_MIN + i) % (RT_MAX - RT_MIN + 1);

		if (!(taken & bit(signal)))
			return signal;
	}
	return 0;
}

int inject_choose_signal(const int *pids, unsigned n, struct error *e)
{
	uint64_t used = 0, held = ~0ULL << (RT_MIN - 1);
	struct blocked_any blocked = {0};
	int signal;

	for (unsigned i = 0; i < n; i++) {
		struct signal_masks masks;

		procfs_signals(pids[i], procfs_live_thread(pids[i]), &masks);
		procfs_threads(pids[i], add_blocked, &blocked);
		used |= masks.ignored | masks.caught;
		if (inject_all_handled(&masks))
			held &= ~masks.ignored;
		else
			held &= ~(masks.ignored | masks.caught);
	}
	signal = first_free(used | blocked.mask);
	signal = signal ? signal : first_free(used);
	signal = signal ? signal : first_free(~held);
	if (signal)
		return signal;
	return error_set(
	    e, EXIT_FORBIDDEN, "there is no real-time signal left that the target does not use");
}

/* Whether our code is there. That of another build stays, and nothing leads to it. */
static bool is_page(int pid, uint64_t at)
{
	uint8_t page[sizeof(shim_blob)];

	return at && procfs_read_memory(pid, at, page, sizeof(page)) &&
	       !memcmp(page, shim_blob, CODE_SIZE);
}

/* The page that an earlier cozbpf left in the process, or that it has inherited: anonymous,
 * executable, with our code. The kernel may have joined it with a mapping above. 0: none. */
static uint64_t find_page(int pid)
{
	uint64_t start, end, offset, ino, found = 0;
	unsigned major, minor;
	char path[64], *line = NULL, perms[5];
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", procfs_live_thread(pid));
	f = fopen(path, "re");
	while (f && !found && getline(&line, &size, f) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &start,
			&end, perms, &offset, &major, &minor, &ino) != 7 ||
		    strcmp(perms, "r-xp") || ino || !is_page(pid, start))
			continue;
		found = start;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Whether the action is our handler's, in any page. */
static bool is_ours(const struct signal_action *a)
{
	return a->handler > 1 && a->flags == COZBPF_HANDLER_FLAGS &&
	       a->restorer == a->handler + COZBPF_HANDLER_DISTANCE;
}

static int64_t map_page(struct tracee *t, int protection)
{
	const uint64_t args[6] = {
	    0, PAGE, (uint64_t)protection, MAP_PRIVATE | MAP_ANONYMOUS, ~0ULL, 0};

	return tracee_call(t, SYS_mmap, args);
}

static void unmap(struct tracee *t, uint64_t at, size_t size)
{
	tracee_call(t, SYS_munmap, (const uint64_t[6]){at, size});
}

/* Sets the action of the signal (NULL: leaves it), by way of the page at @scratch, and reads back
 * the old one. Returns 0 or -errno. */
static int set_action(struct tracee *t, uint64_t scratch, int signal,
    const struct signal_action *action, struct signal_action *ret_before)
{
	const uint64_t args[6] = {(uint64_t)signal, action ? scratch : 0, scratch + OLD_ACTION, 8};
	int64_t err;

	if (action && !tracee_write(t, scratch, action, sizeof(*action)))
		return -EFAULT;
	err = tracee_call(t, SYS_rt_sigaction, args);
	if (err)
		return (int)err;
	return tracee_read(t, scratch + OLD_ACTION, ret_before, sizeof(*ret_before)) ? 0 : -EFAULT;
}

/* Maps a page with the code. The page is executable and read-only from the beginning, since a
 * process may refuse to make memory executable (PR_SET_MDWE). Returns its address or -errno. */
static int64_t map_code(struct tracee *t)
{
	int64_t at = map_page(t, PROT_READ | PROT_EXEC);

	if (at < 0 || tracee_write(t, (uint64_t)at, shim_blob, sizeof(shim_blob)))
		return at;
	unmap(t, (uint64_t)at, PAGE);
	return -EFAULT;
}

/* Stands at the end of the page, for a later cozbpf in case this one is killed. */
struct left_record {
	uint64_t signal, owner;
	struct signal_action before;
};
#define LEFT_AT (PAGE - sizeof(struct left_record))

/* Tells the pages of this cozbpf from those of another that profiles at the same time. */
static uint64_t owner_id(void)
{
	return (uint64_t)getpid() << 40 ^ procfs_start(getpid());
}

/* Whether our page is in the process still. */
static bool has_page(int pid, const struct injection *i)
{
	struct left_record left;

	return procfs_read_memory(pid, i->at + LEFT_AT, &left, sizeof(left)) &&
	       left.signal == (uint64_t)i->signal && left.owner == i->owner;
}

bool inject_inherited(int pid, int signal, struct injection *ret)
{
	struct signal_masks masks;
	struct left_record left;
	uint64_t at;

	/* This lets the memory of most other processes be. */
	if (!procfs_signals(pid, procfs_live_thread(pid), &masks) ||
	    !((masks.caught | masks.ignored) & bit(signal)))
		return false;
	at = find_page(pid);
	if (!at || !procfs_read_memory(pid, at + LEFT_AT, &left, sizeof(left)) ||
	    left.signal != (uint64_t)signal || left.owner != owner_id())
		return false;
	*ret = (struct injection){.pid = pid,
	    .signal = signal,
	    .start = procfs_start(pid),
	    .owner = left.owner,
	    .at = at,
	    .before = left.before,
	    .ignored = true, /* forked while its parent's handler was taken out */
	    .inherited = true};
	/* Most likely its own choice: its parent's is an instant's, and does no harm. */
	if (masks.ignored & bit(signal) && !left.before.handler)
		ret->before.handler = 1;
	return true;
}

/* An earlier cozbpf was killed: its handler is taken off the signals that lead to it. Ignoring a
 * signal first discards pending ones. */
static void clear_left(struct tracee *t, const struct injection *i, uint64_t scratch)
{
	const struct signal_action ignore = {.handler = 1}, none = {0};
	struct signal_action was;
	struct signal_masks masks;
	struct left_record left;

	if (!procfs_read_memory(t->pid, i->at + LEFT_AT, &left, sizeof(left)))
		left.signal = 0;
	procfs_signals(t->pid, t->tid, &masks);
	for (int signal = RT_MIN; signal <= RT_MAX; signal++) {
		if (!(masks.caught & bit(signal)) || set_action(t, scratch, signal, NULL, &was) ||
		    was.handler != i->at || !is_ours(&was))
			continue;
		set_action(t, scratch, signal, &ignore, &was);
		set_action(t, scratch, signal,
		    left.signal == (uint64_t)signal ? &left.before : &none, &was);
	}
}

/* Everything that the held thread does for the injection. Returns 0 or -errno; -EBUSY: the program
 * uses the signal itself. */
static int install(struct tracee *t, struct injection *i, uint64_t clock_gettime, bool takes_over)
{
	const struct cozbpf_handler_words words = {i->quantum_ns, clock_gettime};
	struct signal_action action = {.flags = COZBPF_HANDLER_FLAGS}, ignored;
	uint64_t scratch;
	int64_t at = map_page(t, PROT_READ | PROT_WRITE);
	int err = 0;

	if (at < 0)
		return (int)at;
	scratch = (uint64_t)at;
	if (!i->at) {
		at = map_code(t);
		if (at < 0)
			err = (int)at;
		else
			i->at = (uint64_t)at;
	}
	if (i->reused)
		clear_left(t, i, scratch);
	if (!err && !tracee_write(t, i->at + CODE_SIZE, &words, sizeof(words)))
		err = -EFAULT;
	action.handler = i->at;
	action.restorer = i->at + COZBPF_HANDLER_DISTANCE;
	err = err ? err : set_action(t, scratch, i->signal, &action, &i->before);
	if (!err && is_ours(&i->before)) {
		i->before = (struct signal_action){0};
	} else if (!err && i->before.handler && !takes_over) {
		set_action(t, scratch, i->signal, &i->before, &ignored);
		err = -EBUSY;
	}
	unmap(t, scratch, PAGE);
	if (err && i->at && !i->reused)
		unmap(t, i->at, PAGE);
	if (!err) {
		const struct left_record left = {(uint64_t)i->signal, i->owner, i->before};

		tracee_write(t, i->at + LEFT_AT, &left, sizeof(left));
	}
	return err;
}

static bool add_if_blocked(int pid, int tid, void *arg)
{
	struct injection *i = arg;
	struct signal_masks masks;
	struct unblocked *bigger;

	if (!procfs_signals(pid, tid, &masks) || !(masks.blocked & bit(i->signal)) ||
	    i->n_unblocked >= MAX_UNBLOCKED)
		return true;
	bigger = realloc(i->unblocked, (i->n_unblocked + 1) * sizeof(*bigger));
	if (bigger) {
		i->unblocked = bigger;
		bigger[i->n_unblocked++] = (struct unblocked){.tid = tid};
	}
	return true;
}

/* That of thread @tid among the first @n; NULL: there is none. */
static struct unblocked *find(const struct injection *i, unsigned n, int tid)
{
	for (unsigned k = 0; k < n; k++)
		if (i->unblocked[k].tid == tid)
			return &i->unblocked[k];
	return NULL;
}

/* Where the handler is: in our page, or in the preloaded library. */
static struct handler_code find_code(const struct injection *i)
{
	struct handler_code ret = {i->at, i->at + CODE_SIZE};
	struct map_entry *maps;
	size_t n;

	if (i->at)
		return ret;
	ret = (struct handler_code){0};
	if (maps_read(i->pid, &maps, &n))
		return ret;
	for (size_t k = 0; k < n && !ret.end; k++)
		if (maps_is_shim(maps[k].path))
			ret = (struct handler_code){maps[k].start, maps[k].end};
	free(maps);
	return ret;
}

/* Threads that block the signal now and also a little later: libc blocks all signals for moments.
 * One that lost its CPU in a pause may look the same, and is left alone. Threads from earlier calls
 * are unblocked again, too. */
static int unblock(void *arg, struct error *e)
{
	struct injection *i = arg;
	const struct timespec pause = {0, TRANSIENT_NS};
	unsigned known = i->n_unblocked, n = known;
	struct handler_code handler;

	procfs_threads(i->pid, add_if_blocked, i);
	if (i->n_unblocked > known)
		nanosleep(&pause, NULL);
	handler = find_code(i);
	for (unsigned k = known; k < i->n_unblocked; k++) {
		struct unblocked now = i->unblocked[k], *before = find(i, known, now.tid);
		struct signal_masks masks;
		char state = procfs_state(i->pid, now.tid);

		/* A thread in an uninterruptible wait would delay us. */
		if (state != 'D' && procfs_signals(i->pid, now.tid, &masks) &&
		    masks.blocked & bit(i->signal) &&
		    !tracee_unblock(i->pid, now.tid, i->signal, &handler, &now.others, e))
			*(before ? before : &i->unblocked[n++]) = now;
	}
	i->n_unblocked = n;
	return 0;
}

void inject_unblock(struct injection *i)
{
	unsigned known = i->n_unblocked;

	procfs_threads(i->pid, add_if_blocked, i);
	if (i->n_unblocked == known)
		return;
	i->n_unblocked = known;
	keeper_run(unblock, i, NULL);
}

static int block_again(void *arg, struct error *e)
{
	struct injection *i = arg;

	(void)e;
	for (unsigned k = 0; k < i->n_unblocked; k++)
		if (procfs_state(i->pid, i->unblocked[k].tid))
			tracee_block_again(
			    i->pid, i->unblocked[k].tid, i->signal, i->unblocked[k].others, NULL);
	inject_forget(i);
	return 0;
}

void inject_block_again(struct injection *i)
{
	if (i->n_unblocked && procfs_start(i->pid) == i->start)
		keeper_run(block_again, i, NULL);
}

void inject_forget(struct injection *i)
{
	free(i->unblocked);
	i->unblocked = NULL;
	i->n_unblocked = 0;
}

static const char *explain(int err)
{
	return err == -ETIMEDOUT ? "it does not get on: is it frozen?" : strerror(-err);
}

static int put_in(void *arg, struct error *e)
{
	struct injection *ret = arg;
	struct process_vdso vdso;
	struct signal_masks masks;
	struct tracee t;
	int err, pid = ret->pid;
	bool is_its_state;

	if (tracee_vdso(pid, &vdso, e) || filters_check(pid, e))
		return -1;
	ret->at = find_page(pid);
	procfs_signals(pid, procfs_live_thread(pid), &masks);
	if (tracee_hold(pid, &t, e))
		return -1;
	if (!is_page(pid, ret->at))
		ret->at = 0; /* another program has been executed meanwhile */
	ret->reused = ret->at;
	err = install(&t, ret, t.vdso.clock_gettime, inject_all_handled(&masks));
	ret->held_ns = tracee_release(&t);
	if (!err) {
		inject_unblock(ret);
		return 0;
	}
	if (err == -EBUSY) {
		error_set(e, EXIT_FORBIDDEN,
		    "process %d uses signal %d, which was to ask its threads to pause", pid,
		    ret->signal);
		return error_hint(e, "attach again: another one is chosen then");
	}
	is_its_state = err == -ESRCH || err == -ETIMEDOUT;
	error_set(e, is_its_state ? EXIT_OTHER : EXIT_FORBIDDEN,
	    "the pause handler cannot be put into process %d: %s", pid, explain(err));
	return is_its_state ? -1
			    : error_hint(e, "does a security module (SELinux, AppArmor) forbid "
					    "executable memory there?");
}

int inject(int pid, int signal, uint32_t quantum_ns, struct injection *ret, struct error *e)
{
	*ret = (struct injection){.pid = pid,
	    .signal = signal,
	    .quantum_ns = quantum_ns,
	    .owner = owner_id(),
	    .start = procfs_start(pid)};
	return keeper_run(put_in, ret, e);
}

struct inside {
	uint64_t bit, restorer;
	bool any;
};

/*
 * The kernel blocks the signal while its handler runs. So a thread that does not block it is not in
 * the handler, and one with the signal pending soon will be. A waiting thread may block the signal
 * for its own reasons; then its stack tells. A frame of the handler has the restorer as its return
 * address.
 */
static bool look_inside(int pid, int tid, void *arg)
{
	struct inside *in = arg;
	struct signal_masks masks;
	struct procfs_call call;

	if (!procfs_signals(pid, tid, &masks) || masks.pending & in->bit)
		in->any = true;
	else if (masks.blocked & in->bit)
		in->any = !procfs_call(pid, tid, &call) ||
			  procfs_may_hold(
			      pid, call.sp & ~7ULL, TRACEE_STACK, in->restorer, in->restorer + 1);
	return !in->any;
}

/* Whether all threads have left the handler. */
static bool wait_left(const struct injection *i)
{
	const struct timespec pause = {0, LEAVE_POLL_NS};

	for (uint64_t waited = 0; waited < LEAVE_NS; waited += LEAVE_POLL_NS) {
		struct inside in = {bit(i->signal), i->at + COZBPF_HANDLER_DISTANCE, false};

		if (procfs_threads(i->pid, look_inside, &in) && !in.any)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* As after vfork(): what is taken out of its memory is taken from the parent, whose threads may be
 * in the handler. The kernel may refuse to tell, or cannot (CONFIG_KCMP). */
static bool may_share_memory(const struct injection *i)
{
	long order = syscall(SYS_kcmp, i->pid, procfs_parent(i->pid), KCMP_VM, 0, 0);

	return !order || (order < 0 && i->inherited);
}

struct removal {
	struct injection *i;
	bool left;
};

static int take_out(void *arg, struct error *e)
{
	struct removal *r = arg;
	struct injection *i = r->i;
	const struct signal_action ignore = {.handler = 1};
	struct signal_action was;
	struct tracee t;
	bool page, again = i->ignored;
	int64_t scratch;
	int err;

	r->left = wait_left(i) && !may_share_memory(i);
	if (tracee_hold(i->pid, &t, e))
		return -1;
	/* Another program has the default in place of a handler. */
	page = has_page(i->pid, i);
	if (!page && i->before.handler > 1)
		i->before = (struct signal_action){0};
	scratch = map_page(&t, PROT_READ | PROT_WRITE);
	err = scratch < 0 ? (int)scratch : 0;
	/* Ignoring first discards pending signals; with the default action they would kill the
	 * process. */
	i->ignored |= !err;
	err = err ? err : set_action(&t, (uint64_t)scratch, i->signal, &ignore, &was);
	if (!err && !is_ours(&was) && !(again && was.handler == ignore.handler))
		i->before = was; /* the program has taken the signal for itself meanwhile */
	err = err ? err : set_action(&t, (uint64_t)scratch, i->signal, &i->before, &was);
	if (r->left && !err && page)
		unmap(&t, i->at, PAGE);
	if (scratch > 0)
		unmap(&t, (uint64_t)scratch, PAGE);
	i->held_ns = tracee_release(&t);
	block_again(i, NULL);
	if (!err || (err == -ESRCH && !i->ignored && !has_page(i->pid, i)))
		return 0;
	return error_set(e, EXIT_OTHER, "the pause handler cannot be taken out of process %d: %s",
	    i->pid, explain(err));
}

/* It has executed another program just when its signal was ignored for a moment. */
static bool still_ignores(const struct injection *i)
{
	struct signal_masks masks;

	return i->ignored && procfs_signals(i->pid, procfs_live_thread(i->pid), &masks) &&
	       masks.ignored & bit(i->signal);
}

int inject_remove(struct injection *i, bool *ret_left, struct error *e)
{
	struct removal r = {.i = i};
	int err;

	*ret_left = true;
	if (procfs_start(i->pid) != i->start || !(has_page(i->pid, i) || still_ignores(i)))
		return 0;
	err = keeper_run(take_out, &r, e);
	*ret_left = r.left;
	return err;
}
