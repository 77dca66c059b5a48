/* SPDX-License-Identifier: BSD-3-Clause */
/* How every function tells its caller in words why it failed: cause, next step, exit status.
 * Nothing is printed here. */
#ifndef COZBPF_ERRORS_H
#define COZBPF_ERRORS_H

/* Exit statuses of the tool (docs/design.md, Contracts). */
enum exit_status {
	EXIT_OK = 0,
	EXIT_OTHER = 1,     /* anything without a status of its own */
	EXIT_USAGE = 2,     /* wrong usage, including a spec that names nothing */
	EXIT_FORBIDDEN = 3, /* the machine does not allow it */
	EXIT_NO_RESULT = 4, /* nothing could be measured */
};

struct error {
	int status;       /* enum exit_status */
	char cause[1024]; /* lower case, no full stop, names in 'quotes' */
	char hint[1024];  /* next step for the user, or empty */
};

/* The next step of who lacks rights. */
#define ADVICE_PRIVILEGE \
	"run it with sudo, or have root let a trusted group run it (docs/security.md)"

/* Fills @e (may be NULL) with status and cause, and clears the hint. Returns -1, so callers can
 * `return error_set(...)`. */
int error_set(struct error *e, int status, const char *cause, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the hint of an error that is already set. Returns -1 as well. */
int error_hint(struct error *e, const char *hint, ...) __attribute__((format(printf, 2, 3)));

/* Sets the hint of an error that is already set, where @err (an errno) says that no more files can
 * be opened; else the hint stays. Returns -1 as well. */
int error_hint_files(struct error *e, int err);

#endif
