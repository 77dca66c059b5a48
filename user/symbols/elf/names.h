/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: names of functions as compilers and as people write them. Pure text. */
#ifndef COZBPF_NAMES_H
#define COZBPF_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Length of @name without what clones (".part.0", ".constprop.1", ".isra.2", ".lto_priv.3",
 * ".llvm.123") and versions ("@@V") add. */
size_t name_stem(const char *name);

/* Whether @name is the outlined cold part of a function, unless it is a function of Go
 * (symbol_is_cold()). Such a part is entered by a jump from the function's middle, never by a call.
 */
bool name_is_cold(const char *name);

/* The demangled form of @name (of @len bytes), for C++ and Rust, without hashes, and for Go's
 * generic code; a copy of @name when it is not mangled or too long. The caller frees it; NULL:
 * memory is short. */
char *name_demangle(const char *name, size_t len);

/* The name of a probe site's function: demangled, cut off where there is no more room. */
void site_name(char function[128], const char *linkage_name);

/* Cuts a demangled name in place: return type and parameters go ("int ns::f<int>(long) const" ->
 * "ns::f<int>"). */
void name_cut_signature(char *name);

/* Cuts the template arguments of the last component as well ("ns::f<int>" -> "ns::f",
 * "<krate::T>::f::<u64>" -> "krate::T::f", "main.(*T[...]).f" -> "main.(*T).f"). */
void name_cut_template(char *name);

/* A name of Go without the folders of its package: "yaml.(*T).f" of "example.com/yaml.(*T).f". */
const char *name_without_path(const char *name);

#endif
