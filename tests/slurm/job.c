// SPDX-License-Identifier: BSD-3-Clause
/* The `./job` of docs/fleet.md: one thread, 8 ms of line A and 2 ms of line B for each request, for
 * 20 s. So the slopes are 0.8 and 0.2, whatever else the CPUs do. */
#define main abab_main
#define progress request_done
#include "../workloads/abab.c"
#undef main

int main(void)
{
	char *argv[] = {
	    "job", "--threads", "1", "--a-us", "8000", "--b-us", "2000", "--seconds", "20", NULL};

	abab_main(sizeof(argv) / sizeof(argv[0]) - 1, argv);
	return 0;
}
