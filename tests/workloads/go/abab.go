// SPDX-License-Identifier: BSD-3-Clause
// Goroutines alternate between 6 ms in the line under test and 4 ms beside. s gains 0.6 s with one
// goroutine per CPU, with many more, and with any GOMAXPROCS. --tick-us: another goroutine sleeps
// so long again and again; it gets its turn by the runtime's preemption, and is counted.
package main

import (
	"flag"
	"fmt"
	"sync/atomic"
	"time"
)

var (
	aUs        = flag.Int("a-us", 6000, "the line under test")
	bUs        = flag.Int("b-us", 4000, "beside")
	goroutines = flag.Int("goroutines", 2, "their number")
	tickUs     = flag.Int("tick-us", 0, "between ticks; 0: none")
	ticks      atomic.Int64
)

func run(a, b int) {
	x := uint64(3)
	for another() {
		for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
		for n := b; n > 0; n-- { x *= x * x } // LINE_B
		use(x)
		progress()
	}
}

func tick() {
	for {
		time.Sleep(time.Duration(*tickUs) * time.Microsecond)
		ticks.Add(1)
	}
}

func main() {
	begin()
	for i := 0; i < *goroutines; i++ {
		go run(turns(*aUs), turns(*bUs))
	}
	if *tickUs > 0 {
		report = func() { fmt.Println("ticks", ticks.Load()) }
		go tick()
	}
	wait()
}
