/* SPDX-License-Identifier: BSD-3-Clause */
/* Turning accounting rules off by name, in a build with -DCOZBPF_RULE_SWITCHES only: for `make
 * bench-rules`. The rules are in include/cozbpf/delay_rules.h. */
#ifndef COZBPF_RULES_H
#define COZBPF_RULES_H

#ifdef COZBPF_RULE_SWITCHES
#include <stdbool.h>

/* Turns the rules off that @names lists, with commas between them; NULL: none. False: there is no
 * such rule. */
bool rules_turn_off(const char *names);
#endif

#endif
