// SPDX-License-Identifier: BSD-3-Clause
// Two producers, 1 ms an item, have a channel each; a third goroutine selects between them and uses
// an item for 4 ms, the line under test. The third one or both CPUs are the bottleneck: a visit
// takes max(a, (a + 1) / 2), which gives 25/50/75/87 %.
package main

import "flag"

var (
	aUs = flag.Int("a-us", 4000, "to use an item: the line under test")
	bUs = flag.Int("b-us", 1000, "to make an item")
)

func produce(items chan<- int, b int) {
	x := uint64(3)
	for {
		for n := b; n > 0; n-- { x *= x * x } // LINE_B
		use(x)
		items <- 0
	}
}

func consume(first, second <-chan int, a int) {
	x := uint64(3)
	for {
		select {
		case <-first:
		case <-second:
		}
		for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
		use(x)
		progress()
	}
}

func main() {
	begin()
	first, second := make(chan int), make(chan int)
	go produce(first, turns(*bUs))
	go produce(second, turns(*bUs))
	go consume(first, second, turns(*aUs))
	wait()
}
