// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf plot`: profiles in, a page out. user/report/html.c and user/report/html/ make the
 * page. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/options.h"
#include "cmd/outfile.h"
#include "cmd/sources.h"
#include "core/estimate/estimate.h"
#include "report/html.h"
#include "report/say.h"

struct plot_options {
	const char *output, *sort;
	struct input_options inputs;
};

static const struct option_entry entries[] = {
    {'o', "output", OPTION_STRING, offsetof(struct plot_options, output), "FILE",
	"the page; - is standard output (default: beside the first profile, with .html in place of "
	".coz)"},
    {0, "sort", OPTION_STRING, offsetof(struct plot_options, sort), "KEY",
	"first order, to be changed on the page: slope (default), max, payback or impact, as for "
	"report"},
    INPUT_ENTRIES(plot_options, inputs),
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "plot",
    .usage = "cozbpf plot [-o FILE.html] [--sort KEY] [FILE...]",
    .summary = "Draws profiles that cozbpf or Coz wrote: one HTML file, opened from disk, that "
	       "needs no network. Several files count as "
	       "runs of one "
	       "profile; without one, profile.coz is read. The source around each line is in the "
	       "page where this user can read it here.",
    .entries = entries,
    .epilogue = "examples:\n"
		"  cozbpf plot\n"
		"  cozbpf plot --sort impact -o /tmp/before.html before.coz\n",
};

/* "dir/profile.coz" -> "dir/profile.html", "dir/" -> "dir.html"; the caller frees it. */
static char *default_output(const char *profile)
{
	char *ret;
	size_t length;

	if (!strcmp(profile, "-"))
		profile = DEFAULT_PROFILE;
	length = strlen(profile);
	while (length > 1 && profile[length - 1] == '/')
		length--;
	if (!length || strspn(profile, "./") == strlen(profile)) {
		profile = DEFAULT_PROFILE; /* a folder without a name */
		length = strlen(profile);
	}
	if (length > 4 && !strcmp(profile + length - 4, ".coz"))
		length -= 4;
	return asprintf(&ret, "%.*s.html", (int)length, profile) < 0 ? NULL : ret;
}

static int write_page(const struct profile *p, const struct estimate *estimate,
    const struct html_options *o, const char *output, struct error *e)
{
	struct outfile f;
	int ret;

	if (outfile_open(&f, output, e))
		return -1;
	errno = 0;
	ret = report_html(f.out, p, estimate, o);
	if (ret == -ENOMEM)
		error_set(e, EXIT_OTHER, "out of memory");
	else if (ret)
		error_set(e, EXIT_OTHER, "cannot write '%s': %s", output, strerror(errno));
	ret = outfile_close(&f, ret ? -1 : 0, e);
	if (!ret && strcmp(output, "-") != 0)
		say("the page is '%s'", output);
	return ret;
}

/* Writes the page of @p. Returns -1 with @e when there is nothing to show; the page says so as
 * well. */
static int plot(const struct profile *p, char **names, int n, enum sort_key sort,
    const char *output, struct error *e)
{
	struct estimate_options options = {
	    .seed = ESTIMATE_SEED, .sort = sort, .waiting = true, .machines = true};
	struct estimate estimate;
	struct sources sources = {0};
	struct error reason = {0};
	int ret;

	if (estimate_profile(p, &options, &estimate))
		return error_set(e, EXIT_OTHER, "out of memory");
	if (sources_read(&sources, &estimate, p, names[0])) {
		ret = error_set(e, EXIT_OTHER, "out of memory");
	} else {
		int empty = estimate_reason(p, &estimate, &reason);
		struct html_options html = {.profiles = (const char *const *)names,
		    .n_profiles = (size_t)n,
		    .sort = sort,
		    .sources = sources.items,
		    .n_sources = sources.n,
		    .reason = empty ? reason.cause : NULL};

		ret = write_page(p, &estimate, &html, output, e);
		if (!ret && empty) {
			*e = reason;
			ret = -1;
		}
	}
	sources_deinit(&sources);
	estimate_deinit(&estimate);
	return ret;
}

int cmd_plot(int argc, char **argv)
{
	static char default_profile[] = DEFAULT_PROFILE, *default_names[] = {default_profile, NULL};
	struct plot_options o = {.sort = "slope"};
	enum sort_key sort = SORT_SLOPE;
	struct error e = {0};
	struct profile p;
	int first = options_parse(&table, argc, argv, &o, &e), ret;
	char **names, *output;

	if (first <= 0 || parse_sort(o.sort, &sort, &e)) {
		string_list_deinit(&o.inputs.sources);
		return first ? say_error(&e) : EXIT_OK;
	}
	names = first < argc ? argv + first : default_names;
	argc = first < argc ? argc - first : 1;
	output = o.output ? strdup(o.output) : default_output(names[0]);
	if (!output) {
		error_set(&e, EXIT_OTHER, "out of memory");
		return say_error(&e);
	}
	profile_init(&p);
	ret = outfile_check(output, "page", &e);
	if (!ret)
		ret = inputs_read(&p, names, argc, &o.inputs, NULL, &e);
	if (!ret)
		ret = plot(&p, names, argc, sort, output, &e);
	profile_deinit(&p);
	string_list_deinit(&o.inputs.sources);
	free(output);
	return ret ? say_error(&e) : EXIT_OK;
}
