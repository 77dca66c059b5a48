/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests, fuzzers and benches of the readers themselves: what is written for symbols.h calls
 * them in this process, without a child. To be included before anything that uses symbols.h. */
#ifndef COZBPF_DIRECT_H
#define COZBPF_DIRECT_H

#include "symbols/reading.h"

#define object image
#define object_open image_open
#define object_open_code image_open
#define object_close image_close
#define object_has_debug_info image_has_debug_info
#define object_has_text image_has_text
#define object_add_lines image_add_lines
#define object_add_functions image_add_functions
#define object_source_files image_source_files
#define object_find_line image_find_line
#define object_find_symbol image_find_symbol
#define object_functions image_functions
#define object_sdt_probes image_sdt_probes
#define object_find_usdt image_find_usdt
#define object_find_markers image_find_markers
#define object_find_coz_sites image_find_coz_sites
#define object_cheap_site image_cheap_site
#define object_site_is_cheap image_site_is_cheap
#define object_check_site image_check_site
#define object_unwind_rows(o, max, stop, ret, n, e) \
	((void)(stop), (void)(e), image_unwind_rows(o, max, ret, n))
#define object_spin_sites(o, max, ret, n, e) ((void)(e), image_spin_sites(o, max, ret, n))
#define object_add_blocks image_add_blocks
#define object_block_sites image_block_sites
/* elf/image.h */
#define object_path image_path
#define object_address image_address
#define object_clip image_clip
#define object_is_code image_is_code
#define object_load_symbols image_load_symbols
#define object_offset image_offset

#endif
