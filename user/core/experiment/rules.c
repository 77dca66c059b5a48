// SPDX-License-Identifier: BSD-3-Clause
/* Accounting rules that are turned off by name; nothing in a build without that switch. */
#include "core/experiment/rules.h"

#ifdef COZBPF_RULE_SWITCHES
#include <stdint.h>
#include <string.h>

#include <cozbpf/delay_rules.h>

#define RULE_NAME(name, where, sentence) #name,
static const char *const names_of_rules[] = {COZBPF_DELAY_RULES(RULE_NAME)};

__u64 delay_rules_off;

static bool turn_off(const char *name, size_t length)
{
	for (unsigned i = 0; i < COZBPF_RULES; i++)
		if (strlen(names_of_rules[i]) == length &&
		    !strncmp(names_of_rules[i], name, length)) {
			delay_rules_off |= 1ULL << i;
			return true;
		}
	return false;
}

bool rules_turn_off(const char *names)
{
	while (names && *names) {
		size_t length = strcspn(names, ",");

		if (!turn_off(names, length))
			return false;
		names += length + (names[length] == ',');
	}
	return true;
}
#endif
