/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens files that a target or its debug information names: programs, debug files, sources. Such a
 * name may lead anywhere. Symbolic links of a container must not lead out of it, and to open a
 * device or a file of the kernel can have effects. So the file is found first, looked at, and only
 * then opened.
 */
#ifndef COZBPF_OPENFILE_H
#define COZBPF_OPENFILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * A descriptor of what @path names, for fstat() and the like only: the file itself stays unopened
 * (O_PATH). @root is "" or a directory such as /proc/PID/root. A path that begins with @root is
 * resolved within it, symbolic links and ".." included. Any other path is resolved as ours. -1 with
 * errno. The caller closes the descriptor.
 */
int file_find(const char *root, const char *path);

/*
 * Opens the file for reading, which never waits. Refused: what is no regular file, files that a
 * kernel makes up (/proc, /sys and the like), and files above 16 GiB. -1 with the reason in @why,
 * of @size bytes. The caller closes the descriptor.
 */
int file_open(const char *root, const char *path, char *why, size_t size);

/* The same for a file in a directory where anybody makes files, such as /tmp: it has to be
 * @owner's, with this name alone, which is no symbolic link. */
int file_open_owned(const char *root, const char *path, uid_t owner, char *why, size_t size);

/* Whether file_open() would open what @fd is: 0, or -1 with the reason in @why. */
int file_check(int fd, char *why, size_t size);

#endif
