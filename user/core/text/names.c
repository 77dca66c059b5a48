// SPDX-License-Identifier: BSD-3-Clause
/* Interned names: an open hash table of ids, and chunks with the copies. See names.h. */
#include "core/text/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/hash.h"

#define CHUNK 65536 /* bytes; a longer name has a chunk of its own */

struct name_chunk {
	struct name_chunk *next;
	size_t used, size;
	char text[];
};

static uint32_t *find_slot(const struct names *t, const char *name)
{
	size_t i = hash_text(t->slots, name) & (t->n_slots - 1);

	while (t->slots[i] && strcmp(t->items[t->slots[i] - 1], name))
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

static int names_grow(struct names *t)
{
	struct names larger = *t;

	larger.n_slots = t->n_slots ? t->n_slots * 2 : 64;
	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	larger.items = realloc(t->items, larger.n_slots / 2 * sizeof(*larger.items));
	if (!larger.items) {
		free(larger.slots);
		return -ENOMEM;
	}
	for (size_t i = 0; i < larger.n; i++)
		*find_slot(&larger, larger.items[i]) = (uint32_t)i + 1;
	larger.bytes +=
	    (larger.n_slots - t->n_slots) * (sizeof(*larger.slots) + sizeof(*larger.items) / 2);
	free(t->slots);
	*t = larger;
	return 0;
}

int names_id(struct names *t, const char *name, uint32_t *ret)
{
	uint32_t *slot;

	/* At most half full. */
	if (t->n >= t->n_slots / 2 && names_grow(t))
		return -ENOMEM;
	slot = find_slot(t, name);
	if (!*slot) {
		t->items[t->n] = name;
		*slot = (uint32_t)++t->n;
	}
	*ret = *slot - 1;
	return 0;
}

static const char *keep(struct names *t, const char *name)
{
	size_t size = strlen(name) + 1;
	struct name_chunk *c = t->chunks;
	char *ret;

	if (!c || c->size - c->used < size) {
		size_t room = size > CHUNK ? size : CHUNK;

		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		*c = (struct name_chunk){.next = t->chunks, .size = room};
		t->chunks = c;
		t->bytes += sizeof(*c) + room;
	}
	ret = memcpy(c->text + c->used, name, size);
	c->used += size;
	return ret;
}

int names_copy(struct names *t, const char *name, uint32_t *ret)
{
	size_t n = t->n;
	const char *copy;

	if (names_id(t, name, ret))
		return -ENOMEM;
	if (t->n == n)
		return 0;
	copy = keep(t, name);
	if (!copy) {
		*find_slot(t, name) = 0;
		t->n--;
		return -ENOMEM;
	}
	t->items[*ret] = copy;
	return 0;
}

uint32_t names_find(const struct names *t, const char *name)
{
	return t->n_slots ? *find_slot(t, name) - 1 : UINT32_MAX;
}

void names_deinit(struct names *t)
{
	struct name_chunk *next;

	for (struct name_chunk *c = t->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(t->items);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}
