// SPDX-License-Identifier: BSD-3-Clause
/* MiniDebugInfo: Fedora and its relatives leave the symbol table of a stripped file in its section
 * .gnu_debugdata, as an ELF file compressed by xz. */
#include "symbols/elf/image.h"

#include <lzma.h>
#include <stdlib.h>

/* Bytes. Half a million functions with long names; a few bytes of xz can stand for any number. */
#define MAX_PLAIN (64 << 20)
#define MAX_PACKED (64 << 20)
/* Bytes for the decoder. The largest preset of xz asks for a dictionary of 64 MiB. */
#define MAX_MEMORY (80 << 20)
#define FIRST_ROOM (64 << 10)

/* Doubles the room for what comes out. False: too much came, or memory is short. */
static bool make_room(lzma_stream *s, struct bytes *plain)
{
	size_t room = plain->size ? 2 * plain->size : FIRST_ROOM;
	uint8_t *grown = room <= MAX_PLAIN ? realloc((void *)plain->data, room) : NULL;

	if (!grown)
		return false;
	s->next_out = grown + s->total_out;
	s->avail_out = room - s->total_out;
	*plain = (struct bytes){grown, room};
	return true;
}

/* Memory of the caller's; .data is NULL where the bytes are no whole xz stream within the limits.
 */
static struct bytes unpack(struct bytes packed)
{
	lzma_stream s = LZMA_STREAM_INIT;
	struct bytes plain = {0};
	lzma_ret ret = LZMA_MEM_ERROR;

	if (packed.data && packed.size <= MAX_PACKED)
		ret = lzma_stream_decoder(&s, MAX_MEMORY, 0);
	s.next_in = packed.data;
	s.avail_in = packed.size;
	while (ret == LZMA_OK) {
		if (!s.avail_out && !make_room(&s, &plain))
			break;
		ret = lzma_code(&s, LZMA_FINISH);
	}
	plain.size = s.total_out;
	lzma_end(&s);
	if (ret == LZMA_STREAM_END)
		return plain;
	free((void *)plain.data);
	return (struct bytes){0};
}

Elf *image_minidebug(struct image *o)
{
	char why[256];

	if (o->mini_loaded)
		return o->mini;
	o->mini_loaded = true;
	o->mini_bytes = unpack(elf_section(o->main.elf, ".gnu_debugdata"));
	if (o->mini_bytes.size)
		o->mini = elf_memory((char *)o->mini_bytes.data, o->mini_bytes.size);
	if (o->mini && elf_check(o->mini, true, why, sizeof(why))) {
		elf_end(o->mini);
		o->mini = NULL;
	}
	return o->mini;
}

void image_minidebug_free(struct image *o)
{
	if (o->mini)
		elf_end(o->mini);
	free((void *)o->mini_bytes.data);
}
