// SPDX-License-Identifier: BSD-3-Clause
/* Which calls synchronise; see sync_calls.h. */
#include "core/places/sync_calls.h"

#include <string.h>

#include <cozbpf/abi.h>

#include "core/text/paths.h"

#define WAKES 0
#define BLOCKS (COZBPF_CALL_BLOCKS | COZBPF_RESULT_ZERO)

const struct sync_call sync_calls[] = {
    /* Table 1 of the paper: may wake another thread */
    {"pthread_mutex_unlock", WAKES},
    {"pthread_cond_signal", WAKES},
    {"pthread_cond_broadcast", WAKES},
    {"pthread_kill", WAKES},
    {"pthread_exit", WAKES},
    {"kill", WAKES},
    {"pthread_rwlock_unlock", WAKES},
    {"pthread_sigqueue", WAKES},
    {"sigqueue", WAKES},
    {"sem_post", WAKES},
    /* Table 2: may block; a barrier blocks and wakes */
    {"pthread_barrier_wait", COZBPF_CALL_BLOCKS | COZBPF_RESULT_ANY},
    {"pthread_mutex_lock", BLOCKS},
    {"pthread_mutex_timedlock", BLOCKS},
    {"pthread_mutex_clocklock", BLOCKS},
    {"pthread_cond_wait", BLOCKS},
    {"pthread_cond_timedwait", BLOCKS},
    {"pthread_cond_clockwait", BLOCKS},
    {"pthread_join", BLOCKS},
    {"pthread_timedjoin_np", BLOCKS},
    {"pthread_clockjoin_np", BLOCKS},
    {"pthread_rwlock_rdlock", BLOCKS},
    {"pthread_rwlock_wrlock", BLOCKS},
    {"pthread_rwlock_timedrdlock", BLOCKS},
    {"pthread_rwlock_timedwrlock", BLOCKS},
    {"sem_wait", BLOCKS},
    {"sem_timedwait", BLOCKS},
    {"sem_clockwait", BLOCKS},
    {"sigwait", BLOCKS},
    {"sigwaitinfo", COZBPF_CALL_BLOCKS | COZBPF_RESULT_POSITIVE},
    {"sigtimedwait", COZBPF_CALL_BLOCKS | COZBPF_RESULT_POSITIVE},
    {"sigsuspend", COZBPF_CALL_BLOCKS | COZBPF_RESULT_ANY},
};
const size_t n_sync_calls = sizeof(sync_calls) / sizeof(sync_calls[0]);

bool is_sync_library(const char *path)
{
	const char *name = path_base(path);

	return !strcmp(name, "libc.so.6") || !strcmp(name, "libpthread.so.0") ||
	       !strncmp(name, "libc-2.", 7) || !strncmp(name, "libpthread-2.", 13) ||
	       !strncmp(name, "ld-musl-", 8) || !strcmp(name, "libc.so"); /* these two are musl's */
}
