// SPDX-License-Identifier: BSD-3-Clause
/* What doctor reads from the kernel's words about itself. */
#include "check.h"

#include "core/text/finding.h"

TEST(kernel_release)
{
	unsigned major = 0, minor = 0;

	CHECK_EQ(parse_kernel_release("6.18.44-fc-v657", &major, &minor), 0);
	CHECK_EQ(major, 6);
	CHECK_EQ(minor, 18);
	CHECK_EQ(parse_kernel_release("7.2-rc1", &major, &minor), 0);
	CHECK_EQ(major, 7);
	CHECK_EQ(minor, 2);
	CHECK_EQ(parse_kernel_release("", &major, &minor), -1);
	CHECK_EQ(parse_kernel_release("linux", &major, &minor), -1);
	CHECK_EQ(parse_kernel_release("6", &major, &minor), -1);
}

TEST(missing_capabilities)
{
	char names[64] = "old";

	CHECK_EQ(missing_caps(~0ULL, CAP_BIT_BPF | CAP_BIT_PERFMON, names, sizeof(names)), 0);
	CHECK_STR(names, "");
	CHECK_EQ(missing_caps(CAP_BIT_SYS_PTRACE,
		     CAP_BIT_BPF | CAP_BIT_PERFMON | CAP_BIT_SYS_PTRACE, names, sizeof(names)),
	    2);
	CHECK_STR(names, "CAP_BPF, CAP_PERFMON");
	CHECK_EQ(missing_caps(0, CAP_BIT_SYS_PTRACE, names, sizeof(names)), 1);
	CHECK_STR(names, "CAP_SYS_PTRACE");
	CHECK_EQ(missing_caps(0, ~0ULL, names, 10), 6);
	CHECK_STR(names, "CAP_BPF, ");
}

TEST(lockdown)
{
	char mode[32];

	parse_lockdown("none [integrity] confidentiality\n", mode, sizeof(mode));
	CHECK_STR(mode, "integrity");
	parse_lockdown("[none] integrity confidentiality\n", mode, sizeof(mode));
	CHECK_STR(mode, "none");
	parse_lockdown("none integrity\n", mode, sizeof(mode));
	CHECK_STR(mode, "");
	parse_lockdown("none [integrity", mode, sizeof(mode));
	CHECK_STR(mode, "");
	parse_lockdown("", mode, sizeof(mode));
	CHECK_STR(mode, "");
}

TEST(findings)
{
	struct finding f = {.name = "x"};

	finding_set(&f, FINDING_MISSING, "no %s", "btf");
	finding_hint(&f, "run %d", 1);
	CHECK_STR(f.text, "no btf");
	CHECK_STR(f.hint, "run 1");
	CHECK_STR(finding_state_name(f.state), "missing");
	finding_set(&f, FINDING_OK, "fine");
	CHECK_STR(f.hint, "");
	CHECK_STR(finding_state_name(f.state), "ok");
}
