/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user is told when a run has ended. */
#ifndef COZBPF_RUN_ENDING_H
#define COZBPF_RUN_ENDING_H

struct runner;

/* Says warnings, then the ranked answer, or the reason why there is none. Returns the tool's exit
 * status. */
int run_finish(struct runner *r);

#endif
