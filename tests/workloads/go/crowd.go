// SPDX-License-Identifier: BSD-3-Clause
// 10,000 goroutines wait for one of 64 tokens. Who has one does 120 us in the line under test and
// 80 us beside, and passes the token on to whoever has waited longest. The CPUs are the
// bottleneck: s gains 0.6 s, less what 5,000 hand-overs a second and CPU cost.
package main

import "flag"

var (
	aUs        = flag.Int("a-us", 120, "the line under test")
	bUs        = flag.Int("b-us", 80, "beside")
	goroutines = flag.Int("goroutines", 10000, "their number")
	inTurn     = flag.Int("tokens", 64, "how many of them go on at once")
)

func run(tokens chan int, a, b int) {
	x := uint64(3)
	for token := range tokens {
		for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
		for n := b; n > 0; n-- { x *= x * x } // LINE_B
		use(x)
		progress()
		tokens <- token
	}
}

func main() {
	begin()
	tokens := make(chan int, *inTurn)
	for i := 0; i < *goroutines; i++ {
		go run(tokens, turns(*aUs), turns(*bUs))
	}
	for i := 0; i < *inTurn; i++ {
		tokens <- i
	}
	wait()
}
