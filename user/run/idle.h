/* SPDX-License-Identifier: BSD-3-Clause */
/* Idle loops, which wait without PAUSE (user/symbols/code/idleloop.h): sought where samples are. */
#ifndef COZBPF_RUN_IDLE_H
#define COZBPF_RUN_IDLE_H

#include <stdbool.h>

struct files;

/* Takes the latest samples. True: other places of files are to be probed than before. */
bool idle_look(struct files *f);
void idle_deinit(struct files *f);

#endif
