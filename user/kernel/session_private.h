/* SPDX-License-Identifier: BSD-3-Clause */
/* What a session is made of; private to user/kernel/. */
#ifndef COZBPF_SESSION_PRIVATE_H
#define COZBPF_SESSION_PRIVATE_H

#include <bpf/libbpf.h>

#include "kernel/session.h"

#define MAX_LINKS 4096 /* of tracepoints and progress points */
#define MAX_HOOKS 32   /* programs that are attached once each */
/* of a class of waits, at most */
#define WAIT_LINES (COZBPF_WAIT_UNITS - COZBPF_WAIT_NO_LINE - 1)

struct session {
	struct cozbpf_bpf *bpf;
	struct ring_buffer *events;
	struct sampling *sampling;
	struct session_config config;
	const struct pause_mode *mode;
	uint64_t period_ns;          /* of sampling */
	struct cozbpf_range *ranges; /* mapped */
	size_t ranges_size, ranges_room, ranges_used;
	struct cozbpf_unwind_row *unwind_rows; /* mapped */
	size_t unwind_rows_size, unwind_rows_used;
	struct cozbpf_line_count *line_counts; /* mapped */
	size_t line_counts_size, lines_room;
	uint64_t *wait_ids, *wait_lines; /* mapped */
	size_t wait_ids_size, wait_lines_size;
	uint32_t waits_named[COZBPF_WAIT_CLASSES]; /* lines of each class that have their name */
	struct cozbpf_point *points;               /* mapped */
	size_t points_size;
	uint64_t points_used;                    /* bit set */
	struct cozbpf_counter_set *counter_sets; /* mapped */
	size_t counter_sets_size;
	struct cozbpf_latency *latencies; /* mapped */
	size_t latencies_size;
	uint64_t pairs_used; /* bit set, by the index of the begins */
	/* What is attached for as long as the session is; link NULL: not while it sleeps. */
	struct hook {
		struct bpf_program *prog;
		struct bpf_link *link;
	} hooks[MAX_HOOKS];
	size_t n_hooks;
	struct bpf_link *links[MAX_LINKS];
	size_t n_links;
	struct point_probe *waiting; /* for session_place_probes() */
	size_t n_waiting;
	struct placed_probe *placed; /* points.c; for session_wake() */
	size_t n_placed;
	int multi_links[MAX_LINKS]; /* descriptors */
	size_t n_multi_links;
	struct cozbpf_arg keys[COZBPF_ARGS];
	unsigned n_keys;
	struct process_calls *calls; /* calls.c */
	struct process_go *go;       /* go.c */
	struct process_spins *spins; /* spins.c */
	struct process_spins *spins_ended;
	unsigned n_spins_ended;
	struct session_blocks *blocks; /* blocks.c; NULL: there are none */
	bool is_asleep;
	uint64_t executed_told;        /* by session_executed_ns() */
	uint64_t spots_taken;          /* so many had there been */
	struct cozbpf_earner *earners; /* mapped */
	size_t earners_size;
	uint64_t samples_at_open, deep_debt_at_open, stops_at_open;
	int64_t slept_at_open;
	bool was_disturbed;     /* since the opening: CPUs went or came, or one is not sampled */
	struct error unsampled; /* why it is not; status 0: all are */
	bool unsampled_told;
	uint64_t cpus_ns;              /* when to look for that */
	struct cozbpf_cpu *cpu_values; /* room for one lookup: a value for each possible CPU */
	int n_cpu_values;
	struct cpu_use use_at_open;
	void (*handle)(const struct cozbpf_counter_event *event, void *arg);
	void *handle_arg;
	char log[2048]; /* libbpf's last words, for errors */
};

uint64_t session_now_ns(void); /* monotonic */

/* load.c: loads the programs by the configuration, and maps their maps. -1 with @e. */
int session_load(struct session *s, const struct line_map *lines, struct error *e);
void session_forget_log(const struct session *s); /* before it is freed */
/* Sets @e to what the kernel has refused programs for, an errno. Returns -1. */
int session_fail(struct session *s, int err, struct error *e);

/* multi.c: before its programs are loaded. */
void multi_prepare(struct bpf_program *prog);

/* @n places in one file, of one process or of all (0). @semaphores may be NULL, or 0 for each
 * place. */
struct multi_sites {
	int pid;
	const char *path;
	const uint64_t *offsets, *semaphores, *cookies;
	size_t n;
	bool returns;
};
/* Returns the descriptor of a link, which ends when it is closed, or -errno. */
int multi_attach(const struct bpf_program *prog, const struct multi_sites *at);
/* Why it was refused, in words, by an errno. */
const char *multi_refusal(int err);

/* waits.c: call it before the programs are loaded. */
void waits_prepare(struct cozbpf_bpf *bpf, const struct session_config *c, size_t lines_room);

/* calls.c: call it before the programs are loaded. */
void calls_prepare(struct cozbpf_bpf *bpf, bool wanted);

/* go.c: call it before the programs are loaded. */
void go_prepare(struct cozbpf_bpf *bpf, bool wanted);

/* peers.c: call it before the programs are loaded. False: they are not wanted, or the kernel lacks
 * what they need. */
bool peers_prepare(struct cozbpf_bpf *bpf, bool wanted);

/* blocks.c: call it before the programs are loaded. -1 with @e: this kernel cannot do it. */
int blocks_prepare(struct session *s, struct error *e);
void blocks_detach(struct session *s); /* takes all probes out */
void blocks_deinit(struct session *s);
void blocks_forget_probes(struct session *s); /* those before are nobody's cost */

/* session.c: one reading of the iterator over all tasks (bpf/adopt.bpf.c). 0 or -errno. */
int session_visit_tasks(struct session *s);

/* sleep.c: attaches a program for as long as the session is; -1 with errno. */
int session_hook(struct session *s, struct bpf_program *prog);
void session_unhook(struct session *s, bool all); /* false: what costs something */

/* points.c: takes the probes of points out; puts them in again, -1 with @e; forgets where. */
void points_take_out(struct session *s);
int points_put_in(struct session *s, struct error *e);
void points_forget(struct session *s);

/* points.c: clears what counts in one experiment only; call it before the next one opens. */
void points_reset(struct session *s);

#endif
