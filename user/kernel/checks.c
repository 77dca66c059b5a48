// SPDX-License-Identifier: BSD-3-Clause
/* What the kernel has and allows; see checks.h. Where possible this is tried, not read from the
 * version. Nothing stays loaded. */
#include "kernel/checks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel/compat.h"
#include "kernel/nops.h"
#include "kernel/sampling.h"

/* The first release that has all that compat_missing() asks for. */
#define NEEDED_MAJOR 5
#define NEEDED_MINOR 15

struct context {
	bool privileged;
	const struct pause_mode *mode;
	struct btf *btf; /* the kernel's; NULL: none */
	int btf_error;
};

static size_t read_line(const char *path, char *ret, size_t size)
{
	FILE *in = fopen(path, "re");

	ret[0] = 0;
	if (in && !fgets(ret, (int)size, in))
		ret[0] = 0;
	if (in)
		fclose(in);
	ret[strcspn(ret, "\n")] = 0;
	return strlen(ret);
}

static void untried(struct finding *f)
{
	finding_set(f, FINDING_WARNING, "not known without privilege");
}

static void check_version(const struct context *c, struct finding *f)
{
	unsigned major, minor;
	struct utsname u;

	if (uname(&u) || parse_kernel_release(u.release, &major, &minor))
		finding_set(f, FINDING_WARNING, "its release cannot be told");
	else if (major > NEEDED_MAJOR || (major == NEEDED_MAJOR && minor >= NEEDED_MINOR))
		finding_set(f, FINDING_OK, "%.64s on %.32s; needed: %d.%d or later", u.release,
		    u.machine, NEEDED_MAJOR, NEEDED_MINOR);
	else {
		finding_set(f, FINDING_WARNING,
		    "%.64s: this version of cozbpf is made for %d.%d and later", u.release,
		    NEEDED_MAJOR, NEEDED_MINOR);
		finding_hint(f, "install a newer kernel, from Debian's backports for example");
	}
}

static void check_btf(const struct context *c, struct finding *f)
{
	if (c->btf) {
		finding_set(
		    f, FINDING_OK, "/sys/kernel/btf/vmlinux, %u types", btf__type_cnt(c->btf));
		return;
	}
	finding_set(f, FINDING_MISSING, "the kernel does not describe its types: %s",
	    strerror(c->btf_error));
	finding_hint(f, "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as Debian's are");
}

static void check_tracepoints(const struct context *c, struct finding *f)
{
	static const char *const names[] = {"sched_switch", "sched_waking", "sched_wakeup_new",
	    "sched_process_fork", "sched_process_exec", "sched_process_exit", "signal_deliver",
	    "hrtimer_expire_entry", "hrtimer_expire_exit", "irq_handler_entry", "irq_handler_exit",
	    "softirq_entry", "softirq_exit"};
	char type[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(type, sizeof(type), "btf_trace_%s", names[i]);
		if (c->btf && btf__find_by_name_kind(c->btf, type, BTF_KIND_TYPEDEF) > 0)
			continue;
		finding_set(f, FINDING_MISSING, "the kernel has no tracepoint '%s'", names[i]);
		finding_hint(
		    f, "use a kernel built with CONFIG_TRACEPOINTS=y and BTF, as Debian's are");
		return;
	}
	finding_set(f, FINDING_OK, "sched_switch, sched_waking and the others are there");
}

static void check_pauses(const struct context *c, struct finding *f)
{
	if (c->mode) {
		finding_set(f, FINDING_OK, "%s, %s%s", c->mode->name, c->mode->words,
		    compat_is_realtime(c->btf)
			? "; with PREEMPT_RT stacks are found without the kernel's lock"
			: "");
		return;
	}
	if (!c->privileged) {
		untried(f);
		return;
	}
	if (compat_is_realtime(c->btf)) {
		finding_set(f, FINDING_MISSING, COMPAT_REALTIME_CAUSE);
		finding_hint(f, COMPAT_REALTIME_HINT);
		return;
	}
	finding_set(f, FINDING_MISSING, "the kernel takes no program that sees a pause begin");
	finding_hint(f, "install a newer kernel, from Debian's backports for example");
}

static void check_features(const struct context *c, struct finding *f)
{
	const char *missing = c->privileged ? compat_missing() : NULL;

	if (!c->privileged) {
		untried(f);
		return;
	}
	if (!missing) {
		finding_set(f, FINDING_OK, "all that is needed is there");
		return;
	}
	finding_set(f, FINDING_MISSING, "the kernel has no %s", missing);
	finding_hint(f, "install a newer kernel, from Debian's backports for example");
}

/* Points are probed one by one then. */
static void check_uprobe_multi(const struct context *c, struct finding *f)
{
	if (compat_has_uprobe_multi(c->btf))
		finding_set(f, FINDING_OK, "many places can be probed at once");
	else
		finding_set(f, FINDING_WARNING,
		    "one by one: no --sync=uprobe, and loops that spin are not seen (Linux 6.6)");
}

/* The verdict on a libbpf probe: 1 there, 0 not there, negative: refused. */
static void set_probed(struct finding *f, const char *what, int rc)
{
	if (rc > 0) {
		finding_set(f, FINDING_OK, "%s work", what);
		return;
	}
	finding_set(f, FINDING_MISSING, "the kernel does not take %s%s%s", what, rc < 0 ? ": " : "",
	    rc < 0 ? strerror(-rc) : "");
	finding_hint(f, "use a kernel built with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_EVENTS=y, "
			"outside containers that forbid bpf()");
}

/* libbpf 1.1 reads a newer kernel's refusal of its own tracing probe as "not there". So a program
 * of two instructions is loaded instead. */
static int probe_tracing(const struct context *c)
{
	static const struct bpf_insn nothing[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}}; /* r0 = 0; exit */
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	int id = c->btf ? btf__find_by_name_kind(c->btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF)
			: -ENOENT,
	    fd;

	if (id < 0)
		return 0;
	opts.attach_btf_id = (uint32_t)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "cozbpf_doctor", "GPL", nothing, 2, &opts);
	if (fd < 0)
		return fd;
	close(fd);
	return 1;
}

static void check_programs(const struct context *c, struct finding *f)
{
	int rc;

	if (!c->privileged) {
		untried(f);
		return;
	}
	rc = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_PERF_EVENT, NULL);
	if (rc > 0)
		rc = libbpf_probe_bpf_prog_type(
		    BPF_PROG_TYPE_KPROBE, NULL); /* the type of uprobe programs */
	if (rc > 0)
		rc = probe_tracing(c);
	set_probed(f, "perf event, uprobe and tracing programs", rc);
}

static void check_maps(const struct context *c, struct finding *f)
{
	int rc;

	if (!c->privileged) {
		untried(f);
		return;
	}
	rc = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL);
	if (rc > 0)
		rc = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL);
	set_probed(f, "task storage and ring buffers", rc);
}

/* Only compiled programs can call kernel functions (kfuncs). */
static void check_jit(const struct context *c, struct finding *f)
{
	char value[16];

	if (!read_line("/proc/sys/net/core/bpf_jit_enable", value, sizeof(value)))
		finding_set(f, FINDING_OK, "no switch to turn it off, or no right to read it");
	else if (!strcmp(value, "0")) {
		finding_set(f, FINDING_MISSING, "turned off");
		finding_hint(f, "sudo sysctl net.core.bpf_jit_enable=1");
	} else
		finding_set(f, FINDING_OK, "on");
}

static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
	    .type = type,
	    .config = config,
	    .sample_period = 1000000,
	    .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void check_sampling(const struct context *c, struct finding *f)
{
	int clock = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK), cycles;

	if (clock < 0 && !c->privileged) {
		untried(f);
		return;
	}
	if (clock < 0) {
		finding_set(f, FINDING_MISSING, "the software clock cannot be sampled: %s",
		    strerror(-clock));
		finding_hint(f, "use a kernel built with CONFIG_PERF_EVENTS=y, outside containers "
				"that forbid perf_event_open()");
		return;
	}
	close(clock);
	cycles = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (cycles >= 0)
		close(cycles);
	if (sampling_shortest_period() > SAMPLING_PERIOD_NS) {
		finding_set(f, FINDING_WARNING,
		    "the kernel drops samples: kernel.perf_event_max_sample_rate is too low");
		finding_hint(f, SAMPLING_RATE_HINT);
		return;
	}
	finding_set(f, FINDING_OK, "by the software clock (hardware cycles: %s, not used)",
	    cycles >= 0 ? "there" : "none");
}

static void check_paranoid(const struct context *c, struct finding *f)
{
	char value[16];

	if (!read_line("/proc/sys/kernel/perf_event_paranoid", value, sizeof(value)))
		finding_set(f, FINDING_WARNING, "cannot be read");
	else if (atoi(value) > 2 && geteuid()) {
		finding_set(f, FINDING_WARNING, "%s may ask for more than CAP_PERFMON", value);
		finding_hint(f, "sudo sysctl kernel.perf_event_paranoid=2");
	} else
		finding_set(f, FINDING_OK, "%s (does not matter with CAP_PERFMON)", value);
}

static void check_uprobes(const struct context *c, struct finding *f)
{
	char value[16];
	int err;

	if (!read_line("/sys/bus/event_source/devices/uprobe/type", value, sizeof(value))) {
		finding_set(f, FINDING_MISSING,
		    "the kernel has no uprobes, or /sys is not mounted: progress points cannot be "
		    "probed");
		finding_hint(
		    f, "mount -t sysfs sysfs /sys, or a kernel built with CONFIG_UPROBE_EVENTS=y");
		return;
	}
	err = open_event((uint32_t)atoi(value),
	    0); /* names no file: -EINVAL, but only after the check of privilege */
	if (err >= 0)
		close(err);
	if ((err == -EACCES || err == -EPERM) && !c->privileged) {
		untried(f);
	} else if (err == -EACCES || err == -EPERM) {
		finding_set(f, FINDING_MISSING,
		    "this kernel lets only CAP_SYS_ADMIN probe progress points");
		finding_hint(f, "sudo cozbpf ..., or add cap_sys_admin to the file's capabilities; "
				"without it: --end-to-end");
	} else {
		finding_set(f, FINDING_OK, "perf event type %s", value);
	}
}

/* What a visit to a marker of coz.h costs here, and by which of its nops. */
static void check_visits(const struct context *c, struct finding *f)
{
	struct nop_visit first, second;

	if (!c->privileged || nop_try(NOP_FIRST, &first)) {
		untried(f);
		return;
	}
	if (nop_try(NOP_LONG, &second))
		finding_set(f, FINDING_OK, "%.1f us at a marker of coz.h", (double)first.ns / 1000);
	else if (second.is_stepped)
		finding_set(f, FINDING_OK,
		    "%.1f us at a marker of coz.h; its long nop would be single-stepped, %.1f us "
		    "(emulated since Linux 6.16)",
		    (double)first.ns / 1000, (double)second.ns / 1000);
	else if (second.clobbers)
		finding_set(f, FINDING_OK,
		    "%.1f us at a marker of coz.h; this kernel makes a call of its long nop, which "
		    "overwrites what programs have below the stack pointer",
		    (double)first.ns / 1000);
	else
		finding_set(f, FINDING_OK, "%.1f us at a marker of coz.h, by its long nop",
		    (double)second.ns / 1000);
}

static void check_tracefs(const struct context *c, struct finding *f)
{
	bool there = !access("/sys/kernel/tracing/events", F_OK) ||
		     !access("/sys/kernel/debug/tracing/events", F_OK);

	if (there || geteuid())
		finding_set(f, FINDING_OK,
		    there ? "mounted (not used by this version)"
			  : "not seen (not used by this version)");
	else
		finding_set(f, FINDING_OK, "not mounted (not used by this version)");
}

static void check_lockdown(const struct context *c, struct finding *f)
{
	char text[128], mode[32];

	if (!read_line("/sys/kernel/security/lockdown", text, sizeof(text)))
		finding_set(f, FINDING_OK, "none, or not to be read");
	else {
		parse_lockdown(text, mode, sizeof(mode));
		if (strcmp(mode, "confidentiality"))
			finding_set(f, FINDING_OK, "%s", mode);
		else {
			finding_set(f, FINDING_MISSING,
			    "confidentiality: BPF programs must not read kernel memory");
			finding_hint(f, "boot with lockdown=integrity or without lockdown");
		}
	}
}

const struct pause_mode *kernel_pause_mode(void)
{
	int err;

	libbpf_set_print(NULL);
	return pause_mode_choose(NULL, compat_try_pause, NULL, &err);
}

size_t kernel_checks(
    bool privileged, const struct pause_mode *mode, struct finding *ret, size_t max)
{
	static const struct {
		const char *name;
		void (*run)(const struct context *c, struct finding *f);
	} checks[] = {
	    {"kernel", check_version},
	    {"kernel types", check_btf},
	    {"tracepoints", check_tracepoints},
	    {"BPF features", check_features},
	    {"pauses", check_pauses},
	    {"BPF programs", check_programs},
	    {"BPF maps", check_maps},
	    {"BPF JIT", check_jit},
	    {"sampling", check_sampling},
	    {"perf_event_paranoid", check_paranoid},
	    {"uprobes", check_uprobes},
	    {"uprobes at once", check_uprobe_multi},
	    {"visits", check_visits},
	    {"tracefs", check_tracefs},
	    {"lockdown", check_lockdown},
	};
	struct context c = {.privileged = privileged, .mode = mode};
	size_t n = 0;

	libbpf_set_print(NULL); /* a failing probe is an answer, not news */
	c.btf = btf__load_vmlinux_btf();
	if (!c.btf)
		c.btf_error = errno;
	for (; n < max && n < sizeof(checks) / sizeof(checks[0]); n++) {
		ret[n].name = checks[n].name;
		checks[n].run(&c, &ret[n]);
	}
	btf__free(c.btf);
	return n;
}
