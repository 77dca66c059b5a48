// SPDX-License-Identifier: BSD-3-Clause
/* Capabilities of the calling thread; see privileges.h. Raw system calls: libcap would be a
 * dependency for three calls. */
#include "symbols/elf/privileges.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OVER_FILES (1U << CAP_DAC_OVERRIDE | 1U << CAP_CHOWN | 1U << CAP_FOWNER)

struct capabilities {
	struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3];
};

/* How often privileges_lower() was called, and what was effective before the first time. */
static __thread unsigned depth;
static __thread struct capabilities before;

static bool get(struct capabilities *ret)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};

	memset(ret, 0, sizeof(*ret));
	return !syscall(SYS_capget, &header, ret->half);
}

static void set(const struct capabilities *c)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};

	syscall(SYS_capset, &header, c->half);
}

static bool any_effective(const struct capabilities *c)
{
	return c->half[0].effective || c->half[1].effective;
}

static void set_none(void)
{
	struct capabilities none = before;

	none.half[0].effective = none.half[1].effective = 0;
	if (any_effective(&before))
		set(&none);
}

static void set_before(void)
{
	if (any_effective(&before))
		set(&before);
}

void privileges_lower(void)
{
	if (depth++)
		return;
	if (!get(&before))
		memset(&before, 0, sizeof(before));
	set_none();
}

void privileges_raise(void)
{
	if (!--depth)
		set_before();
}

void privileges_borrow(void)
{
	if (depth)
		set_before();
}

void privileges_return(void)
{
	if (depth)
		set_none();
}

void privileges_drop(void)
{
	struct capabilities now, left = {0};

	if (!get(&now))
		return;
	if (!geteuid()) {
		left.half[0].permitted = now.half[0].permitted & OVER_FILES;
		left.half[0].effective = left.half[0].permitted;
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	set(&left);
}
