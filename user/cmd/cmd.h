/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands. Each gets argv with its own name as argv[0], and returns the tool's exit status.
 * It prints its result to standard output and all else to standard error. */
#ifndef COZBPF_CMD_H
#define COZBPF_CMD_H

int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_blocks(int argc, char **argv);
int cmd_blocks_report(int argc, char **argv); /* `cozbpf blocks report` */
int cmd_suggest(int argc, char **argv);
int cmd_lines(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
