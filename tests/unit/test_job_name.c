// SPDX-License-Identifier: BSD-3-Clause
/* Names of profiles with a job's numbers in them: what Slurm and MPI set, and what is refused. */
#include "check.h"

#include "core/text/job_name.h"

/* NAME=VALUE of the case, up to a NULL */
static const char *const *environment;

static char *variable(const char *name)
{
	size_t n = strlen(name);

	for (const char *const *v = environment; *v; v++)
		if (!strncmp(*v, name, n) && (*v)[n] == '=')
			return (char *)*v + n + 1;
	return NULL;
}

static const struct job_values values = {variable, "login1"};
static struct error e;

static char *name_of(const char *pattern)
{
	static char *name;

	free(name);
	name = NULL;
	return job_name_expand(pattern, &values, &name, &e) ? NULL : name;
}

static const char *const slurm[] = {"SLURMD_NODENAME=n3", "SLURM_NODEID=2", "SLURM_PROCID=5",
    "SLURM_JOB_ID=1234", "SLURM_STEP_ID=0", "SLURM_ARRAY_JOB_ID=1230", "SLURM_ARRAY_TASK_ID=4",
    NULL};
static const char *const nothing[] = {NULL};

TEST(a_task_of_slurm)
{
	environment = slurm;
	CHECK_STR(name_of("profile-%N-%t.coz"), "profile-n3-5.coz");
	CHECK_STR(name_of("%j.%s/%A_%a.%n"), "1234.0/1230_4.2");
	CHECK_STR(name_of("%N"), "n3");
	CHECK_STR(name_of("%N%t"), "n35");
}

/* mpirun within a step: all its ranks have the step's SLURM_PROCID. */
TEST(a_rank_of_mpi)
{
	static const char *const open_mpi[] = {
	    "SLURM_PROCID=0", "OMPI_COMM_WORLD_RANK=7", "PMIX_RANK=7", NULL};
	static const char *const mpich[] = {"PMI_RANK=3", NULL};

	environment = open_mpi;
	CHECK_STR(name_of("%t"), "7");
	environment = mpich;
	CHECK_STR(name_of("%t"), "3");
}

TEST(outside_of_a_job)
{
	environment = nothing;
	CHECK_STR(name_of("profile-%N.coz"), "profile-login1.coz");
	CHECK(!name_of("profile-%t.coz"));
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK_STR(
	    e.cause, "'%t' in the name 'profile-%t.coz' needs SLURM_PROCID, which is not set");
	CHECK_STR(e.hint, "start cozbpf by srun or mpirun; behind sudo: sudo "
			  "--preserve-env=SLURM_PROCID");
	for (const char *p = "ntjsAa"; *p; p++) {
		char pattern[] = {'x', '%', *p, 0};

		CHECK(!name_of(pattern));
	}
}

TEST(an_empty_value_is_none)
{
	static const char *const empty[] = {"SLURM_PROCID=", "PMI_RANK=", "SLURMD_NODENAME=", NULL};

	environment = empty;
	CHECK(!name_of("%t"));
	CHECK_STR(name_of("%N"), "login1");
}

/* Names as they were before there were patterns. */
TEST(a_percent_sign_that_is_none)
{
	environment = nothing;
	CHECK_STR(name_of("profile.coz"), "profile.coz");
	CHECK_STR(name_of(""), "");
	CHECK_STR(name_of("100%"), "100%");
	CHECK_STR(name_of("100%.coz"), "100%.coz");
	CHECK_STR(name_of("/dev/fd/3"), "/dev/fd/3");
	CHECK_STR(name_of("100%%"), "100%");
	CHECK_STR(name_of("%%t%%%%N"), "%t%%N");
	CHECK_STR(name_of("a%-b"), "a%-b");
	CHECK_STR(name_of("\xc3\xa4%\xc3\xa4"), "\xc3\xa4%\xc3\xa4");
}

/* %4t, of srun's, would else name one file for all tasks. */
TEST(a_letter_that_is_none)
{
	environment = slurm;
	CHECK(!name_of("p-%x.coz"));
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK_STR(e.cause, "'%x' in the name 'p-%x.coz' stands for nothing");
	CHECK(!name_of("p-%4t.coz"));
	CHECK(!name_of("p-%T.coz"));
}

TEST(a_value_that_leads_elsewhere)
{
	static const char *const hostile[] = {"SLURMD_NODENAME=../../etc/cron.d/x", NULL};

	environment = hostile;
	CHECK(!name_of("%N"));
	CHECK_STR(
	    e.cause, "SLURMD_NODENAME is '../../etc/cron.d/x', which is no part of a file's name");
}

/* The message keeps within its room. */
TEST(a_long_name)
{
	char pattern[4000];

	environment = slurm;
	memset(pattern, 'p', sizeof(pattern) - 1);
	pattern[sizeof(pattern) - 1] = 0;
	CHECK_STR(name_of(pattern), pattern);
	memcpy(pattern, "%y", 2);
	CHECK(!name_of(pattern));
	CHECK(strlen(e.cause) < sizeof(e.cause));
}

/* What a profile calls its machine is what %N stands for. */
TEST(the_node_of_a_profile)
{
	static const struct job_values unknown = {variable, ""};

	environment = slurm;
	CHECK_STR(job_node(&values), "n3");
	environment = nothing;
	CHECK_STR(job_node(&values), "login1");
	CHECK(!job_node(&unknown));
}
