// SPDX-License-Identifier: BSD-3-Clause
// A bounded queue behind a sync.Mutex and two sync.Cond, with --producers and --consumers. With one
// of each (3 ms to make, 4.5 ms to use) the consumer's line gains min(s, 1/3). With the default two
// of each on two CPUs the CPUs are the bottleneck: 4.5 s / 7.5.
package main

import (
	"flag"
	"sync"
)

var (
	aUs       = flag.Int("a-us", 4500, "to use an item: the line under test")
	bUs       = flag.Int("b-us", 3000, "to make an item")
	producers = flag.Int("producers", 2, "their number")
	consumers = flag.Int("consumers", 2, "their number")
	capacity  = flag.Int("capacity", 4, "of the queue")
	queued    int
	mutex     sync.Mutex
	notFull   = sync.NewCond(&mutex)
	notEmpty  = sync.NewCond(&mutex)
)

func produce(b int) {
	x := uint64(3)
	for {
		for n := b; n > 0; n-- { x *= x * x } // LINE_B
		use(x)
		mutex.Lock()
		for queued == *capacity {
			notFull.Wait()
		}
		queued++
		notEmpty.Signal()
		mutex.Unlock()
	}
}

func consume(a int) {
	x := uint64(3)
	for {
		mutex.Lock()
		for queued == 0 {
			notEmpty.Wait()
		}
		queued--
		notFull.Signal()
		mutex.Unlock()
		for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
		use(x)
		progress()
	}
}

func main() {
	begin()
	for i := 0; i < *producers; i++ {
		go produce(turns(*bUs))
	}
	for i := 0; i < *consumers; i++ {
		go consume(turns(*aUs))
	}
	wait()
}
