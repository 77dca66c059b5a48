// SPDX-License-Identifier: BSD-3-Clause
// In each round two new goroutines, 6 ms and 4 ms long, are started after a serial part of 1 ms,
// and a sync.WaitGroup waits for both. Making the longer one (the line under test) faster by s
// gains min(6 s, 2) / 7: 21/29/29/29 %.
package main

import (
	"flag"
	"sync"
)

var (
	aUs      = flag.Int("a-us", 6000, "the longer part: the line under test")
	bUs      = flag.Int("b-us", 4000, "the shorter part")
	serialUs = flag.Int("serial-us", 1000, "before both")
)

func longer(both *sync.WaitGroup, a int) {
	x := uint64(3)
	for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
	use(x)
	both.Done()
}

func shorter(both *sync.WaitGroup, b int) {
	x := uint64(3)
	for n := b; n > 0; n-- { x *= x * x } // LINE_B
	use(x)
	both.Done()
}

func coordinate(a, b, serial int) {
	x := uint64(3)
	for {
		var both sync.WaitGroup
		for n := serial; n > 0; n-- { x *= x * x } // LINE_C
		use(x)
		both.Add(2)
		go longer(&both, a)
		go shorter(&both, b)
		both.Wait()
		progress()
	}
}

func main() {
	begin()
	go coordinate(turns(*aUs), turns(*bUs), turns(*serialUs))
	wait()
}
