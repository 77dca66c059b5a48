#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Attaches to running programs of Go and Rust, like ordinary programs of threads and lines. Go's
# runtime handles every signal and has stacks of its own. By arithmetic, ending the line gains 60 %;
# the test only checks that the gain is large. `make check-real`.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
scripts/install-deps.sh go >/dev/null || skip "the compilers cannot be installed"

cat >"$dir/main.go" <<'END'
package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

var over int32
var units int64

//go:noinline
func progress() { atomic.AddInt64(&units, 1) }

func work(sink *uint64) {
	x := uint64(1)
	for atomic.LoadInt32(&over) == 0 {
		for i := 0; i < 6000000; i++ { x = x*6364136223846793005 + 1 } // LINE_A
		for i := 0; i < 4000000; i++ { x = x*6364136223846793005 + 1 } // LINE_B
		progress()
	}
	*sink = x
}

func main() {
	var sinks [2]uint64
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	for i := range sinks { go work(&sinks[i]) }
	go func() { for { _ = make([]byte, 1<<16); time.Sleep(time.Millisecond) } }()
	fmt.Println("ready")
	<-c
	atomic.StoreInt32(&over, 1)
	time.Sleep(100 * time.Millisecond)
	fmt.Println("end", atomic.LoadInt64(&units) > 0)
}
END
cat >"$dir/main.rs" <<'END'
use std::sync::atomic::{AtomicU64, Ordering};
static UNITS: AtomicU64 = AtomicU64::new(0);
#[no_mangle]
#[inline(never)]
pub extern "C" fn progress() {
    // A function of one locked instruction could not be probed.
    if std::hint::black_box(UNITS.load(Ordering::Relaxed)) < u64::MAX {
        UNITS.fetch_add(1, Ordering::Relaxed);
    }
}
fn work() {
    let mut x: u64 = 1;
    loop {
        for i in 0..6000000u64 { x = std::hint::black_box(x ^ i) } // LINE_A
        for i in 0..4000000u64 { x = std::hint::black_box(x ^ i) } // LINE_B
        progress();
    }
}
fn main() {
    for _ in 0..2 { std::thread::spawn(work); }
    println!("ready");
    std::thread::sleep(std::time::Duration::from_secs(30));
    println!("end");
}
END
profile() { # BINARY SOURCE PROGRESS
	local line n
	line=$2:$(grep -n 'LINE_A' "$dir/$2" | cut -d: -f1)
	"$dir/$1" >"$dir/target" 2>&1 &
	started+=("$!")
	wait_for 20 has "$dir/target" '^ready' || bad "it starts"
	rm -f "$dir/profile.coz"
	run 0 "$tool" -v --no-tui -P "done=$3" -s "%/$2" --fixed-line "$line" \
		--fixed-speedup "0,50,100" -d 12s -o "$dir/profile.coz" -p "${started[-1]}"
	n=$(sed -nE "s/^cozbpf: process ${started[-1]} \(.*\): .* ([0-9]+) begun\$/\1/p" "$dir/err")
	check "$1 was paused (${n:-0} times)" is "${n:-0}" '>=' 20
	says 'pause handler taken out;' "^ +1  $line +\+0\.[3-9]"
	check "it goes on" kill -0 "${started[-1]}"
}
echo "-- Go"
(cd "$dir" && HOME=$dir GOCACHE=$dir/go GO111MODULE=off go build -o go_program main.go) ||
	bad "it builds"
profile go_program main.go main.progress
run 2 "$tool" -q -P "uretprobe:$dir/go_program:main.progress" -o "$dir/profile.coz" \
	-p "${started[-1]}"
says "error: '.*/go_program' is a Go program: its stacks move" 'hint: .*entry'
kill -TERM "${started[-1]}"
wait "${started[-1]}"
check "it ends well" has "$dir/target" '^end true$'
if command -v rustc >/dev/null; then
	echo "-- Rust"
	(cd "$dir" && rustc -g -O -o rust_program main.rs) || bad "it builds"
	profile rust_program main.rs progress
fi
finish
