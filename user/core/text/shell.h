/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines that the user can paste into a shell. */
#ifndef COZBPF_SHELL_H
#define COZBPF_SHELL_H

/* Appends @word to *@line, which is from malloc() or NULL, with a blank between the words. The
 * shell (bash, zsh, ksh) reads the same word, whatever bytes are in there; the line is ASCII
 * without control characters. 0, or -ENOMEM: *@line is as it was. */
int shell_append(char **line, const char *word);

#endif
