// SPDX-License-Identifier: BSD-3-Clause
// Producer and consumer over a channel, unbuffered or with --slots: 2.4 ms to make an item, 4 ms to
// use it. Making the consumer's line faster by s gains min(s, 1 - 2.4 / 4): 25/40/40/40 %. With
// --procs 1 they take turns, and s gains 4 s / 6.4.
package main

import "flag"

var (
	aUs   = flag.Int("a-us", 4000, "to use an item: the line under test")
	bUs   = flag.Int("b-us", 2400, "to make an item")
	slots = flag.Int("slots", 0, "of the channel")
)

func produce(items chan<- int, b int) {
	x := uint64(3)
	for {
		for n := b; n > 0; n-- { x *= x * x } // LINE_B
		use(x)
		items <- 0
	}
}

func consume(items <-chan int, a int) {
	x := uint64(3)
	for range items {
		for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
		use(x)
		progress()
	}
}

func main() {
	begin()
	items := make(chan int, *slots)
	go produce(items, turns(*bUs))
	go consume(items, turns(*aUs))
	wait()
}
