// SPDX-License-Identifier: BSD-3-Clause
/* Preloaded into the tool by load.sh: asks the verifier how much it has worked on each program of
 * ours, and appends "NAME INSTRUCTIONS" to $COZBPF_VERIFIED. /proc tells that since 5.16 only. */
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define LOG_STATISTICS 4

static void tell(const char *name, const char *log)
{
	const char *path = getenv("COZBPF_VERIFIED"), *told = strstr(log, "processed ");
	FILE *out = path && told ? fopen(path, "ae") : NULL;

	if (!out)
		return;
	fprintf(out, "%s %ld\n", name, atol(told + strlen("processed ")));
	fclose(out);
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	static char log[1 << 16];
	union bpf_attr attr = {0};
	long a[6], ret;
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!real)
		real = dlsym(RTLD_NEXT, "syscall");
	if (number != SYS_bpf || a[0] != BPF_PROG_LOAD || a[2] > (long)sizeof(attr))
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	memcpy(&attr, (void *)a[1], (size_t)a[2]);
	if (attr.log_level || strncmp(attr.prog_name, "on_", 3))
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	attr.log_level = LOG_STATISTICS;
	attr.log_buf = (unsigned long)log;
	attr.log_size = sizeof(log);
	log[0] = 0;
	ret = real(number, a[0], &attr, a[2], a[3], a[4], a[5]);
	if (ret >= 0)
		tell(attr.prog_name, log);
	return ret;
}
