// SPDX-License-Identifier: BSD-3-Clause
// The program of "Causal profiling for Go" (Morsing, 2016): requests look independent, but each
// calls rand.Int63n, and the default source has a lock around it. Go 1.20 and later draw from the
// runtime's own source, without a lock. So a rand.Rand has here a source like lockedSource of Go
// 1.19; drawing takes --draw-us more, which are the line under test.
//
// A request is twice 1 ms in a draw and 0.5 ms beside. With two goroutines it is a mutex of that
// inside and outside: 25/50/62/75 %. With --draw-us 1 and short rests, waking up takes longer than
// drawing, and only measuring tells.
package main

import (
	"flag"
	"math/rand"
	"sync"
)

var (
	drawUs     = flag.Int("draw-us", 1000, "in a draw: the line under test")
	restUs     = flag.Int("rest-us", 500, "beside a draw")
	draws      = flag.Int("draws", 2, "in a request")
	goroutines = flag.Int("goroutines", 2, "that serve requests")
)

type lockedSource struct {
	lock   sync.Mutex
	source rand.Source
	turns  int
	x      uint64
}

func (s *lockedSource) Int63() int64 {
	s.lock.Lock()
	x := s.x
	for n := line(s.turns); n > 0; n-- { x *= x * x } // LINE_A
	s.x = x
	value := s.source.Int63()
	s.lock.Unlock()
	return value
}

func (s *lockedSource) Seed(seed int64) {
	s.lock.Lock()
	s.source.Seed(seed)
	s.lock.Unlock()
}

func serve(random *rand.Rand, rest int) {
	x := uint64(3)
	for {
		for i := 0; i < *draws; i++ {
			x += 2 * uint64(random.Int63n(1000))
			for n := rest; n > 0; n-- { x *= x * x } // LINE_B
		}
		use(x)
		progress()
	}
}

func main() {
	begin()
	source := rand.NewSource(1)
	random := rand.New(&lockedSource{source: source, turns: turns(*drawUs), x: 3})
	for i := 0; i < *goroutines; i++ {
		go serve(random, turns(*restUs))
	}
	wait()
}
