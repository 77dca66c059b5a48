/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* The accounting rules: their names, one sentence each, and the switch that turns one of them off
 * for `make bench-rules`. The arithmetic is in delay.h. */
#ifndef COZBPF_DELAY_RULES_H
#define COZBPF_DELAY_RULES_H

#include <linux/types.h>

/*
 * X(NAME, WHERE, "SENTENCE"). WHERE: SIM where the simulator has a case for the rule, REAL where
 * only real programs meet it.
 */
#define COZBPF_DELAY_RULES(X)                                                                     \
	X(CREDIT, SIM, "L grows by s x f x the time executed, at every look at the thread")       \
	X(HALF_WEIGHT, SIM, "a sample weighs half of the time executed on each of its sides")     \
	X(SEGMENTS, SIM, "f is kept per kind of stretch between two edges")                       \
	X(FORECAST, SIM, "f leans to the last sample by the correlation of samples")              \
	X(FORECAST_EDGE, SIM, "an edge ends the forecast and the correction")                     \
	X(CORRECT, SIM, "the next sample puts half of a wrong forecast right")                    \
	X(YOUNG_WINDOW, SIM, "a new thread begins with the samples of those young before it")     \
	X(YOUNG_KINDS, SIM, "the n-th thread made between two waits has a window of its own")     \
	X(YOUNG_FIRST, SIM, "among those a thread's first sample weighs a whole period")          \
	X(YOUNG_FORECAST, SIM, "a young thread forecasts by the correlation of those before it")  \
	X(CORRECT_FIRST, SIM, "the first sample puts the time since the birth right")             \
	X(CARRY, SIM, "what a thread stands still beyond its debt is set off against later debt") \
	X(MIN_DEBT, REAL, "a small debt waits for the next sample")                               \
	X(WAY_IN, SIM, "the way from the sample to the handler is pause")                         \
	X(ASIDE, SIM, "a pause is shorter by what samples have cost beyond a baseline's")         \
	X(ENTRY_MEAN, REAL, "the cost of samples follows a running mean of their entry")          \
	X(EXIT_EARLY, SIM, "a pause ends earlier by the way out of the handler")                  \
	X(SLEEP_OFF, SIM, "debt of a sleep is slept off, not paid by holding the CPU")            \
	X(WITHDRAW, REAL, "an ask that did not begin in time is withdrawn")                       \
	X(HAND_OVER, REAL, "a thread pays before a latency pair begins")                          \
	X(JOIN_WAKER, SIM, "a woken thread: L = min(L + blocked, L of its waker)")                \
	X(JOIN_CPU, SIM, "a thread that waited for a CPU: L = min(L + waited, the CPU's clock)")  \
	X(JOIN_PARENT, SIM, "a new thread begins with its parent's L")                            \
	X(JOIN_EXIT, SIM, "a maker waits for the thread that virtually ends last")                \
	X(JOIN_CALL, SIM, "a probed call that blocked: L = min(L + R's growth in it, R)")         \
	X(JOIN_CALL_BOUND, SIM, "R's growth in a call is at most s x its time")                   \
	X(JOIN_ADOPT, REAL, "a thread that ran before the profile begins with R")                 \
	X(JOIN_SPIN, SIM, "a thread that spins: L = min(L + spun, R)")                            \
	X(SPIN_WHOLE, REAL, "what was spun while R was not known to rise counts once it does")    \
	X(LEADER_SPIN, SIM, "R for a spinner holds what the furthest thread has earned by now")   \
	X(RELEASE_SPIN, SIM, "when a spinner goes on, the furthest thread's segment ends")        \
	X(JOIN_PEER, REAL, "a thread woken by a peer's data: L = min(L + blocked, its L)")        \
	X(SLACK_LATENCY, SIM, "wake-up latency is part of a wait that virtually was none")        \
	X(LAST_SLICE, SIM, "a wait for a CPU is shorter by what L grew in the last slice there")  \
	X(OUSTED_SLOWER, SIM, "an outsider's turn counts as executed by who wanted to go on")     \
	X(STOOD_STILL, SIM, "who waits for an outsider has paused meanwhile")                     \
	X(OUSTED_PAUSE, SIM, "a pause goes on while an outsider has the CPU")                     \
	X(PACED, SIM, "a thread with a periodic timer owes nothing; its visits follow real time") \
	X(PACED_WAKER, SIM, "a thread that a paced one wakes is paced")                           \
	X(PACED_LEARNT, SIM, "a timer that is told as periodic later paces whom it woke before")  \
	X(PACED_LATE, SIM, "a paced thread that waits no more for its pace is not paced")         \
	X(PACE_BOUND, SIM, "visits that a timer feeds are at least its period apart")             \
	X(PACED_MISSED, SIM, "a whole multiple of the period is the period")                      \
	X(PACED_MIN, REAL, "a distance below 10 us is no period")                                 \
	X(VISIT_PENDING, REAL, "a visit's virtual time holds credit not yet given")               \
	X(VISIT_SERVED, SIM, "a visit's virtual time holds a pause not yet settled")              \
	X(SAMPLE_COST, SIM, "virtual time stands still while a sample is taken")                  \
	X(FIT_CPUS, SIM, "N CPUs execute at most N seconds per second of virtual time")           \
	X(HEAL, REAL, "a thread whose switch-in was not seen executes from its sample on")        \
	X(SHORTEN, SIM, "a selected wait is shorter by s: L grows by s x the time waited")        \
	X(FOLLOW_WAIT, SIM, "R grows during a selected wait that is ended from outside")          \
	X(SAME_LOCK, REAL, "waits for the lock of a selected line are selected in all lines")     \
	X(INTERRUPTS, REAL, "a wake-up by a timer, a device or a softirq is no edge")             \
	X(LOOPBACK, REAL, "a network softirq inline in a send is the sender's doing")

enum cozbpf_delay_rule {
#define COZBPF_RULE_ENUM(name, where, sentence) COZBPF_RULE_##name,
	COZBPF_DELAY_RULES(COZBPF_RULE_ENUM)
#undef COZBPF_RULE_ENUM
	    COZBPF_RULES
};

_Static_assert(COZBPF_RULES <= 64, "one bit each");

/*
 * DELAY_RULE(NAME): true. Only a build with -DCOZBPF_RULE_SWITCHES can turn a rule off: by
 * config.rules_off in BPF, by a variable that the program defines elsewhere.
 */
#ifndef COZBPF_RULE_SWITCHES
#define DELAY_RULE(name) 1
#elif defined(__bpf__)
#define DELAY_RULE(name) (!(config.rules_off >> COZBPF_RULE_##name & 1))
#else
extern __u64 delay_rules_off;
#define DELAY_RULE(name) (!(delay_rules_off >> COZBPF_RULE_##name & 1))
#endif

#endif
