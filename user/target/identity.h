/* SPDX-License-Identifier: BSD-3-Clause */
/* As whom the command runs and to whom the profile belongs: the invoking user under sudo, otherwise
 * ourselves. */
#ifndef COZBPF_IDENTITY_H
#define COZBPF_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/text/errors.h"

struct identity {
	bool change; /* the command runs as another user than we do */
	uid_t uid;
	gid_t gid;
	char name[64], home[256];
};

/* @user: name or number given by --user, or NULL: who has called sudo, pkexec or doas when
 * we are root by these. Returns -1 with @e when there is no such user. */
int identity_resolve(const char *user, struct identity *ret, struct error *e);

/* In the child, before exec: sets groups, ids, HOME, USER, LOGNAME. Returns 0 or -errno. */
int identity_assume(const struct identity *id);

/* For commands that only read and write files: the process goes on as the user who has called sudo,
 * pkexec or doas, for good. -1 with @e. */
int identity_become_caller(struct error *e);

/* Whether that user may read the file. */
bool identity_may_read(const struct identity *id, const char *path);

/* Opens a file for appending with that user's rights; a new file belongs to that user. Returns a
 * descriptor or -errno. */
int identity_open_append(const struct identity *id, const char *path);

/* Renames a file with that user's rights; @to NULL: removes it. 0 or -errno. */
int identity_rename(const struct identity *id, const char *from, const char *to);

/* Puts @data in the place of the file at @path, with that user's rights. Whoever reads it has the
 * old one or the new one, whole. 0 or -errno; -EEXIST where something else than a file is there. */
int identity_replace(const struct identity *id, const char *path, const void *data, size_t size);

#endif
