// SPDX-License-Identifier: BSD-3-Clause
/* Lines of words, one for each run; see blocks_inputs.h. */
#include "cmd/blocks_inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/input_files.h"
#include "core/text/shell.h"
#include "symbols/elf/privileges.h"
#include "target/listing.h"

static size_t count(char **words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

static int make_room(struct blocks_inputs *in)
{
	struct run_command *commands = realloc(in->commands, (in->n + 1) * sizeof(*commands));
	char ***words;

	if (!commands)
		return -ENOMEM;
	in->commands = commands;
	words = realloc(in->words, (in->n + 1) * sizeof(*words));
	if (!words)
		return -ENOMEM;
	in->words = words;
	return 0;
}

/* A run with the words of @argv, then those of the line, which are taken over. */
static int add(struct blocks_inputs *in, char **words, unsigned line, char **argv)
{
	size_t n = count(argv), more = count(words);
	char **all = calloc(n + more + 1, sizeof(*all));

	if (!all || make_room(in)) {
		free(all);
		shell_free(words);
		return -ENOMEM;
	}
	memcpy(all, argv, n * sizeof(*all));
	memcpy(all + n, words, more * sizeof(*all));
	in->commands[in->n] = (struct run_command){.argv = all, .line = line};
	in->words[in->n++] = words;
	return 0;
}

static int take_line(struct blocks_inputs *in, const char *text, size_t size, unsigned line,
    char **argv, struct error *e)
{
	char **words;
	int err = strlen(text) == size ? shell_split(text, &words) : -EILSEQ;

	if (!err && !words[0])
		shell_free(words);
	else if (!err)
		err = add(in, words, line, argv);
	if (!err)
		return 0;
	if (err == -ENOMEM)
		return error_set(e, EXIT_OTHER, "out of memory");
	error_set(e, EXIT_USAGE, "line %u of the inputs: %s", line,
	    err == -EINVAL ? "a quote does not end" : "it holds a zero byte");
	return error_hint(e, "a line holds the words of one run, quoted as for a shell");
}

static int take_lines(struct blocks_inputs *in, FILE *f, char **argv, struct error *e)
{
	char *text = NULL;
	size_t room = 0;
	unsigned line = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = getline(&text, &room, f)) > 0)
		err = take_line(in, text, (size_t)n, ++line, argv, e);
	if (!err && ferror(f))
		err = error_set(e, EXIT_OTHER, "cannot read the inputs: %s", strerror(errno));
	free(text);
	return err;
}

static int read_file(struct blocks_inputs *in, const char *name, char **argv, struct error *e)
{
	FILE *f;
	int err;

	if (!strcmp(name, "-"))
		return take_lines(in, stdin, argv, e);
	privileges_lower();
	f = fopen(name, "re");
	privileges_raise();
	if (!f) {
		error_set(e, EXIT_USAGE, "cannot open the inputs '%s': %s", name, strerror(errno));
		return error_hint(e, "give a file that the user who runs cozbpf can read, or -");
	}
	err = input_check(f, name, e);
	if (!err)
		err = take_lines(in, f, argv, e);
	fclose(f);
	return err;
}

static int read_command(
    struct blocks_inputs *in, const char *command, const char *user, char **argv, struct error *e)
{
	struct identity id;
	struct listing l;
	struct error end;
	int err;

	if (identity_resolve(user, &id, e) || listing_open(&l, command, &id, e))
		return -1;
	err = take_lines(in, l.out, argv, e);
	if (listing_close(&l, command, !err, &end) && !err) {
		*e = end;
		return -1;
	}
	return err;
}

int blocks_inputs_read(struct blocks_inputs *in, const char *file, const char *command,
    const char *user, char **argv, struct error *e)
{
	if (command ? read_command(in, command, user, argv, e) : read_file(in, file, argv, e))
		return -1;
	if (in->n)
		return 0;
	error_set(e, EXIT_USAGE, "there is no line in the inputs");
	return error_hint(e, "write the words of one run into each line, as for a shell");
}

void blocks_inputs_deinit(struct blocks_inputs *in)
{
	for (size_t i = 0; i < in->n; i++) {
		free(in->commands[i].argv);
		shell_free(in->words[i]);
	}
	free(in->commands);
	free(in->words);
}
