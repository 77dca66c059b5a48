// SPDX-License-Identifier: BSD-3-Clause
/* The names nearest to a word, by edit distance; see suggest.h. */
#include "core/text/suggest.h"

#include <stdio.h>
#include <string.h>

void suggest_init(struct suggest *s, const char *word)
{
	memset(s, 0, sizeof(*s));
	s->word = word;
	s->word_len = strlen(word);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

unsigned suggest_distance(const char *a, const char *b, unsigned limit)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned rows[3][SUGGEST_NAME + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2], *swap;

	if (la > SUGGEST_NAME || lb > SUGGEST_NAME || (la > lb ? la - lb : lb - la) > limit)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned least = now[0] = (unsigned)i;

		for (size_t j = 1; j <= lb; j++) {
			now[j] =
			    min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
			if (now[j] < least)
				least = now[j];
		}
		if (least > limit)
			return limit + 1;
		swap = before;
		before = last;
		last = now;
		now = swap;
	}
	return last[lb] > limit ? limit + 1 : last[lb];
}

/* The distance of @name, or more than @limit. A name that contains the whole word is near at any
 * length ("work" for "do_work"). */
static unsigned name_distance(const struct suggest *s, const char *name, size_t len, unsigned limit)
{
	unsigned d = suggest_distance(s->word, name, limit);

	if (d > 2 && s->word_len >= 3 && len > s->word_len && strstr(name, s->word))
		d = 2;
	return d;
}

void suggest_add(struct suggest *s, const char *name)
{
	size_t len = strlen(name), at;
	/* One edit for each three letters; with more, nothing in common is left. */
	unsigned limit = (unsigned)(s->word_len < 60 ? s->word_len / 3 + 1 : 20), d;

	if (!len || len >= SUGGEST_NAME)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->best[i].name, name))
			return;
	if (s->n == SUGGEST_MAX && s->best[s->n - 1].distance <= limit) {
		if (!s->best[s->n - 1].distance)
			return;
		limit = s->best[s->n - 1].distance - 1;
	}
	d = name_distance(s, name, len, limit);
	if (d > limit)
		return;
	for (at = s->n < SUGGEST_MAX ? s->n++ : SUGGEST_MAX - 1;
	     at > 0 && s->best[at - 1].distance > d; at--)
		s->best[at] = s->best[at - 1];
	s->best[at].distance = d;
	memcpy(s->best[at].name, name, len + 1);
}

const char *suggest_list(const struct suggest *s, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = 0;
	for (size_t i = 0; i < s->n && len < size; i++) {
		const char *between = i == 0 ? "" : i + 1 == s->n ? " or " : ", ";

		len += (size_t)snprintf(buf + len, size - len, "%s'%s'", between, s->best[i].name);
	}
	return buf;
}
