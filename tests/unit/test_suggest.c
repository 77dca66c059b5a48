// SPDX-License-Identifier: BSD-3-Clause
/* Edit distance and the choice of names to offer. */
#include "check.h"

#include "core/text/suggest.h"

TEST(distance)
{
	CHECK_EQ(suggest_distance("", "", 5), 0);
	CHECK_EQ(suggest_distance("abc", "abc", 5), 0);
	CHECK_EQ(suggest_distance("abc", "abd", 5), 1);
	CHECK_EQ(suggest_distance("abc", "ab", 5), 1);
	CHECK_EQ(suggest_distance("abc", "xabc", 5), 1);
	CHECK_EQ(suggest_distance("abc", "acb", 5), 1); /* neighbours swapped */
	CHECK_EQ(suggest_distance("kitten", "sitting", 5), 3);
	CHECK_EQ(suggest_distance("", "abc", 5), 3);
}

TEST(distance_limit)
{
	CHECK_EQ(suggest_distance("kitten", "sitting", 3), 3);
	CHECK_EQ(suggest_distance("kitten", "sitting", 2), 3);
	CHECK_EQ(suggest_distance("a", "abcdefgh", 2), 3);
}

TEST(distance_long)
{
	char a[400], b[400];

	memset(a, 'a', 399);
	memset(b, 'b', 399);
	a[399] = b[399] = 0;
	CHECK_EQ(suggest_distance(a, b, 10), 11);
	CHECK_EQ(suggest_distance(a, "a", 1000), 1001);
	a[SUGGEST_NAME] = b[SUGGEST_NAME] = 0;
	CHECK_EQ(suggest_distance(a, b, 1000), SUGGEST_NAME);
}

static const char *best(const char *word, const char *const *names, size_t n)
{
	static char buf[512];
	struct suggest s;

	suggest_init(&s, word);
	for (size_t i = 0; i < n; i++)
		suggest_add(&s, names[i]);
	return suggest_list(&s, buf, sizeof(buf));
}

TEST(nearest_first)
{
	static const char *const names[] = {
	    "zzzzzz", "requests", "request_done", "reqeust", "request", "reqest", "other"};

	CHECK_STR(best("request", names, 7), "'request', 'requests' or 'reqeust'");
	CHECK_STR(best("requset", names, 4), "'requests' or 'reqeust'");
	CHECK_STR(best("zzzz", names, 1), "'zzzzzz'");
}

TEST(far_names_are_not_offered)
{
	static const char *const names[] = {"alpha", "beta", "", "gamma"};

	CHECK_STR(best("omicron", names, 4), "");
	CHECK_STR(best("", names, 4), "");
}

TEST(contained_word)
{
	static const char *const names[] = {"do_all_the_work_in_here"};

	CHECK_STR(best("work", names, 1), "'do_all_the_work_in_here'");
	CHECK_STR(best("wo", names, 1), "");
}

TEST(no_name_twice)
{
	static const char *const names[] = {"main", "main", "mains"};

	CHECK_STR(best("maim", names, 3), "'main' or 'mains'");
}

TEST(short_buffer)
{
	char buf[8];
	struct suggest s;

	suggest_init(&s, "abcdef");
	suggest_add(&s, "abcdeg");
	suggest_add(&s, "abcdeh");
	suggest_list(&s, buf, sizeof(buf));
	CHECK_EQ(strlen(buf), 7);
}
