// SPDX-License-Identifier: BSD-3-Clause
/* Patterns in names of files; see job_name.h. */
#include "core/text/job_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* of one pattern: what MPI's starters set goes before Slurm's own */
#define MOST_VARIABLES 4

struct pattern {
	char letter;
	const char *variables[MOST_VARIABLES + 1]; /* the first that is set */
	const char *next;                          /* step where none is */
};

/* Ranks that mpirun starts inherit SLURM_PROCID of the one step that it runs in, so theirs goes
 * first. Slurm: srun(1), "OUTPUT ENVIRONMENT VARIABLES"; PMIx 4, 11.1.3; mpirun(1) of Open MPI;
 * mpiexec(1) of MPICH. */
static const struct pattern patterns[] = {
    {'N', {"SLURMD_NODENAME"}, ""},
    {'n', {"SLURM_NODEID"}, "start cozbpf by srun"},
    {'t', {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"},
	"start cozbpf by srun or mpirun"},
    {'j', {"SLURM_JOB_ID"}, "start cozbpf by srun or sbatch"},
    {'s', {"SLURM_STEP_ID"}, "start cozbpf by srun"},
    {'A', {"SLURM_ARRAY_JOB_ID"}, "submit an array (sbatch --array)"},
    {'a', {"SLURM_ARRAY_TASK_ID"}, "submit an array (sbatch --array)"},
};

static const struct pattern *find(char letter)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (patterns[i].letter == letter)
			return &patterns[i];
	return NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static int append(char **to, const char *from, size_t n, struct error *e)
{
	size_t used = strlen(*to);
	char *bigger = realloc(*to, used + n + 1);

	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	memcpy(bigger + used, from, n);
	bigger[used + n] = 0;
	*to = bigger;
	return 0;
}

static int no_value(const struct pattern *p, const char *name, struct error *e)
{
	const char *const *last = p->variables;

	while (last[1])
		last++;
	error_set(e, EXIT_USAGE, "'%%%c' in the name '%s' needs %s, which is not set", p->letter,
	    name, *last);
	return error_hint(e, "%s; behind sudo: sudo --preserve-env=%s", p->next, *last);
}

/* The first value that there is, and where it is from; NULL: there is none. */
static const char *value_of(
    const struct pattern *p, const struct job_values *values, const char **ret_from)
{
	for (size_t i = 0; p->variables[i]; i++) {
		const char *value = values->variable(p->variables[i]);

		*ret_from = p->variables[i];
		if (value && *value)
			return value;
	}
	*ret_from = "the name of this host";
	return p->letter == 'N' && *values->host ? values->host : NULL;
}

/* The job's environment is its user's, and a name is a name: it leads into no other directory. */
static int append_value(char **to, const struct pattern *p, const struct job_values *values,
    const char *name, struct error *e)
{
	const char *from, *value = value_of(p, values, &from);

	if (!value)
		return no_value(p, name, e);
	if (strchr(value, '/')) {
		error_set(e, EXIT_USAGE, "%s is '%.200s', which is no part of a file's name", from,
		    value);
		return error_hint(e, "leave out '%%%c' in '%s'", p->letter, name);
	}
	return append(to, value, strlen(value), e);
}

/* What @at, a %, begins. Returns how many signs that takes, or -1 with @e. */
static int append_pattern(
    char **to, const char *at, const struct job_values *values, const char *name, struct error *e)
{
	const struct pattern *p = find(at[1]);

	if (p)
		return append_value(to, p, values, name, e) ? -1 : 2;
	if (is_letter(at[1])) {
		error_set(e, EXIT_USAGE, "'%%%c' in the name '%s' stands for nothing", at[1], name);
		return error_hint(e, "%%N is the node, %%t the task, %%j the job; %%%% is a %%");
	}
	return append(to, "%", 1, e) ? -1 : at[1] == '%' ? 2 : 1;
}

int job_name_expand(
    const char *pattern, const struct job_values *values, char **ret, struct error *e)
{
	char *name = strdup("");
	const char *c = pattern;
	int n = name ? 0 : error_set(e, EXIT_OTHER, "out of memory");

	while (n >= 0 && *c) {
		size_t plain = strcspn(c, "%");

		n = plain ? append(&name, c, plain, e)
			  : append_pattern(&name, c, values, pattern, e);
		c += plain ? plain : n > 0 ? (size_t)n : 0;
	}
	if (n >= 0) {
		*ret = name;
		return 0;
	}
	free(name);
	return -1;
}

const char *job_node(const struct job_values *values)
{
	const char *from;

	return value_of(find('N'), values, &from);
}
