/* SPDX-License-Identifier: BSD-3-Clause */
/* What a key or a signal asks of the loop (run/loop.c), which alone does it. */
#ifndef COZBPF_ACTION_H
#define COZBPF_ACTION_H

enum run_action { RUN_ACTION_NONE, RUN_ACTION_PAUSE, RUN_ACTION_RESUME, RUN_ACTION_QUIT };

#endif
