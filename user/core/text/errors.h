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

/* What both macros below return. Analyzers look into no other file, so the -1 stands here. */
static inline int error_returned(void)
{
	return -1;
}

/* error_set(@e, status, cause, ...) fills @e (may be NULL) with status and cause, and clears the
 * hint. Returns -1, so callers can `return error_set(...)`. */
#define error_set(...) (error_fill(__VA_ARGS__), error_returned())
void error_fill(struct error *e, int status, const char *cause, ...)
    __attribute__((format(printf, 3, 4)));

/* error_hint(@e, hint, ...) sets the hint of an error that is already set. Returns -1 as well. */
#define error_hint(...) (error_fill_hint(__VA_ARGS__), error_returned())
void error_fill_hint(struct error *e, const char *hint, ...) __attribute__((format(printf, 2, 3)));

/* Sets the hint of an error that is already set, where @err (an errno) says that no more files can
 * be opened; else the hint stays. Returns -1 as well. */
int error_hint_files(struct error *e, int err);

#endif
