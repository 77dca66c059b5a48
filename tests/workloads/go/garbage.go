// SPDX-License-Identifier: BSD-3-Clause
// Two goroutines do 1.2 ms in the line under test, which allocates nothing, and build 20 trees of
// 2047 nodes each; the latest 64 are kept. So the collector works in every other round. Only
// measuring tells what s gains, since building and collecting take as long as they do.
package main

import (
	"flag"
	"fmt"
	"runtime"
)

const kept = 64

var (
	aUs        = flag.Int("a-us", 1200, "the line under test")
	trees      = flag.Int("trees", 20, "built in each round")
	goroutines = flag.Int("goroutines", 2, "their number")
)

type node struct{ left, right *node }

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func run(a int) {
	var latest [kept]*node
	x := uint64(3)
	for next := 0; ; {
		for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
		use(x)
		for i := 0; i < *trees; i++ {
			latest[next%kept] = tree(10)
			next++
		}
		progress()
	}
}

func main() {
	begin()
	report = func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Println("collections", m.NumGC)
	}
	for i := 0; i < *goroutines; i++ {
		go run(turns(*aUs))
	}
	wait()
}
