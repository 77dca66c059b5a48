/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines that the user can paste into a shell, and those of a file. */
#ifndef COZBPF_SHELL_H
#define COZBPF_SHELL_H

/* Appends @word to *@line, which is from malloc() or NULL, with a blank between the words. The
 * shell (bash, zsh, ksh) reads the same word, whatever bytes are in there; the line is ASCII
 * without control characters. 0, or -ENOMEM: *@line is as it was. */
int shell_append(char **line, const char *word);

/*
 * The words of @line as a shell reads them: blanks part words, '...', "...", $'...' and \ quote.
 * Nothing else means anything: no variable, pattern, pipe or redirection. A word that begins with #
 * ends the line. *@ret ends with NULL and is freed by shell_free(). 0 with *@ret, whose first word
 * is NULL for a line without words; -EINVAL: a quote does not end; -ENOMEM.
 */
int shell_split(const char *line, char ***ret);
void shell_free(char **words); /* accepts NULL */

#endif
