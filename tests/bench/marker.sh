#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints what a marker of include/coz.h costs in a program without a profiler. Needs no root.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
mkdir -p "$build/bench"
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	$compiler -O2 -Iinclude -o "$build/bench/marker" tests/bench/marker.c
	printf '%s: ' $compiler
	"$build/bench/marker"
done
