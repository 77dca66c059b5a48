// SPDX-License-Identifier: BSD-3-Clause
/* Names of functions in C++ and in both manglings of Rust: their demangled forms, and the short
 * forms that people type. */
#include "check.h"

#include "symbols/elf/names.h"

/* The forms that findsymbol.c compares with, from the longest to the shortest. */
static void check_forms(
    const char *linkage, const char *demangled, const char *no_signature, const char *no_template)
{
	char *name = name_demangle(linkage, name_stem(linkage));

	CHECK_STR(name, demangled);
	if (name) {
		name_cut_signature(name);
		CHECK_STR(name, no_signature);
		name_cut_template(name);
		CHECK_STR(name, no_template);
	}
	free(name);
}

static void check_name(const char *linkage, const char *name)
{
	check_forms(linkage, name, name, name);
}

TEST(c)
{
	check_name("work", "work");
	check_name("work.part.0", "work");
	check_name("_Read", "_Read");
	check_name("_Z", "_Z");
	check_name("_Znonsense", "_Znonsense");
	check_name("h0123456789abcdef", "h0123456789abcdef");
}

TEST(cxx)
{
	check_forms("_ZN2ns1fEi", "ns::f(int)", "ns::f", "ns::f");
	check_forms("_ZN2ns1fEi.constprop.0", "ns::f(int)", "ns::f", "ns::f");
	check_forms(
	    "_ZNK2ns4till4onlyEi", "ns::till::only(int) const", "ns::till::only", "ns::till::only");
	check_forms("_Z5twiceIiET_S0_", "int twice<int>(int)", "twice<int>", "twice");
	check_forms("_ZN2nsltERKNS_1AES2_", "ns::operator<(ns::A const&, ns::A const&)",
	    "ns::operator<", "ns::operator<");
	check_forms(
	    "_ZN2ns1AclEv", "ns::A::operator()()", "ns::A::operator()", "ns::A::operator()");
	check_forms("_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden(int)",
	    "(anonymous namespace)::hidden", "(anonymous namespace)::hidden");
	check_forms(
	    "_ZN1m4work17h0123", "_ZN1m4work17h0123", "_ZN1m4work17h0123", "_ZN1m4work17h0123");
}

/* By rustc 1.95 -Csymbol-mangling-version=legacy. */
TEST(rust_legacy)
{
	check_name("_ZN1m5inner5twice17h7b00b97d6b620e59E", "m::inner::twice");
	check_name("_ZN1m5inner5twice17h7b00b97d6b620e59E.llvm.1234567", "m::inner::twice");
	check_name("_ZN38_$LT$m..Square$u20$as$u20$m..Shape$GT$4area17h67937bc970022f0dE",
	    "<m::Square as m::Shape>::area");
	check_name(
	    "_ZN1m4main28_$u7b$$u7b$closure$u7d$$u7d$17h68c55aefc8366132E", "m::main::{{closure}}");
}

/* By rustc 1.95, whose crates have a number of their own. */
TEST(rust_v0)
{
	check_name("_RNvCskK7mfDs1mzF_1m4work", "m::work");
	check_forms("_RINvNtCskK7mfDs1mzF_1m5inner5twiceyEB4_", "m::inner::twice::<u64>",
	    "m::inner::twice::<u64>", "m::inner::twice");
	check_forms("_RINvCskK7mfDs1mzF_1m4callNCNvB2_4main0EB2_",
	    "m::call::<m::main::{closure#0}>", "m::call::<m::main::{closure#0}>", "m::call");
	check_name("_RNCNvCskK7mfDs1mzF_1m4main0", "m::main::{closure#0}");
	check_name(
	    "_RNvXCskK7mfDs1mzF_1mNtB2_6SquareNtB2_5Shape4area", "<m::Square as m::Shape>::area");
	check_forms("_RNvMs0_NtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync4once5futexNtB5_4Once4call",
	    "<std::sys::sync::once::futex::Once>::call",
	    "<std::sys::sync::once::futex::Once>::call", "std::sys::sync::once::futex::Once::call");
	check_name("_RNvYNvNtNtNtCsjrHSEGnQ3l9_3std3sys2fs4unix4statINtNtNtCsgEmfK2I1SDS_"
		   "4core3ops8function2FnTRNtNtNtBQ_3ffi5c_"
		   "str4CStrEE4callBa_",
	    "<std::sys::fs::unix::stat as "
	    "core::ops::function::Fn<(&core::ffi::c_str::CStr,)>>::call");
}

/* Symbols of Go, and the names that its own table of functions has. */
TEST(go)
{
	check_name("main.work", "main.work");
	check_name("main.(*T).Serve", "main.(*T).Serve");
	check_name("main.(*T).Serve-fm", "main.(*T).Serve-fm");
	check_name("main.main.func1.2", "main.main.func1.2");
	check_name("main.part.Size", "main.part.Size");
	check_name("main.part.0", "main");
	check_forms("main.Max[go.shape.int]", "main.Max[...]", "main.Max[...]", "main.Max");
	check_forms("main.(*L[go.shape.struct { x [2]int }]).Push", "main.(*L[...]).Push",
	    "main.(*L[...]).Push", "main.(*L).Push");
	check_forms("main.Max[...]", "main.Max[...]", "main.Max[...]", "main.Max");
	check_name("main.odd[", "main.odd[");
	check_name("main.odd][", "main.odd][");
	CHECK_STR(name_without_path("example.com/a.b/kv.(*T).Get"), "kv.(*T).Get");
	CHECK_STR(name_without_path("main.f"), "main.f");
	CHECK_STR(name_without_path("kv.Each[example.com/x.T]"), "kv.Each[example.com/x.T]");
	CHECK_STR(name_without_path("a/"), "");
}

TEST(brackets)
{
	char open[] = "<m::T", nested[] = "<m::T<u64>>::f::<u8>", odd[] = "<<>::f",
	     empty[] = "<>::f";

	name_cut_template(open);
	CHECK_STR(open, "<m::T");
	name_cut_template(nested);
	CHECK_STR(nested, "m::T<u64>::f");
	name_cut_template(odd);
	CHECK_STR(odd, "<<>::f");
	name_cut_template(empty);
	CHECK_STR(empty, "::f");
}

/* A reference of either mangling: number @n in base @base between @before and '_'. */
static const char *reference(char before, unsigned n, unsigned base, const char *digits)
{
	static char text[8];

	if (n < base)
		snprintf(text, sizeof(text), "%c%c_", before, digits[n]);
	else
		snprintf(text, sizeof(text), "%c%c%c_", before, digits[n / base], digits[n % base]);
	return text;
}

/* A function whose argument is a function of two arguments, each of which is the function before;
 * @levels of them. */
static void write_cxx(char *to, unsigned levels)
{
	to += sprintf(to, "_Z1fP1A");
	for (unsigned i = 0; i < levels; i++) {
		const char *last =
		    reference('S', 2 * i, 36, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

		to += sprintf(to, "PFv%s%sE", last, last);
	}
}

/* The same with pairs; references count from what stands after "_R". */
static void write_rust(char *to, unsigned levels)
{
	const char *start = to;
	unsigned last = 8;

	to += sprintf(to, "_RINvC1a1bTuuE");
	for (unsigned i = 0; i < levels; i++) {
		const char *pair = reference('B', last - 1, 62,
		    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

		last = (unsigned)(to - start) - 2;
		to += sprintf(to, "T%s%sE", pair, pair);
	}
	strcpy(to, "E");
}

/* Short names with a demangled form of terabytes are left as they are, in a short time. */
TEST(bombs)
{
	char name[1024];

	write_cxx(name, 1);
	check_forms(name, "f(A*, void (*)(A*, A*))", "f", "f");
	write_cxx(name, 40);
	check_name(name, name);
	write_rust(name, 2);
	check_forms(name,
	    "a::b::<((), ()), (((), ()), ((), ())), ((((), ()), ((), ())), (((), ()), ((), ())))>",
	    "a::b::<((), ()), (((), ()), ((), ())), ((((), ()), ((), ())), (((), ()), ((), ())))>",
	    "a::b");
	write_rust(name, 40);
	check_name(name, name);
}
