// SPDX-License-Identifier: BSD-3-Clause
// What all workloads in Go share, as workload.h does for C: options, counted work, progress and its
// true rate. Each other file here is one workload, built together with this file.
//
// Work is a loop that latency limits, and stands on one line of source:
//
//	for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
//
// So all of its instructions are that line's, and a turn takes as long as one of SPIN. gofmt would
// part the loop into three lines.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const whole = 65536 // of share

var (
	lineSpeedup = flag.Float64("line-speedup", 0, "percent by which the line is faster")
	turnMs      = flag.Int("turns", 0, "line speedups in turns of so many milliseconds")
	seconds     = flag.Float64("seconds", 0, "end after this time; 0: never")
	rounds      = flag.Int64("rounds", 0, "end after so many visits; 0: never")
	itersPerMs  = flag.Float64("iters-per-ms", 0, "turns of the loop in a millisecond")
	procs       = flag.Int("procs", 0, "GOMAXPROCS; 0: the runtime's choice")
	announce    = flag.Bool("announce", false, "say 'ready' and 'end'")
	calibrated  = flag.Bool("calibrate", false, "print the turns in a millisecond")
)

var (
	share                   atomic.Int64 // what --line-speedup or the turn leaves of the line
	begun                   atomic.Int64 // rounds, by who asks for another()
	visits, firstNs, lastNs atomic.Int64
	start                   = time.Now()
	finishing               sync.Once
	report                  = func() {} // prints more than the visits at the end
)

// Line speedups that take turns, and the periods between visits at each.
var (
	speedups    = [...]int{0, 25, 50, 75, 100}
	periods, ns [len(speedups)]int64
)

func nowNs() int64 { return int64(time.Since(start)) }

// The progress point: one visit per unit of work. Without nosplit it would begin with a check for
// room on the stack, which a goroutine passes twice when it is preempted there.
//
//go:noinline
//go:nosplit
func progress() {
	now := nowNs()
	nth := visits.Add(1)
	if nth == 1 {
		firstNs.Store(now)
	}
	lastNs.Store(now)
	if nth == *rounds {
		finish()
	}
}

// Whether a goroutine may begin another round. Who asks keeps the visits at exactly --rounds, for
// others go on while the last visit ends the program.
func another() bool { return *rounds == 0 || begun.Add(1) <= *rounds }

// Ends the program. The period is measured from the first to the last visit: exact in short runs
// too.
func finish() {
	finishing.Do(func() {
		n, period := visits.Load(), 0.0
		if n > 1 {
			period = float64(lastNs.Load()-firstNs.Load()) / 1e3 / float64(n-1)
		}
		for i := 0; *turnMs > 0 && i < len(speedups); i++ {
			fmt.Printf("turns %d periods %d seconds %.9f\n", speedups[i], periods[i],
				float64(ns[i])/1e9)
		}
		fmt.Printf("visits %d seconds %.6f period_us %.4f\n", n, float64(nowNs())/1e9,
			period)
		report()
		if *announce {
			fmt.Println("end")
		}
		os.Exit(0)
	})
}

// Keeps @x alive, which is odd.
func use(x uint64) {
	if x == 0 {
		panic("an odd number became even")
	}
}

// Turns per millisecond: the best of many tries, since disturbances can only slow.
func calibrate() float64 {
	const turns = 200000
	best := int64(1) << 62
	x := uint64(3)
	for i := 0; i < 50; i++ {
		begin := nowNs()
		for n := turns; n > 0; n-- { x *= x * x }
		if took := nowNs() - begin; took < best {
			best = took
		}
	}
	use(x)
	return turns * 1e6 / float64(best)
}

// Turns that take @us at the calibrated speed.
func turns(us int) int { return int(float64(us)**itersPerMs/1000 + 0.5) }

// What is left of the turns of the line under test.
func line(turns int) int { return int(int64(turns) * share.Load() / whole) }

func setLine(speedup float64) { share.Store(int64(whole*(100-speedup)/100 + 0.5)) }

// Parses options and calibrates without --iters-per-ms. Call it first in main().
func begin() {
	flag.Parse()
	if *calibrated {
		fmt.Printf("%.0f\n", calibrate())
		os.Exit(0)
	}
	if *itersPerMs == 0 {
		*itersPerMs = calibrate()
	}
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}
	setLine(*lineSpeedup)
}

// Waits for @span. True when a signal ends the program.
func sleep(over <-chan os.Signal, span time.Duration) bool {
	select {
	case <-over:
		return true
	case <-time.After(span):
		return false
	}
}

// The visits so far, and the time of the last one.
func seen() (int64, int64) {
	for {
		n, last := visits.Load(), lastNs.Load()
		if n == visits.Load() {
			return n, last
		}
	}
}

// One turn: a fifth of its time for the program to settle, then its visits count, from the last one
// before to the last one within (workload.h says why).
func turn(over <-chan os.Signal, speedup int) bool {
	span := time.Duration(*turnMs) * time.Millisecond
	setLine(float64(speedups[speedup]))
	if sleep(over, span/5) {
		return true
	}
	n, from := seen()
	if sleep(over, span-span/5) {
		return true
	}
	if n > 0 {
		visited, to := seen()
		periods[speedup] += visited - n
		ns[speedup] += to - from
	}
	return false
}

// All line speedups, each as often, in an order that is drawn anew each time.
func takeTurns(over <-chan os.Signal) {
	order := [len(speedups)]int{0, 1, 2, 3, 4}
	seed := uint64(time.Now().UnixNano()) | 1
	for nth := 0; *seconds == 0 || float64(nowNs()) < *seconds*1e9; nth++ {
		i := nth % len(order)
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		other := i + int(seed%uint64(len(order)-i))
		order[i], order[other] = order[other], order[i]
		if turn(over, order[i]) {
			return
		}
	}
}

// main() ends here once its goroutines run: SIGTERM, SIGINT or the end of --seconds end the
// program.
func wait() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM, syscall.SIGINT)
	if *announce {
		fmt.Println("ready")
	}
	switch {
	case *turnMs > 0:
		takeTurns(over)
	case *seconds > 0:
		sleep(over, time.Duration(*seconds*1e9)-time.Since(start))
	default:
		<-over
	}
	finish()
}
