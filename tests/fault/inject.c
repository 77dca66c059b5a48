// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs a command and spoils its N-th system call: see usage(). Calls are counted from the program's
 * entry on, in all of its threads and children. A seccomp filter stops it at the named calls only,
 * so everything else runs at full speed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif
#define STOPPED_US 2500000 /* longer than the dead-man switch takes */
#define LATE_US 50000
#define PIECES 4
#define OPTIONS                                                                \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | \
	    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

/* The calls that may be spoilt; is_io: its third argument is a length, which can be cut. */
static struct {
	const char *name;
	long number;
	int is_io;
	unsigned seen;
} calls[] = {
#define CALL(name)                      \
	{                               \
#name, SYS_##name, 0, 0 \
	}
#define IO(name)                        \
	{                               \
#name, SYS_##name, 1, 0 \
	}
    CALL(bpf),
    CALL(perf_event_open),
    CALL(mmap),
    CALL(mremap),
    CALL(munmap),
    CALL(mprotect),
    CALL(brk),
    CALL(ptrace),
    CALL(open),
    CALL(openat),
    CALL(openat2),
    IO(read),
    IO(pread64),
    IO(write),
    IO(pwrite64),
    CALL(writev),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(pidfd_open),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_wait),
    CALL(poll),
    CALL(ppoll),
    CALL(ioctl),
    CALL(socket),
    CALL(bind),
    CALL(listen),
    CALL(connect),
    CALL(signalfd4),
    CALL(clone),
    CALL(clone3),
    CALL(fork),
    CALL(vfork),
    IO(getdents64),
    CALL(readlink),
    CALL(readlinkat),
    CALL(stat),
    CALL(newfstatat),
    CALL(fstat),
    CALL(fstatfs),
    CALL(access),
    CALL(faccessat2),
    CALL(waitid),
    CALL(wait4),
    CALL(clock_nanosleep),
    CALL(sched_setscheduler),
    CALL(sched_getparam),
    CALL(setpriority),
    CALL(capget),
    CALL(capset),
    CALL(flock),
    CALL(lseek),
    CALL(ftruncate),
    CALL(fcntl),
    CALL(prlimit64),
    CALL(getrandom),
    CALL(pipe2),
    CALL(eventfd2),
    CALL(memfd_create),
    CALL(futex),
    CALL(kill),
};

/* Errors by name. */
static const struct {
	const char *name;
	int number;
} errors[] = {
#define ERROR(name)         \
	{                   \
#name, name \
	}
    ERROR(EPERM),
    ERROR(ENOENT),
    ERROR(ESRCH),
    ERROR(EINTR),
    ERROR(EIO),
    ERROR(E2BIG),
    ERROR(EAGAIN),
    ERROR(ENOMEM),
    ERROR(EACCES),
    ERROR(EFAULT),
    ERROR(EBUSY),
    ERROR(EINVAL),
    ERROR(EMFILE),
    ERROR(ENOSPC),
    ERROR(EADDRINUSE),
    ERROR(ENOSYS),
};

static const char *only, *fault;
static unsigned nth;
static pid_t victim, tool, live;
static FILE *out;
static int is_counting, is_done, tool_status;
static uint64_t entry;
static long entry_word;
static struct user_regs_struct changed;
static pid_t changed_pid; /* whose call has other arguments now */

static void usage(void)
{
	fputs("usage: inject -o FILE [-s CALL] [-n N -f FAULT] [-p PID] -- command...\n"
	      "FAULT: an error's name, short, late, kill, stop; signal:NUMBER or seize, done to "
	      "PID.\n"
	      "FILE gets 'CALL COUNT' for all calls, or 'hit ...' for the spoilt one.\n",
	    stderr);
	exit(2);
}

static void die(const char *what)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(3);
}

static int is_chosen(size_t i)
{
	return !only || !strcmp(only, calls[i].name);
}

static void filter(void)
{
	struct sock_filter code[2 * N_CALLS + 2];
	struct sock_fprog program = {.filter = code};
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < N_CALLS; i++) {
		if (!is_chosen(i))
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, 0, 1);
		code[n++] =
		    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | (uint32_t)i);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	/* with CAP_SYS_ADMIN; no_new_privs would take capabilities from what is launched */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("seccomp");
}

static void launch(char **command)
{
	char c;
	int go[2];

	if (pipe(go))
		die("pipe");
	tool = fork();
	if (tool < 0)
		die("fork");
	if (!tool) {
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(3);
		close(go[0]);
		filter();
		execv(command[0], command);
		die(command[0]);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, tool, 0, OPTIONS))
		die("ptrace");
	if (write(go[1], "g", 1) != 1)
		die("write");
	close(go[1]);
	live = 1;
}

/* A breakpoint at the entry: the loader's calls before are not the tool's. */
static void break_at_entry(pid_t pid)
{
	Elf64_auxv_t a = {0};
	char path[64];
	FILE *f;

	if (entry)
		return;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "r");
	while (f && fread(&a, sizeof(a), 1, f) == 1 && a.a_type != AT_ENTRY)
		;
	if (f)
		fclose(f);
	entry = a.a_un.a_val;
	entry_word = ptrace(PTRACE_PEEKTEXT, pid, entry, 0);
	ptrace(PTRACE_POKETEXT, pid, entry, (entry_word & ~0xffL) | 0xcc);
}

static int is_entered(pid_t pid)
{
	struct user_regs_struct regs;

	if (is_counting || ptrace(PTRACE_GETREGS, pid, 0, &regs) || regs.rip != entry + 1)
		return 0;
	ptrace(PTRACE_POKETEXT, pid, entry, entry_word);
	regs.rip = entry;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
	is_counting = 1;
	return 1;
}

static void go_on(int unused)
{
	(void)unused;
	kill(tool, SIGCONT);
}

static void stop_tool(void)
{
	const struct itimerval once = {.it_value = {STOPPED_US / 1000000, STOPPED_US % 1000000}};

	signal(SIGALRM, go_on);
	setitimer(ITIMER_REAL, &once, NULL);
	kill(tool, SIGSTOP);
}

/* Makes the call with other arguments. The program relies on its registers being as they were, so
 * they are put back at the end of the call. */
static void change(pid_t pid, struct user_regs_struct *regs, uint64_t first, uint64_t third)
{
	changed = *regs;
	changed_pid = pid;
	regs->rdi = first;
	regs->rdx = third;
	ptrace(PTRACE_SETREGS, pid, 0, regs);
}

static void put_back(pid_t pid)
{
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	regs.rdi = changed.rdi;
	regs.rdx = changed.rdx;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
	changed_pid = 0;
}

static void fail_call(pid_t pid, struct user_regs_struct *regs)
{
	if (regs->orig_rax == SYS_brk) { /* its failure is the old break */
		change(pid, regs, 0, regs->rdx);
		return;
	}
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strcmp(errors[i].name, fault))
			continue;
		regs->orig_rax = ~0ULL; /* no call is made */
		regs->rax = (unsigned long long)-errors[i].number;
		ptrace(PTRACE_SETREGS, pid, 0, regs);
		return;
	}
	usage();
}

static void spoil(pid_t pid, size_t call, struct user_regs_struct *regs)
{
	fprintf(out, "hit %s %u: %#llx %#llx %#llx\n", calls[call].name, nth, regs->rdi, regs->rsi,
	    regs->rdx);
	fflush(out);
	is_done = 1;
	if (!strcmp(fault, "kill")) {
		kill(tool, SIGKILL);
	} else if (!strcmp(fault, "stop")) {
		stop_tool();
	} else if (!strcmp(fault, "late")) {
		usleep(LATE_US);
	} else if (!strcmp(fault, "seize")) {
		if (ptrace(PTRACE_SEIZE, victim, 0, 0))
			fprintf(out, "held: %s\n", strerror(errno));
	} else if (!strncmp(fault, "signal:", 7)) {
		kill(victim, atoi(fault + 7));
	} else if (strcmp(fault, "short")) {
		fail_call(pid, regs);
	} else if (calls[call].is_io) {
		change(pid, regs, regs->rdi, regs->rdx / 2);
	}
}

/* libbpf reads the kernel's types in a thousand pieces, of which the first ones stand for all. */
static int is_dull(pid_t pid, size_t call, const struct user_regs_struct *regs)
{
	static unsigned pieces;
	char link[64], path[32] = {0};

	if (calls[call].number != SYS_read)
		return 0;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, (int)regs->rdi);
	if (readlink(link, path, sizeof(path) - 1) < 0 || strncmp(path, "/sys/kernel/btf/", 16))
		return 0;
	return ++pieces > PIECES;
}

static void on_call(pid_t pid)
{
	static unsigned seen;
	struct user_regs_struct regs;
	unsigned long i;

	if (!is_counting || is_done || ptrace(PTRACE_GETEVENTMSG, pid, 0, &i) || i >= N_CALLS ||
	    ptrace(PTRACE_GETREGS, pid, 0, &regs) || is_dull(pid, i, &regs))
		return;
	calls[i].seen++;
	if (fault && ++seen == nth)
		spoil(pid, i, &regs);
}

/* Handles a stop; the signal to go on with. */
static long handle(pid_t pid, int status)
{
	int signal = WSTOPSIG(status);

	switch (status >> 16) {
	case PTRACE_EVENT_SECCOMP:
		on_call(pid);
		return 0;
	case PTRACE_EVENT_EXEC:
		break_at_entry(pid);
		return 0;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		live++;
		return 0;
	case PTRACE_EVENT_STOP:
		return 0;
	}
	if (signal == (SIGTRAP | 0x80)) {
		put_back(pid);
		return 0;
	}
	return signal == SIGTRAP && is_entered(pid) ? 0 : signal;
}

static void watch(void)
{
	int status;
	pid_t pid;

	while (live > 0) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return;
		if (!WIFSTOPPED(status)) {
			live -= pid != victim;
			if (pid == tool)
				tool_status = status;
		} else if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
			ptrace(PTRACE_LISTEN, pid, 0, 0);
		} else {
			long sig = handle(pid, status);

			ptrace(pid == changed_pid ? PTRACE_SYSCALL : PTRACE_CONT, pid, 0, sig);
		}
	}
}

int main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+o:s:n:f:p:")) != -1) {
		if (option == 'o')
			out = fopen(optarg, "we");
		else if (option == 's')
			only = optarg;
		else if (option == 'n')
			nth = (unsigned)atoi(optarg);
		else if (option == 'f')
			fault = optarg;
		else if (option == 'p')
			victim = atoi(optarg);
		else
			usage();
	}
	if (!out || !argv[optind] || (nth && !fault))
		usage();
	launch(argv + optind);
	watch();
	for (size_t i = 0; !fault && i < N_CALLS; i++)
		if (calls[i].seen)
			fprintf(out, "%s %u\n", calls[i].name, calls[i].seen);
	if (WIFSIGNALED(tool_status)) /* as it ended, so do we */
		return 128 + WTERMSIG(tool_status);
	return WEXITSTATUS(tool_status);
}
