// SPDX-License-Identifier: BSD-3-Clause
// Goroutines do 4 ms inside one sync.Mutex (the line under test) and 2 ms outside. With two of them
// the lock is the bottleneck until the inside is shorter than the outside. A visit takes
// max(inside, (inside + outside) / 2), which gives 25/50/62/75 %.
package main

import (
	"flag"
	"sync"
)

var (
	insideUs   = flag.Int("inside-us", 4000, "inside: the line under test")
	outsideUs  = flag.Int("outside-us", 2000, "outside")
	goroutines = flag.Int("goroutines", 2, "their number")
	mutex      sync.Mutex
)

func run(a, b int) {
	x := uint64(3)
	for {
		mutex.Lock()
		for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
		mutex.Unlock()
		for n := b; n > 0; n-- { x *= x * x } // LINE_B
		use(x)
		progress()
	}
}

func main() {
	begin()
	for i := 0; i < *goroutines; i++ {
		go run(turns(*insideUs), turns(*outsideUs))
	}
	wait()
}
