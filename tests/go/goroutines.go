// Goroutines that pass numbers on through channels, timers, a garbage collector that has work, and goroutines that
// compute without a call until the scheduler interrupts them. What is printed depends on how all of that was scheduled.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

type tree struct {
	left, right *tree
	value       int
}

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1), depth}
}

func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.value + t.left.sum() + t.right.sum()
}

func order() uint64 {
	in, out := make(chan int), make(chan int, 10)
	var workers sync.WaitGroup
	for i := 0; i < 8; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for v := range in {
				out <- v * v
			}
		}()
	}
	go func() {
		for i := 0; i < 2000; i++ {
			in <- i
		}
		close(in)
		workers.Wait()
		close(out)
	}()
	hash := uint64(14695981039346656037)
	for v := range out {
		hash = (hash ^ uint64(v)) * 1099511628211
	}
	return hash
}

func garbage() {
	sums := make(chan int)
	for i := 0; i < 4; i++ {
		go func() { sums <- grow(14).sum() + grow(14).sum() }()
	}
	total := 0
	for i := 0; i < 4; i++ {
		total += <-sums
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Println("sum", total, "collections", memory.NumGC, "allocated", memory.TotalAlloc)
}

func timers() {
	fired := make(chan int)
	for i := 0; i < 10; i++ {
		i := i
		time.AfterFunc(time.Duration(10-i)*time.Millisecond, func() { fired <- i })
	}
	for i := 0; i < 10; i++ {
		fmt.Print(<-fired, " ")
	}
	fmt.Println(time.Now().UnixNano())
}

func main() {
	var counter uint64
	stop := false
	go func() {
		for x := uint64(1); !stop; x = x*6364136223846793005 + 1442695040888963407 {
			counter = x
		}
	}()
	fmt.Println("order", order())
	garbage()
	timers()
	fmt.Println("counter", counter)
}
