/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress points for causal profilers in a program's own source, used like Coz's header of this
 * name. It needs no library and defines no function. */
#ifndef COZ_H
#define COZ_H

/*
 * COZ_PROGRESS                one unit of work is done; the point is called "FILE:LINE"
 * COZ_PROGRESS_NAMED("name")  the same by a name; places of one name are one point
 * COZ_BEGIN("name")           a transaction begins, on any thread
 * COZ_END("name")             a transaction ends, on any thread
 *
 * FILE and LINE are __FILE__ and __LINE__. A begin and an end of one name are a pair, and cozbpf
 * measures its latency.
 *
 * A name is one or more string literals, or a macro that expands to them, without '"' and '\'. It
 * stands in the executable, so nothing has to be released. Names of progress points and of
 * transactions are separate. Names are cut after 255 bytes.
 *
 * A marker is code that does nothing, and a note beside the code that says where it is. Every
 * kernel emulates its first instruction under a probe: `nop` on x86-64, `adr xzr, .` on arm64,
 * where Linux steps through nops before 6.13. On x86-64 the five-byte nop 0f 1f 44 00 00 follows,
 * which Linux 6.18 probes without a trap. `cozbpf` takes whichever is cheaper, also in a running
 * program, in a static one, and in one without debug information. Without a profiler a marker costs
 * its instructions, below a nanosecond. A marker orders nothing: like any statement, the compiler
 * can move it past independent ones.
 *
 * The note is a static tracing probe as <sys/sdt.h> makes them (section .note.stapsdt, type 3,
 * owner "stapsdt"): provider "coz", name "progress", "begin" or "end", no semaphore. Where such a
 * note describes the probe's arguments, it holds the point's name, as text, without quotes and with
 * a zero byte at its end. A marker has no arguments. Tools that take the text for one may complain,
 * but can place probes.
 *
 * C99 and later, C++11 and later, gcc and clang. On other architectures, and where programs are not
 * ELF, the markers are empty.
 */
#if defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(__ILP32__)

#if defined(__x86_64__)
#define COZ_MARKER_NOP "nop\n\t.byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#else
#define COZ_MARKER_NOP "adr xzr, ."
#endif

/* gcc counts the lines of an asm statement as instructions, and would inline less for it. */
#if defined(__GNUC__) && __GNUC__ >= 9 && !defined(__clang__)
#define COZ_MARKER_ASM __asm__ __inline__ __volatile__
#else
#define COZ_MARKER_ASM __asm__ __volatile__
#endif

#define COZ_MARKER_TEXT_(x) #x
#define COZ_MARKER_TEXT(x) COZ_MARKER_TEXT_(x)

/*
 * Local labels, since the compiler may copy the marker into several places: each copy gets its own
 * note. "?" puts the note into the section group of the code around it, so the linker drops both or
 * none. The hidden symbol in .stapsdt.base, defined once an object file, lets a reader see by how
 * much the program's addresses were moved after linking (prelink).
 */
#define COZ_MARKER(kind, name)                                                                \
	{                                                                                     \
		COZ_MARKER_ASM(                                                               \
		    "990:\t" COZ_MARKER_NOP "\n"                                              \
		    "\t.pushsection .note.stapsdt,\"?\",\"note\"\n"                           \
		    "\t.balign 4\n"                                                           \
		    "\t.4byte 992f-991f, 994f-993f, 3\n"                                      \
		    "991:\t.asciz \"stapsdt\"\n"                                              \
		    "992:\t.balign 4\n"                                                       \
		    "993:\t.8byte 990b\n"                                                     \
		    "\t.8byte _.stapsdt.base\n"                                               \
		    "\t.8byte 0\n"                                                            \
		    "\t.asciz \"coz\"\n"                                                      \
		    "\t.asciz \"" kind "\"\n"                                                 \
		    "\t.asciz \"" name "\"\n"                                                 \
		    "994:\t.balign 4\n"                                                       \
		    "\t.popsection\n"                                                         \
		    "\t.ifndef _.stapsdt.base\n"                                              \
		    "\t.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
		    "\t.weak _.stapsdt.base\n"                                                \
		    "\t.hidden _.stapsdt.base\n"                                              \
		    "_.stapsdt.base:\t.space 1\n"                                             \
		    "\t.size _.stapsdt.base, 1\n"                                             \
		    "\t.popsection\n"                                                         \
		    "\t.endif\n");                                                            \
	}

#define COZ_PROGRESS COZ_MARKER("progress", __FILE__ ":" COZ_MARKER_TEXT(__LINE__))
#define COZ_PROGRESS_NAMED(name) COZ_MARKER("progress", name)
#define COZ_BEGIN(name) COZ_MARKER("begin", name)
#define COZ_END(name) COZ_MARKER("end", name)

#else

/* clang-format off */
#define COZ_PROGRESS { }
#define COZ_PROGRESS_NAMED(name) { }
#define COZ_BEGIN(name) { }
#define COZ_END(name) { }
/* clang-format on */

#endif

#endif
