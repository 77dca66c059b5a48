/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: names of functions as the compiler and as people write them. Pure text.
 */
#ifndef COZBPF_NAMES_H
#define COZBPF_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Length of @name without what clones (".part.0", ".constprop.1", ".isra.2", ".lto_priv.3",
 * ".llvm.123") and versions ("@@V") add. */
size_t name_stem(const char *name);

/* Whether @name is the outlined cold part of a function, which is entered in the middle of it and
 * never called. */
bool name_is_cold(const char *name);

/* @name (of @len bytes), of C++ or Rust, demangled without hashes, or as it is when it is not
 * mangled or too long. malloc'd; NULL when memory is short. */
char *name_demangle(const char *name, size_t len);

/* The name of a probe site's function: demangled, cut off where there is no more room. */
void site_name(char function[128], const char *linkage_name);

/* Cuts a demangled name down in place: return type and parameters go ("int ns::f<int>(long) const"
 * -> "ns::f<int>"). */
void name_cut_signature(char *name);

/* Cuts the template arguments of the last component as well ("ns::f<int>" -> "ns::f",
 * "<krate::T>::f::<u64>" -> "krate::T::f"). */
void name_cut_template(char *name);

#endif
