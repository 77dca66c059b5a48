// SPDX-License-Identifier: BSD-3-Clause
// A writer and two readers share a sync.RWMutex: 3 ms inside for the writer, 2 ms for a reader. A
// waiting writer keeps new readers out, and its end lets the waiting ones in. So the writer and
// both readers take turns, 5 ms each time. Making the writer's line faster by s gains 3 s / 5;
// with --line reader the readers' line is faster, which gains 2 s / 5.
package main

import (
	"flag"
	"sync"
)

var (
	writeUs = flag.Int("write-us", 3000, "inside, of the writer")
	readUs  = flag.Int("read-us", 2000, "inside, of a reader")
	readers = flag.Int("readers", 2, "their number")
	which   = flag.String("line", "writer", "whose line is under test")
	lock    sync.RWMutex
)

func write(turns int) {
	x := uint64(3)
	for {
		lock.Lock()
		if *which == "writer" {
			for n := line(turns); n > 0; n-- { x *= x * x } // LINE_A
		} else {
			for n := turns; n > 0; n-- { x *= x * x } // LINE_B
		}
		lock.Unlock()
		use(x)
		progress()
	}
}

func read(turns int) {
	x := uint64(3)
	for {
		lock.RLock()
		if *which == "reader" {
			for n := line(turns); n > 0; n-- { x *= x * x } // LINE_R
		} else {
			for n := turns; n > 0; n-- { x *= x * x } // LINE_C
		}
		lock.RUnlock()
		use(x)
	}
}

func main() {
	begin()
	for i := 0; i < *readers; i++ {
		go read(turns(*readUs))
	}
	go write(turns(*writeUs))
	wait()
}
