/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runs of a profile that was put together from several files: of which builds they are, which
 * is there twice, and where their sources lie. Experiments of a run stand together, as
 * profile_read() leaves them.
 */
#ifndef COZBPF_RUNS_H
#define COZBPF_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile/profile.h"

/* Finds the first run of another build than a run before it. Runs that do not say their build are
 * of no other. false: there is none. */
bool runs_other_build(const struct profile *p, size_t *ret_first, size_t *ret_other);
/* Different builds; runs that do not say theirs count for none. */
size_t runs_count_builds(const struct profile *p);
/* The id of the only build; NULL: no run says one, or there are several. */
const char *runs_only_build(const struct profile *p);
size_t runs_without_build(const struct profile *p);

/* Whether the run is of the build whose id begins with @build. */
bool runs_is_of(const struct run_record *r, const char *build);

/*
 * A run is there twice when a file was read twice, copied while it was written, or merged before.
 * It is known by its start, in ns, its build, and its experiments: all that the shorter one has are
 * the first ones of the longer. @ret, by run, is the run that holds it as well, or the run itself.
 * 0 or -ENOMEM.
 */
int runs_find_twins(const struct profile *p, uint32_t *ret);

/* Says which one @x is, by its times: of two runs that began in the same ns, it tells them apart.
 * NULL: 0. */
uint64_t runs_first(const struct experiment_record *x);
/* The first experiment of @run, or NULL. For rising runs; *@at, 0 at first, is the caller's. */
const struct experiment_record *runs_next_first(const struct profile *p, uint32_t run, size_t *at);

/*
 * The same for what is in sums, where the experiments are no longer there: sets @drop, by run, for
 * runs that are members of a sum, and for sums all of whose members are in another one. *@ret_torn
 * is a sum of which only some are, which cannot be taken apart, or SIZE_MAX. 0 or -ENOMEM.
 */
int runs_find_members(const struct profile *p, bool *drop, size_t *ret_torn);

/* Takes out the runs for which @drop, by run, is set, with all their records. The other runs'
 * numbers change. */
void runs_drop(struct profile *p, const bool *drop);

/* Gives lines below the directory @old the directory @new, in run @first and those after it. @p is
 * one that was read. Returns how many records were changed, -ENOMEM. */
long runs_move_sources(struct profile *p, size_t first, const char *old, const char *new);

/*
 * Finds a run that has no line in common with run 0, although the same file names and line numbers
 * are in both below other directories: sources that were built elsewhere. @ret_a and @ret_b are an
 * example, borrowed. 1, 0 for none, or -ENOMEM.
 */
int runs_find_moved(
    const struct profile *p, size_t *ret_run, const char **ret_a, const char **ret_b);

#endif
