/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit cases: TEST(name) { CHECK(...); } registers itself through an ELF section; main() is here.
 * One file per test binary includes this. */
#ifndef COZBPF_CHECK_H
#define COZBPF_CHECK_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
	const char *name;
	void (*run)(void);
};

static int check_failed_now;

#define TEST(id)                                                               \
	static void test_##id(void);                                           \
	static const struct test_case case_##id = {#id, test_##id};            \
	static const struct test_case *const case_ptr_##id                     \
	    __attribute__((section("test_cases"), used, retain)) = &case_##id; \
	static void test_##id(void)

/* A failed check is reported and the case goes on. */
#define CHECK(cond)                                                                              \
	do {                                                                                     \
		if (!(cond)) {                                                                   \
			check_failed_now++;                                                      \
			fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #cond); \
		}                                                                                \
	} while (0)
#define CHECK_EQ(a, b)                                                                            \
	do {                                                                                      \
		long long check_a = (long long)(a), check_b = (long long)(b);                     \
		if (check_a != check_b) {                                                         \
			check_failed_now++;                                                       \
			fprintf(stderr, "%s:%d: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, \
			    #a, check_a, check_b, #b);                                            \
		}                                                                                 \
	} while (0)
#define CHECK_STR(a, b)                                                                          \
	do {                                                                                     \
		const char *check_a = (a), *check_b = (b);                                       \
		if (!check_a || strcmp(check_a, check_b)) {                                      \
			check_failed_now++;                                                      \
			fprintf(stderr, "%s:%d: %s is '%s', not '%s'\n", __FILE__, __LINE__, #a, \
			    check_a ? check_a : "(null)", check_b);                              \
		}                                                                                \
	} while (0)
/* Within @tol of each other. */
#define CHECK_NEAR(a, b, tol)                                                                      \
	do {                                                                                       \
		double check_a = (a), check_b = (b);                                               \
		if (!(check_a - check_b <= (tol) && check_b - check_a <= (tol))) {                 \
			check_failed_now++;                                                        \
			fprintf(stderr, "%s:%d: %s is %g, not %g +- %g\n", __FILE__, __LINE__, #a, \
			    check_a, check_b, (double)(tol));                                      \
		}                                                                                  \
	} while (0)

/* Whether this test is to leave out what other tests try as well (CONTRIBUTING.md):
 * COZBPF_TEST_BRIEF has its name. */
static inline bool brief(void)
{
	const char *tests = getenv("COZBPF_TEST_BRIEF");
	char all[4096], name[256];

	snprintf(all, sizeof(all), " %s ", tests ? tests : "");
	snprintf(name, sizeof(name), " %s ", program_invocation_short_name);
	return strstr(all, name);
}

extern const struct test_case *const __start_test_cases[], *const __stop_test_cases[];

/* Prints "ok NAME" or "FAIL NAME" per case, and "N passed, N failed" at the end. An argument
 * selects cases by substring. */
int main(int argc, char **argv)
{
	int passed = 0, failed = 0;

	for (const struct test_case *const *c = __start_test_cases; c < __stop_test_cases; c++) {
		if (argc > 1 && !strstr((*c)->name, argv[1]))
			continue;
		check_failed_now = 0;
		(*c)->run();
		printf("%s %s\n", check_failed_now ? "FAIL" : "ok", (*c)->name);
		if (check_failed_now)
			failed++;
		else
			passed++;
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed || !passed;
}

#endif
