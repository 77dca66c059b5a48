#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/lint.sh checks line by line: heads, include guards, sizes, widths, unfinished work.
A program for all files, since a few for each would take minutes on a busy machine.

usage: lint-text.py <PATHS   prints "error|warning PATH[:LINE] MESSAGE" for each fault"""

import re
import sys
from pathlib import Path

FILE, FILE_ENOUGH = 700, 600
FUNCTION, FUNCTION_ENOUGH = 100, 60
COLUMNS = 100  # tabs count 8
UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b")


def fault(at, message, kind="error"):
    print(kind, at, message)


def check_length(at, what, length, allowed, enough):
    if length > allowed:
        fault(at, f"{what}{length} lines, {allowed} are allowed")
    elif length > enough:
        fault(at, f"{what}{length} lines, {enough} are enough", "warning")


def check_sizes(path, lines):
    """Every function is a '{' alone in the first column up to the next '}' there: clang-format sees
    to that."""
    check_length(path, "", len(lines), FILE, FILE_ENOUGH)
    start = None
    for n, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = n
        elif line.startswith("}") and start:
            at = f"{path}:{start - 1}"
            check_length(at, "a function of ", n - start - 1, FUNCTION, FUNCTION_ENOUGH)
            start = None


def check_guard(path, lines):
    first = next((line for line in lines if line.startswith("#ifndef")), "")
    guard = re.sub(r"^#ifndef *", "", first)
    good = re.fullmatch("COZBPF_[A-Z0-9_]+_H", guard)
    if not good and (path, guard) != ("include/coz.h", "COZ_H"):
        fault(path, f"include guard '{guard}' is not COZBPF_..._H")
    if f"#define {guard}" not in lines:
        fault(path, f"include guard '{guard}' is not defined")


def check_widths(path, lines):
    """Rows of Markdown tables cannot be wrapped."""
    wide = [
        n
        for n, line in enumerate(lines, 1)
        if len(line.expandtabs(8)) > COLUMNS and not line.startswith("|")
    ]
    if wide:
        fault(f"{path}:{wide[0]}", f"lines over {COLUMNS} columns: {len(wide)}")


def check(path):
    lines = Path(path).read_text("utf-8", "surrogateescape").split("\n")
    if lines[-1] == "":
        lines.pop()
    suffix = Path(path).suffix if path not in ("Makefile", ".ci/run") else ".sh"
    if suffix in (".c", ".h"):
        check_sizes(path, lines)
    if suffix in (".c", ".h", ".go", ".sh"):
        if not any("SPDX-License-Identifier: " in line for line in lines[:3]):
            fault(path, "no SPDX-License-Identifier in the first three lines")
    if suffix in (".c", ".h", ".go") and not (lines[1:2] or [""])[0].startswith(("/*", "//")):
        fault(f"{path}:2", "the second line says what lives here")
    if suffix == ".h":
        check_guard(path, lines)
    if suffix in (".c", ".h", ".sh", ".md"):
        for n, line in enumerate(lines, 1):
            for word in UNFINISHED.findall(line):
                fault(f"{path}:{n}", f"'{word}': finish it, or file an issue")
    check_widths(path, lines)


for name in sys.stdin.read().split("\n"):
    if name:
        check(name)
