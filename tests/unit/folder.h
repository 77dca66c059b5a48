/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder for the files of a test. */
#ifndef COZBPF_TESTS_FOLDER_H
#define COZBPF_TESTS_FOLDER_H

#include "check.h"

/* COZBPF_FIXTURES, of this test alone, empty. Whatever becomes of the test, `make clean` removes
 * it. */
static inline void new_folder(void)
{
	CHECK(!system("rm -rf '" COZBPF_FIXTURES "' && mkdir -p '" COZBPF_FIXTURES "'"));
}

#endif
