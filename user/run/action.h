/* SPDX-License-Identifier: BSD-3-Clause */
/* What a key or a signal asks the loop to do. */
#ifndef COZBPF_RUN_ACTION_H
#define COZBPF_RUN_ACTION_H

enum run_action { RUN_ACTION_NONE, RUN_ACTION_PAUSE, RUN_ACTION_RESUME, RUN_ACTION_QUIT };

#endif
