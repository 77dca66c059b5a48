// SPDX-License-Identifier: BSD-3-Clause
// A net/http server under a closed load: four clients, a process of its own, each send the next
// request once the last one is answered. A request takes 1.4 ms in the line under test and 0.6 ms
// beside it, both behind one lock, so it waits for others. The end prints, with --each, how long
// each request was in the handler.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"syscall"
)

var (
	aUs     = flag.Int("a-us", 1400, "the line under test")
	bUs     = flag.Int("b-us", 600, "behind the lock, beside it")
	clients = flag.Int("clients", 4, "their number")
	each    = flag.Int("each", 0, "1: print the latency of each request, in us")
	load    = flag.String("load", "", "be the clients of that address")
	skipMs  = flag.Int64("skip-ms", 300, "requests before do not count")
)

var (
	lock sync.Mutex
	kept []float64
)

//go:noinline
//go:nosplit
func enter() int64 { return nowNs() }

//go:noinline
//go:nosplit
func leave(begun int64) int64 { return nowNs() - begun }

func handle(w http.ResponseWriter, _ *http.Request) {
	begun := enter()
	a, b := turns(*aUs), turns(*bUs)
	x := uint64(3)
	lock.Lock()
	for n := line(a); n > 0; n-- { x *= x * x } // LINE_A
	for n := b; n > 0; n-- { x *= x * x } // LINE_B
	took := leave(begun)
	if begun > *skipMs*1000000 {
		kept = append(kept, float64(took)/1e3)
	}
	lock.Unlock()
	use(x)
	io.WriteString(w, "served\n")
	progress()
}

// Clients end with the server, which closes their connections.
func serveClients() {
	var all sync.WaitGroup
	for i := 0; i < *clients; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for {
				answer, err := http.Get("http://" + *load)
				if err != nil {
					return
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}()
	}
	all.Wait()
}

func main() {
	begin()
	if *load != "" {
		http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = *clients
		serveClients()
		return
	}
	report = func() {
		lock.Lock()
		for _, us := range kept {
			if *each != 0 {
				fmt.Printf("each %.2f\n", us)
			}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, http.HandlerFunc(handle))
	others := exec.Command("/proc/self/exe", "--load", listener.Addr().String(),
		"--iters-per-ms", "1", "--clients", fmt.Sprint(*clients))
	others.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := others.Start(); err != nil {
		panic(err)
	}
	wait()
}
