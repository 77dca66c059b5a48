// SPDX-License-Identifier: BSD-3-Clause
/* The profile file of a run: opened, looked at for runs of other builds, begun. What is written in
 * the end is in run/finish.c. */
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void build_of(const struct runner *r, char ret[41])
{
	uint8_t id[20];
	uint32_t n = r->files.main_object ? object_build_id(r->files.main_object, id) : 0;

	ret[0] = 0;
	for (uint32_t i = 0; i < n && i < sizeof(id); i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

/* Reads of a profile only where runs begin: a run is to start at once, however much the file holds.
 * The descriptor is for writing only. */
static int read_startups(int fd, struct profile *ret)
{
	char path[64], *line = NULL, *text = NULL;
	size_t room = 0, size = 0;
	FILE *in, *out, *startups;
	struct error e;
	int err = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in = fopen(path, "re");
	out = in ? open_memstream(&text, &size) : NULL;
	if (!out)
		goto end;
	while (getline(&line, &room, in) > 0)
		if (!strncmp(line, "startup\t", 8))
			fputs(line, out);
	fclose(out);
	startups = size ? fmemopen(text, size, "r") : NULL;
	if (startups) {
		err = profile_read(ret, startups, "", &e);
		fclose(startups);
	}
end:
	if (in)
		fclose(in);
	free(line);
	free(text);
	return err;
}

/*
 * Warned of, not refused: a program that is built and profiled again and again appends to the
 * default file, and its reports can have the runs of any one build. Without --build they refuse,
 * which is to be known before a run, not after it.
 */
static void warn_of_builds(const struct runner *r, int fd)
{
	struct profile p;
	struct stat st;
	char build[41];
	size_t last;

	build_of(r, build);
	if (!build[0] || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	profile_init(&p);
	last = read_startups(fd, &p) ? 0 : p.n_runs;
	while (last && (!p.runs[last - 1].build_id[0] || !strcmp(p.runs[last - 1].build_id, build)))
		last--;
	if (last) {
		run_say(r,
		    "warning: '%s' holds runs of another build, %.12s: this one, %.12s, is "
		    "appended, and reports will not add them up",
		    r->o.output, p.runs[last - 1].build_id, build);
		run_say(r,
		    "hint: 'cozbpf report --build %.12s' takes the runs of this build only; -o "
		    "FILE keeps builds apart",
		    build);
	}
	profile_deinit(&p);
}

int run_open_output(struct runner *r, struct error *e)
{
	int fd = identity_open_append(&r->target.identity, r->o.output);

	if (fd < 0) {
		error_set(
		    e, EXIT_OTHER, "cannot write the profile '%s': %s", r->o.output, strerror(-fd));
		return error_hint(e, "name another file with -o%s",
		    r->target.identity.change
			? "; it is written with the rights of the user who runs the command"
			: "");
	}
	r->recorder.out = fdopen(fd, "a");
	if (!r->recorder.out)
		return error_set(e, EXIT_OTHER, "out of memory");
	warn_of_builds(r, fd);
	return 0;
}

int run_write_startup(struct runner *r, const struct run_record *start, struct error *e)
{
	struct run_record run = *start, *bigger = realloc(r->recorder.profile.runs,
					    (r->recorder.profile.n_runs + 1) * sizeof(*bigger));

	build_of(r, run.build_id);
	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	r->recorder.profile.runs = bigger;
	bigger[r->recorder.profile.n_runs++] = run;
	profile_write_startup(r->recorder.out, &run);
	fflush(r->recorder.out);
	return ferror(r->recorder.out)
		   ? error_set(e, EXIT_OTHER, "cannot write the profile '%s'", r->o.output)
		   : 0;
}
