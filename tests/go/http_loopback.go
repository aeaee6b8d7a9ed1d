// An HTTP server and its clients in one process, a child process, signals, and a fault that is recovered from.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var lock sync.Mutex
	served := 0
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		served++
		number := served
		lock.Unlock()
		fmt.Fprintf(w, "%s is number %d", r.URL.Path, number)
	}))
	var clients sync.WaitGroup
	for i := 0; i < 4; i++ {
		clients.Add(1)
		go func(i int) {
			defer clients.Done()
			for j := 0; j < 10; j++ {
				answer, err := http.Get(fmt.Sprintf("http://%s/%d/%d", listener.Addr(), i, j))
				if err != nil {
					fmt.Println(err)
					return
				}
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				fmt.Println(string(body))
			}
		}(i)
	}
	clients.Wait()

	output, err := exec.Command("sh", "-c", "echo child $$").CombinedOutput()
	fmt.Print(string(output), err, "\n")

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	for i := 0; i < 5; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		fmt.Println(<-signals)
	}
	defer func() { fmt.Println("recovered from", recover()) }()
	var nothing *int
	fmt.Println(*nothing)
}
