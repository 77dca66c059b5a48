// SPDX-License-Identifier: BSD-3-Clause
/* Asks a reader what is known of a Go program's runtime. */
#include <string.h>

#include "symbols/door/object.h"
#include "symbols/elf/gotable.h"
#include "symbols/elf/image.h"

#define MAX_OFFSET 4096 /* within the runtime's structs */

static int read_runtime(struct image *o, struct go_runtime *ret, struct error *e)
{
	if (image_go_offsets(o, ret->version, &ret->at, &ret->offsets_are_own, e))
		return -1;
	if (!image_go_table(o)) {
		error_set(e, EXIT_USAGE,
		    "'%s' has no table of Go's functions (.gopclntab) that can be read",
		    image_path(o));
		return error_hint(
		    e, "was its code obfuscated? build it with Go's own tools, 1.19 or later");
	}
	return image_go_sites(o, ret->sites, e) || image_go_tls(o, &ret->tls_g, e) ? -1 : 0;
}

int image_go_runtime(struct image *o, struct go_runtime *ret, struct error *e)
{
	int err;

	*ret = (struct go_runtime){0};
	if (!image_is_go(o))
		return 1;
	strncpy(ret->version, image_go_version(o), sizeof(ret->version) - 1);
	err = read_runtime(o, ret, e);
	return image_check(o, e) ? -1 : err;
}

/* The names of functions are not sent: each event has the same few. */
static void put_runtime(struct out *out, const struct go_runtime *r)
{
	put_bytes(out, &r->at, sizeof(r->at));
	put_u32(out, r->offsets_are_own);
	put_u64(out, (uint64_t)r->tls_g);
	for (int i = 0; i < GO_EVENTS; i++) {
		put_u64(out, r->sites[i].offset);
		put_u32(out, r->sites[i].gp);
		put_u32(out, r->sites[i].is_cheap);
		put_string(out, r->sites[i].function);
	}
}

static int tell_runtime(struct image *image, void *arg, struct out *out, struct error *e)
{
	struct go_runtime r;
	struct error why = {0};
	int err = image_go_runtime(image, &r, &why);

	put_u32(out, err < 0 ? 2 : (uint32_t)err);
	put_string(out, r.version);
	if (err < 0) {
		put_u32(out, (uint32_t)why.status);
		put_string(out, why.cause);
		put_string(out, why.hint);
	} else {
		put_runtime(out, &r);
	}
	return 0;
}

/* What the reader calls the place is shown, and nothing else. */
static void get_site(struct in *in, struct go_site *ret)
{
	static const char *const names[] = {"runtime.execute", "runtime.park_m", "runtime.ready",
	    "runtime.newproc.func1", "runtime.gdestroy", "runtime.goexit0", "runtime.gcDrain", ""};
	const char *name;
	uint32_t gp;

	ret->offset = get_u64(in);
	gp = get_u32(in);
	ret->gp = gp ? GO_RBX : GO_RAX;
	ret->is_cheap = get_u32(in) != 0;
	name = get_string(in, 64);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !ret->function; i++)
		if (!strcmp(names[i], name))
			ret->function = names[i];
	in->bad |= gp > 1 || !ret->function;
}

static void get_runtime(struct in *in, struct go_runtime *ret)
{
	const void *at = get_bytes(in, sizeof(ret->at));
	const uint16_t *fields = (const uint16_t *)&ret->at;

	if (at)
		memcpy(&ret->at, at, sizeof(ret->at));
	for (size_t i = 0; i < sizeof(ret->at) / sizeof(*fields); i++)
		in->bad |= fields[i] >= MAX_OFFSET;
	ret->offsets_are_own = get_u32(in) != 0;
	ret->tls_g = (int64_t)get_u64(in);
	for (int i = 0; i < GO_EVENTS; i++)
		get_site(in, &ret->sites[i]);
}

static int get_error(struct in *in, struct error *e)
{
	uint32_t status = get_u32(in);
	const char *cause = get_string(in, sizeof(e->cause)),
		   *hint = get_string(in, sizeof(e->hint));

	in->bad |= status < EXIT_OTHER || status > EXIT_NO_RESULT;
	error_set(e, (int)status, "%s", cause);
	return *hint ? error_hint(e, "%s", hint) : -1;
}

int object_go_runtime(struct object *o, struct go_runtime *ret, struct error *e)
{
	static const struct question q = {.work = tell_runtime, .needs_debug = true};
	struct in in;
	uint32_t answer;
	int err = 0;

	*ret = (struct go_runtime){0};
	if (!o->is_go)
		return 1;
	if (object_ask(o, &q, &in, e))
		return -1;
	answer = get_u32(&in);
	strncpy(ret->version, get_string(&in, sizeof(ret->version)), sizeof(ret->version) - 1);
	if (answer == 2)
		err = get_error(&in, e);
	else
		get_runtime(&in, ret);
	in.bad |= answer > 2;
	if (object_answered(o, &in, e)) {
		*ret = (struct go_runtime){0};
		return -1;
	}
	return err ?: (int)answer;
}
