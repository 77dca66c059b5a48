// SPDX-License-Identifier: BSD-3-Clause
/*
 * What each accounting rule does to the simulator's predictions (tests/unit/sim_cases.h): every
 * case with all rules and with each rule alone turned off, for several seeds. rules.sh runs it.
 * usage: rules [--seeds N] [--jobs N] [--cases] [--names] [RULE...]
 */
#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/sim_cases.h"

#define TRIAL(id, ...) &trial_##id,
static const struct sim_trial *const trials[] = {SIM_TRIALS(TRIAL)};
#define TRIALS (sizeof(trials) / sizeof(*trials))

#define RULE(name, where, sentence) {#name, #where, sentence},
static const struct {
	const char *name, *where, *sentence;
} rules[] = {COZBPF_DELAY_RULES(RULE)};

static const unsigned speedups[] = {25, 50, 75, 100};
enum { CELLS = 4, MAX_SEEDS = 64 };

/* A case counts as moved by a rule beyond both. */
#define MOVED_ERRORS 2
#define MOVED_POINTS 0.1

/* Prediction less truth, in points. */
struct result {
	double error[MAX_SEEDS][TRIALS][CELLS];
};

__u64 delay_rules_off;
static unsigned n_seeds = 8;
static struct result *results; /* of all rules on, and of each one off */

static void predict(struct result *r, unsigned seed, double (*truth)[TRIALS][CELLS])
{
	for (unsigned i = 0; i < TRIALS; i++) {
		struct sim_rules how = sim_trial_rules(trials[i], sim_rules_default(), false);

		how.seed = 42 + seed;
		sim_predict(&trials[i]->c, &how, speedups, CELLS, r->error[seed][i]);
		for (unsigned k = 0; k < CELLS; k++)
			r->error[seed][i][k] -= truth[seed][i][k];
	}
}

/* Each job does every @jobs-th piece of work. */
static bool run_jobs(unsigned jobs, const bool *wanted, double (*truth)[TRIALS][CELLS], bool truths)
{
	bool done = true;

	fflush(stdout);
	for (unsigned job = 0; job < jobs; job++) {
		pid_t pid = fork();

		if (pid < 0)
			return false;
		if (pid)
			continue;
		for (unsigned piece = 0, n = 0; piece < n_seeds * (COZBPF_RULES + 1); piece++) {
			unsigned rule = piece / n_seeds, seed = piece % n_seeds;

			if ((rule && (truths || !wanted[rule - 1])) || n++ % jobs != job)
				continue;
			delay_rules_off = rule ? 1ULL << (rule - 1) : 0;
			for (unsigned i = 0; truths && i < TRIALS; i++)
				sim_truth(&trials[i]->c, speedups, CELLS, 20000 * MS, 42 + seed,
				    truth[seed][i]);
			if (!truths)
				predict(&results[rule], seed, truth);
		}
		_exit(0);
	}
	for (unsigned job = 0; job < jobs; job++) {
		int status = 1;

		wait(&status);
		done &= status == 0;
	}
	return done;
}

/* Mean absolute error of a case, over its cells; of all cases where @trial is TRIALS. */
static double mean_error(const struct result *r, unsigned seed, unsigned trial)
{
	unsigned first = trial < TRIALS ? trial : 0, last = trial < TRIALS ? trial + 1 : TRIALS;
	double sum = 0;

	for (unsigned i = first; i < last; i++)
		for (unsigned k = 0; k < CELLS; k++)
			sum += fabs(r->error[seed][i][k]);
	return sum / (CELLS * (last - first));
}

/* The largest error of a cell, which is a mean over the seeds. */
static double worst_cell(const struct result *r)
{
	double worst = 0;

	for (unsigned i = 0; i < TRIALS; i++)
		for (unsigned k = 0; k < CELLS; k++) {
			double sum = 0;

			for (unsigned seed = 0; seed < n_seeds; seed++)
				sum += fabs(r->error[seed][i][k]);
			worst = fmax(worst, sum / n_seeds);
		}
	return worst;
}

/* By how much the error of a case grows with the rule off: the mean of pairs of equal seeds. */
static double change(const struct result *off, unsigned trial, double *ret_standard_error)
{
	double sum = 0, squares = 0, mean;

	for (unsigned seed = 0; seed < n_seeds; seed++)
		sum += mean_error(off, seed, trial) - mean_error(results, seed, trial);
	mean = sum / n_seeds;
	for (unsigned seed = 0; seed < n_seeds; seed++)
		squares +=
		    pow(mean_error(off, seed, trial) - mean_error(results, seed, trial) - mean, 2);
	*ret_standard_error = sqrt(squares / (n_seeds * (n_seeds - 1.0)));
	return mean;
}

static void print_rule(unsigned rule, bool all_cases)
{
	const struct result *off = &results[rule + 1];
	unsigned moved = 0, most = 0;
	double se, by = change(off, TRIALS, &se), most_by = 0, most_se = 0;

	for (unsigned i = 0; i < TRIALS; i++) {
		double case_se, case_by = change(off, i, &case_se);

		if (fabs(case_by) <= MOVED_ERRORS * case_se || fabs(case_by) < MOVED_POINTS)
			continue;
		moved++;
		if (fabs(case_by) > fabs(most_by))
			most = i, most_by = case_by, most_se = case_se;
	}
	printf("| %-15s | %+6.2f +- %.2f | %+6.1f | %2u | ", rules[rule].name, by, se,
	    worst_cell(off) - worst_cell(results), moved);
	if (moved)
		printf("%+.2f +- %.2f %s |\n", most_by, most_se, trials[most]->c.name);
	else
		printf("%s |\n", strcmp(rules[rule].where, "SIM") ? "real cases only" : "-");
	for (unsigned i = 0; all_cases && i < TRIALS; i++) {
		double case_se, case_by = change(off, i, &case_se);

		if (fabs(case_by) > MOVED_ERRORS * case_se && fabs(case_by) >= MOVED_POINTS)
			printf("    %+6.2f +- %.2f  %s\n", case_by, case_se, trials[i]->c.name);
	}
	fflush(stdout);
}

static void print_table(const bool *wanted, bool all_cases)
{
	double sum = 0;

	for (unsigned seed = 0; seed < n_seeds; seed++)
		sum += mean_error(results, seed, TRIALS);
	printf("%u cases, s = 25/50/75/100 %%, %u seeds; all rules: mean error %.3f, worst cell "
	       "%.1f points\n\n",
	    (unsigned)TRIALS, n_seeds, sum / n_seeds, worst_cell(results));
	printf("| rule turned off | mean error     | worst  | cases | moves most |\n"
	       "| --- | --- | --- | --- | --- |\n");
	for (unsigned rule = 0; rule < COZBPF_RULES; rule++)
		if (wanted[rule])
			print_rule(rule, all_cases);
}

int main(int argc, char **argv)
{
	size_t size = sizeof(*results) * (COZBPF_RULES + 1);
	bool wanted[COZBPF_RULES] = {0}, any = false, all_cases = false;
	unsigned jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	double(*truth)[TRIALS][CELLS];

	for (int i = 1; i < argc; i++) {
		unsigned rule = 0;

		if (!strcmp(argv[i], "--seeds") && i + 1 < argc) {
			n_seeds = (unsigned)atoi(argv[++i]);
			continue;
		}
		if (!strcmp(argv[i], "--jobs") && i + 1 < argc) {
			jobs = (unsigned)atoi(argv[++i]);
			continue;
		}
		if (!strcmp(argv[i], "--cases")) {
			all_cases = true;
			continue;
		}
		if (!strcmp(argv[i], "--names")) {
			for (rule = 0; rule < COZBPF_RULES; rule++)
				printf("%s\t%s\t%s\n", rules[rule].name, rules[rule].where,
				    rules[rule].sentence);
			return 0;
		}
		while (rule < COZBPF_RULES && strcmp(argv[i], rules[rule].name))
			rule++;
		if (rule == COZBPF_RULES)
			return fprintf(stderr, "rules: no rule '%s'\n", argv[i]), 2;
		wanted[rule] = any = true;
	}
	for (unsigned rule = 0; !any && rule < COZBPF_RULES; rule++)
		wanted[rule] = true;
	if (n_seeds < 2 || n_seeds > MAX_SEEDS || !jobs)
		return fprintf(stderr, "rules: 2 to %d seeds, 1 job or more\n", MAX_SEEDS), 2;
	results = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	truth = mmap(NULL, sizeof(*truth) * MAX_SEEDS, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED || truth == MAP_FAILED)
		return fprintf(stderr, "rules: no memory\n"), 1;
	if (!run_jobs(jobs, wanted, truth, true) || !run_jobs(jobs, wanted, truth, false))
		return fprintf(stderr, "rules: a job failed\n"), 1;
	print_table(wanted, all_cases);
	return 0;
}
