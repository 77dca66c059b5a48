/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: whether a reading that takes long is to end early. */
#ifndef COZBPF_STOP_H
#define COZBPF_STOP_H

#include <stdbool.h>

/* To be called with each piece of work; @n says how much. *@work is the caller's, zeroed before.
 * Asks now and then what reading_stops_when() has set. */
bool reading_stopped(unsigned *work, unsigned n);

#endif
